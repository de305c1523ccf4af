// The running kernel, its processor, and what the machine calls itself.
#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/probe/infer.hpp"
#include "common/probe/pci_function.hpp"
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::size_t cpuinfo_bytes =
    std::size_t{8} * 1024;  ///< one processor's part is 3 KiB at most; all of them are megabytes
constexpr std::size_t config_limit = std::size_t{1} << 20;

void read_cpu_field(std::string_view key, std::string_view value, Cpu& cpu) {
    if (key == "vendor_id") {
        cpu.arch = "x86_64";
        cpu.vendor = value;
    } else if (key == "cpu family") {
        cpu.family = parse_number<int>(value).value_or(-1);
    } else if (key == "model") {
        cpu.model = parse_number<int>(value).value_or(-1);
    } else if (key == "flags") {
        const auto flags = split(value, ' ');
        cpu.hypervisor = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
    } else if (key == "CPU implementer") {
        cpu.arch = "arm64";
    } else if (key == "cpu" && value.starts_with("POWER")) {
        cpu.arch = "ppc64";
    }
}

/// The first processor's part of /proc/cpuinfo.
Cpu read_cpu(const RootFs& root) {
    Cpu cpu;
    const auto text = root.read_prefix("/proc/cpuinfo", cpuinfo_bytes);
    if (!text) return cpu;
    for (const auto line : split(*text, '\n')) {
        const auto colon = line.find(':');
        if (trim(line).empty() && !cpu.arch.empty()) break;
        if (colon != std::string_view::npos)
            read_cpu_field(trim(line.substr(0, colon)), trim(line.substr(colon + 1)), cpu);
    }
    return cpu;
}

bool has_option(std::string_view config, std::string_view option) {
    const auto line = '\n' + std::string(option) + "=y\n";
    return config.find(line) != std::string_view::npos;
}

/// Architecture by the suffix that distributions give their kernel releases.
std::string arch_of_release(std::string_view release) {
    for (const auto suffix : {"x86_64", "amd64"}) {
        if (release.find(suffix) != std::string_view::npos) return "x86_64";
    }
    for (const auto suffix : {"aarch64", "arm64"}) {
        if (release.find(suffix) != std::string_view::npos) return "arm64";
    }
    return release.find("ppc64le") != std::string_view::npos ? "ppc64" : "";
}

/// Vendor of the first function right below a host bridge: a root port.
std::uint16_t root_port_vendor(const NodeFacts& facts) {
    for (const auto& [address, function] : facts.pci) {
        if (function.class_code >> 8 == 0x0604 && upstream_bridges(function).empty()) return function.vendor;
    }
    return 0;
}

}  // namespace

void read_kernel(const RootFs& root, NodeFacts& facts) {
    if (auto release = root.read_line("/proc/sys/kernel/osrelease")) {
        facts.kernel_release.value = *std::move(release);
    } else {
        facts.kernel_release.why = release.error().what;
    }
    facts.kernel_command_line = root.read_line("/proc/cmdline").value_or("");
    facts.dmi_product = root.read_line("/sys/class/dmi/id/product_name").value_or("");
    facts.cpu = read_cpu(root);
}

void infer_cpu(NodeFacts& facts) {
    auto& cpu = facts.cpu;
    if (!cpu.arch.empty()) return;
    const auto vendor = root_port_vendor(facts);
    cpu.arch = arch_of_release(facts.kernel_release.value.value_or(""));
    if (vendor == vendor_intel || vendor == vendor_amd) {
        if (cpu.arch.empty()) cpu.arch = "x86_64";
        if (cpu.arch == "x86_64") cpu.vendor = vendor == vendor_intel ? "GenuineIntel" : "AuthenticAMD";
    } else if (vendor == vendor_nvidia && cpu.arch.empty()) {
        cpu.arch = "arm64";  // Grace has NVIDIA's own root ports
    }
    if (cpu.arch.empty()) cpu.arch = arch_of_release(facts.nvidia_driver);
    cpu.inferred = !cpu.arch.empty();
}

void read_dmabuf_config(const RootFs& root, NodeFacts& facts) {
    auto& reading = facts.dmabuf_config;
    if (facts.gpus.empty() || facts.rdma.empty() || !facts.nvidia_open.value_or(true)) {
        reading.why = "not read: nothing here would use it";
        return;
    }
    const auto& release = facts.kernel_release.value;
    if (!release || release->empty() || release->find('/') != std::string::npos) {
        reading.why = "not read: the kernel release is not known";
        return;
    }
    for (const auto& path : {"/boot/config-" + *release, "/lib/modules/" + *release + "/config"}) {
        const auto config = root.read(path, config_limit);
        if (config) {
            reading.value = has_option(*config, "CONFIG_INFINIBAND_USER_MEM") &&
                            has_option(*config, "CONFIG_INFINIBAND_ON_DEMAND_PAGING");
            reading.why.clear();
            return;
        }
        if (reading.why.empty() || config.error().code != ENOENT) reading.why = config.error().what;
    }
}

}  // namespace gdrcheck::probe
