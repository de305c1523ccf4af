// The NVIDIA driver's own words: /proc/driver/nvidia (nv-procfs.c). Which GPUs there are is told by the PCI bus.
#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/probe/pci_function.hpp"
#include "common/probe/pci_names.hpp"
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::string_view version_file = "/proc/driver/nvidia/version";
constexpr std::string_view gpus_directory = "/proc/driver/nvidia/gpus";

/// "580.95.05" of "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build …".
std::string driver_version(std::string_view line) {
    const auto module = line.find("Module");
    if (module == std::string_view::npos) return {};
    for (const auto word : split(line.substr(module), ' ')) {
        const auto parts = split(word, '.');
        if (parts.size() < 2 || parts.size() > 3) continue;
        if (std::all_of(parts.begin(), parts.end(),
                        [](auto part) { return parse_number<unsigned>(part).has_value(); })) {
            return std::string(word);
        }
    }
    return {};
}

/// Proprietary code taints the kernel with "P"; the open modules (Dual MIT/GPL) do not.
std::optional<bool> open_by_taint(const KernelModule* nvidia) {
    if (nvidia == nullptr || nvidia->taint.empty()) return std::nullopt;
    return nvidia->taint.find('P') == std::string::npos;
}

void read_version(const RootFs& root, NodeFacts& facts) {
    const auto* const module = facts.module("nvidia");
    const auto line = root.read_line(version_file);
    if (line) {
        facts.nvidia_driver = *line;
        facts.nvidia_version = driver_version(*line);
        if (line->find("Open Kernel Module") != std::string::npos) {
            facts.nvidia_open = true;
        } else if (line->find("Kernel Module") != std::string::npos) {
            facts.nvidia_open = false;
        }
        if (facts.nvidia_version.empty())
            facts.nvidia_why = std::string(version_file) + ": no version in " + quoted(*line);
    } else {
        facts.nvidia_why = line.error().what;
    }
    if (facts.nvidia_version.empty() && module != nullptr) facts.nvidia_version = module->version;
    if (!facts.nvidia_open) facts.nvidia_open = open_by_taint(module);
}

/// A driver that has not looked at the GPU yet says "Unknown" and "GPU-????????-…".
bool is_told(std::string_view value) {
    return !value.empty() && value != "Unknown" && value.find('?') == std::string_view::npos;
}

void read_information(std::string_view text, Gpu& gpu) {
    for (const auto line : split(text, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = trim(line.substr(0, colon));
        const auto value = trim(line.substr(colon + 1));
        if (key == "Device Minor") {
            const auto minor = parse_number<int>(value);
            if (minor && *minor >= 0) gpu.minor = minor;
        } else if (key == "GPU UUID" && is_told(value)) {
            gpu.uuid = value;
        } else if (key == "Model" && is_told(value)) {
            gpu.model = value;
        } else if (key == "GPU Excluded") {
            gpu.excluded = value == "Yes";
        }
    }
}

/// MIG is on when GPU instances exist; the directory itself always does.
std::vector<std::string> read_mig(const RootFs& root, int minor) {
    std::vector<std::string> instances;
    const auto directory = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(minor) + "/mig";
    const auto number_after = [](std::string_view name, std::string_view prefix) -> std::optional<unsigned> {
        return name.starts_with(prefix) ? parse_number<unsigned>(name.substr(prefix.size())) : std::nullopt;
    };
    const auto gpu_instances = root.list(directory);
    if (!gpu_instances) return instances;
    for (const auto& gi_name : *gpu_instances) {
        const auto gi = number_after(gi_name, "gi");
        if (!gi) continue;
        const auto compute_instances = root.list(join_path(directory, gi_name));
        if (!compute_instances) continue;
        for (const auto& ci_name : *compute_instances) {
            if (const auto ci = number_after(ci_name, "ci")) {
                instances.push_back(join_path(std::to_string(*gi), std::to_string(*ci)));
            }
        }
    }
    std::sort(instances.begin(), instances.end(), natural_less);
    return instances;
}

void add_why(std::string& why, std::string_view more) {
    if (!why.empty()) why += "; ";
    why += more;
}

}  // namespace

void read_nvidia(const RootFs& root, NodeFacts& facts) {
    read_version(root, facts);

    std::map<PciAddress, std::string> known_to_driver;  // and the name of its directory
    if (const auto names = root.list(gpus_directory)) {
        for (const auto& name : *names) {
            if (const auto address = parse_pci_address(name)) known_to_driver.emplace(*address, name);
        }
    } else if (names.error().code != ENOENT) {
        add_why(facts.nvidia_why, names.error().what);
    }

    for (const auto& [address, function] : facts.pci) {
        if (function.vendor != vendor_nvidia || function.class_code >> 16 != 0x03) continue;
        const auto entry = known_to_driver.find(address);
        // A virtual function that the driver does not run is a guest's GPU, not this node's.
        if (function.physical_function && entry == known_to_driver.end()) continue;
        Gpu gpu{.pci = address};
        if (entry != known_to_driver.end()) {
            const auto information = root.read(join_path(gpus_directory, entry->second) + "/information");
            if (information) {
                read_information(*information, gpu);
            } else {
                add_why(facts.nvidia_why, information.error().what);
            }
            known_to_driver.erase(entry);
        }
        if (gpu.minor) gpu.mig = read_mig(root, *gpu.minor);
        facts.gpus.push_back(std::move(gpu));
    }
    name_gpus(root, facts);
    for (const auto& [address, name] : known_to_driver) {
        add_why(facts.nvidia_why, name + ": known to the driver, not on the PCI bus");
    }
}

}  // namespace gdrcheck::probe
