#include "common/probe/pci_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::array pci_ids_files{"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
constexpr std::size_t pci_ids_limit = std::size_t{4} << 20;

/// From the line that begins with `start` (a line end in front of it) onward.
std::string_view from_line(std::string_view text, const std::string& start) {
    const auto found = text.find('\n' + start);
    return found == std::string_view::npos ? std::string_view{} : text.substr(found + 1);
}

}  // namespace

std::string find_pci_name(std::string_view pci_ids, std::uint16_t vendor, std::uint16_t device) {
    // vendor lines begin at the margin, their devices with one tab, subsystems with two
    const auto section = from_line(pci_ids, fmt::format("{:04x}  ", vendor));
    const auto wanted = fmt::format("\t{:04x}  ", device);
    auto rest = section.substr(std::min(section.size(), section.find('\n')));
    while (rest.size() > 1) {
        rest.remove_prefix(1);
        const auto line = rest.substr(0, rest.find('\n'));
        if (!line.empty() && line.front() != '\t' && line.front() != '#') break;  // the next vendor
        if (line.starts_with(wanted)) return std::string(trim(line.substr(wanted.size())));
        rest.remove_prefix(line.size());
    }
    return {};
}

void name_gpus(const RootFs& root, NodeFacts& facts) {
    if (std::none_of(facts.gpus.begin(), facts.gpus.end(), [](const Gpu& gpu) { return gpu.model.empty(); })) return;
    std::string pci_ids;
    for (const char* const path : pci_ids_files) {
        if (auto text = root.read(path, pci_ids_limit)) {
            pci_ids = '\n' + *std::move(text);
            break;
        }
    }
    for (auto& gpu : facts.gpus) {
        const auto* const function = facts.function(gpu.pci);
        if (!gpu.model.empty() || function == nullptr) continue;
        gpu.model = find_pci_name(pci_ids, function->vendor, function->device);
        if (gpu.model.empty()) gpu.model = fmt::format("{:04x}:{:04x}", function->vendor, function->device);
    }
}

}  // namespace gdrcheck::probe
