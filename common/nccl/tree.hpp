// The tree NCCL builds of a node: system, CPUs (NUMA nodes), PCI switches, GPUs, NICs (graph/xml.cc, graph/topo.cc).
// Its order matters: NIC selection counts devices in the order of this tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/facts/node_facts.hpp"
#include "common/nccl/nics.hpp"
#include "common/nccl/rules.hpp"

namespace gdrcheck::nccl {

struct TreeNode {
    enum class Kind { system, cpu, pci, gpu, nic, net };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    Kind kind = Kind::system;
    std::string key;  ///< cpu: NUMA id as text; pci: address; net: device name
    std::size_t parent = none;
    std::vector<std::size_t> children;

    // pci
    std::string class_text;    ///< "0x060400"
    std::string link_speed;    ///< "32.0 GT/s PCIe"
    int link_width = 0;        ///< 0: not known, NCCL takes 16
    std::uint64_t id = 0;      ///< vendor, device, subsystem vendor, subsystem device, 16 bits each
    bool speed_known = false;  ///< set by a topology file: sysfs does not overwrite it
    bool width_known = false;
    // cpu
    Cpu cpu;
    // gpu
    std::size_t gpu = none;  ///< index in NodeFacts::gpus
    int gdr_attribute = -1;  ///< gdr="…" of a topology file; -1: not given
    bool nvlink_attribute = false;
    bool c2c_attribute = false;
    // net
    std::size_t device = none;  ///< index in the list of NetDevice; none: physical port that was merged, or unused
    double speed_gbps = -1;     ///< speed="…" of a topology file; -1: not given
};

struct Tree {
    std::vector<TreeNode> nodes;     ///< nodes[0] is the system
    std::vector<NetDevice> devices;  ///< what the net nodes stand for
};

struct TreeInput {
    const NodeFacts& facts;
    const Rules& rules;
    const Settings& settings;
    const std::vector<NetPort>& ports;
    std::vector<std::size_t> gpus;  ///< in rank order
};

[[nodiscard]] Tree build_tree(const TreeInput& input);

}  // namespace gdrcheck::nccl
