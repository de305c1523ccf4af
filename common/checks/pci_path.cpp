#include "common/checks/pci_path.hpp"

#include <algorithm>
#include <array>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

std::vector<PciAddress> below(const std::vector<PciAddress>& bridges, std::vector<PciAddress>::const_iterator end) {
    return {bridges.begin(), end};
}

PciPath path_between(const PciFunction& gpu, const PciFunction& nic) {
    PciPath path{.gpu = &gpu, .nic = &nic};
    const auto gpu_bridges = upstream_bridges(gpu);
    const auto nic_bridges = upstream_bridges(nic);
    const auto common = std::find_if(gpu_bridges.begin(), gpu_bridges.end(), [&](const auto& bridge) {
        return std::find(nic_bridges.begin(), nic_bridges.end(), bridge) != nic_bridges.end();
    });
    path.gpu_side = below(gpu_bridges, common);
    if (common != gpu_bridges.end()) path.common = *common;
    const auto nic_end =
        path.common ? std::find(nic_bridges.begin(), nic_bridges.end(), *path.common) : nic_bridges.end();
    path.nic_side = below(nic_bridges, nic_end);
    return path;
}

}  // namespace

std::vector<PciPath> selected_paths(const CheckInput& input) {
    std::vector<PciPath> paths;
    for (const auto& gpu : input.answer.gpus) {
        if (gpu.gpu >= input.facts.gpus.size()) continue;
        const auto* gpu_function = input.facts.function(input.facts.gpus[gpu.gpu].pci);
        if (gpu_function == nullptr) continue;
        for (const auto* nic : selected_nics(input.answer, gpu)) {
            const auto* nic_function = nic->pci ? input.facts.function(*nic->pci) : nullptr;
            if (nic_function == nullptr) continue;
            auto path = path_between(*gpu_function, *nic_function);
            path.nic_name = nic->name;
            path.data_direct = nic->data_direct;
            paths.push_back(std::move(path));
        }
    }
    return paths;
}

bool is_virtual_machine(const NodeFacts& facts) {
    if (facts.cpu.hypervisor) return true;
    // DMI product names of QEMU/KVM, Hyper-V and Azure, VMware, Xen, Google, OpenStack and Amazon's virtual instances
    static constexpr std::array<std::string_view, 9> products{
        "KVM",       "QEMU", "Standard PC", "Virtual Machine", "VMware", "HVM domU", "Google Compute Engine",
        "OpenStack", "BHYVE"};
    const std::string_view product = facts.dmi_product;
    return std::any_of(products.begin(), products.end(),
                       [&](const auto name) { return product.find(name) != std::string_view::npos; });
}

}  // namespace gdrcheck
