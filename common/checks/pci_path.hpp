// The PCIe way between a GPU and a NIC that it uses: the bridges whose settings decide how fast peer traffic is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/checks/check.hpp"

namespace gdrcheck {

struct PciPath {
    const PciFunction* gpu = nullptr;
    const PciFunction* nic = nullptr;  ///< the function GDR goes through: with Data Direct not the NIC's own
    std::string nic_name;
    bool data_direct = false;
    std::vector<PciAddress> gpu_side;  ///< bridges above the GPU, nearest first, below the common one
    std::vector<PciAddress> nic_side;
    std::optional<PciAddress> common;  ///< nearest bridge above both; none: traffic goes through a host bridge
};

/// One per GPU in scope and NIC that its channels use, where both are PCI functions of this node.
[[nodiscard]] std::vector<PciPath> selected_paths(const CheckInput& input);

/// The machine runs under a hypervisor, by CPUID or by the product name that hypervisors give.
[[nodiscard]] bool is_virtual_machine(const NodeFacts& facts);

}  // namespace gdrcheck
