// A virtual machine whose hypervisor hides the PCIe switches, and no topology file that tells NCCL of them.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"
#include "common/checks/pci_path.hpp"

namespace gdrcheck {
namespace {

/// GPUs and used NICs as PCI functions.
std::vector<const PciFunction*> endpoints(const CheckInput& input, bool& any_nic) {
    std::vector<const PciFunction*> functions;
    for (const auto& gpu : input.facts.gpus) functions.push_back(input.facts.function(gpu.pci));
    for (const auto& nic : input.answer.nics) {
        if (!nic.used || !nic.pci) continue;
        functions.push_back(input.facts.function(*nic.pci));
        any_nic = any_nic || functions.back() != nullptr;
    }
    std::erase(functions, nullptr);
    return functions;
}

/// No bridge above any of them. In a known virtual machine one each is no better: emulated root ports, a device behind
/// each, tell as little about the switches of the host.
bool is_flat(const std::vector<const PciFunction*>& functions, std::size_t bridges_allowed) {
    std::vector<PciAddress> seen;
    return std::all_of(functions.begin(), functions.end(), [&](const auto* function) {
        const auto bridges = upstream_bridges(*function);
        if (bridges.size() > bridges_allowed) return false;
        if (bridges.empty()) return true;
        const bool shared = std::find(seen.begin(), seen.end(), bridges.front()) != seen.end();
        seen.push_back(bridges.front());
        return !shared;
    });
}

std::vector<Finding> run(const CheckInput& input) {
    if (!input.answer.topology_used.empty() || input.facts.gpus.empty()) return {};
    bool any_nic = false;
    const auto functions = endpoints(input, any_nic);
    const bool virtual_machine = is_virtual_machine(input.facts);
    if (!any_nic || !is_flat(functions, virtual_machine ? 1 : 0)) return {};
    Finding finding{.slug = "vm-topology", .structural = true};
    finding.subject = input.facts.dmi_product.empty() ? "PCI tree" : input.facts.dmi_product;
    finding.seen = fmt::format("{}no PCI switch above GPUs and NICs, no NCCL topology file",
                               input.facts.cpu.hypervisor ? "hypervisor flag in /proc/cpuinfo, " : "");
    finding.why = "the hypervisor hides how GPUs and NICs are wired, so NCCL takes every pair for PHB, near or not";
    finding.remedy = "install the cloud vendor's topology file and set NCCL_TOPO_FILE in /etc/nccl.conf";
    return {finding};
}

}  // namespace

extern const Check check_vm_topology;
const Check check_vm_topology{"check_vm_topology", run};

}  // namespace gdrcheck
