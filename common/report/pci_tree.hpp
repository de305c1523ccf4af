// The PCI functions of a node as a tree, and what there is to say of each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/facts/node_facts.hpp"

namespace gdrcheck::report {

struct PciTree {
    struct HostBridge {
        std::string name;  ///< "pci0000:15"
        std::vector<PciAddress> children;
    };
    std::vector<HostBridge> host_bridges;  ///< by name
    std::map<PciAddress, std::vector<PciAddress>> children;

    [[nodiscard]] const std::vector<PciAddress>& below(const PciAddress& address) const;
};

[[nodiscard]] PciTree pci_tree(const NodeFacts& facts);

[[nodiscard]] bool is_bridge(const PciFunction& function);

/// "gpu", "nic", "nvswitch", "data-direct", "bridge", "other"
[[nodiscard]] const char* kind_of(const NodeFacts& facts, const PciFunction& function);

/// RDMA devices on this function.
[[nodiscard]] std::vector<const RdmaDevice*> devices_on(const NodeFacts& facts, const PciAddress& address);

/// A bridge that sends peer traffic up to the root complex, or may: ACS request or completion redirect, egress control.
[[nodiscard]] bool redirects(const PciFunction& function);

/// "x8 of x16" where the link to the bridge above runs with fewer lanes than both ends have; empty where it does not.
[[nodiscard]] std::string narrow_link(const NodeFacts& facts, const PciFunction& function);

/// "16 of 32 GT/s", likewise. Empty for GPUs: theirs idle slow.
[[nodiscard]] std::string slow_link(const NodeFacts& facts, const PciFunction& function);

}  // namespace gdrcheck::report
