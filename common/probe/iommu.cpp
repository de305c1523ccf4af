// DMA translation: whether an IOMMU is at work, and if so how the groups of GPUs and NICs are translated.
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {

namespace {

bool has_entries(const RootFs& root, std::string_view directory) {
    const auto names = root.list(directory);
    return names && !names->empty();
}

}  // namespace

void read_iommu(const RootFs& root, NodeFacts& facts) {
    facts.iommu_active = has_entries(root, "/sys/class/iommu");
    if (!facts.iommu_active && !has_entries(root, "/sys/kernel/iommu_groups")) return;
    constexpr std::uint32_t class_bridge = 0x06;
    for (auto& [address, function] : facts.pci) {
        if (function.class_code >> 16 == class_bridge) continue;
        function.iommu_group_type = root.read_line(function.sysfs_path + "/iommu_group/type").value_or("");
    }
}

}  // namespace gdrcheck::probe
