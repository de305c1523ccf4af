// The tree as a graph with bandwidths, and the widest, then shortest paths in it (graph/topo.cc, graph/paths.cc).
#pragma once

#include <optional>
#include <vector>

#include "common/nccl/tree.hpp"

namespace gdrcheck::nccl {

struct GraphLink {
    enum class Kind { loc, c2c, pci, sys, net } kind = Kind::pci;
    float gbytes_per_s = 0;
    std::size_t to = 0;
};

struct GraphNode {
    enum class Kind { cpu, pci, gpu, nic, net } kind = Kind::pci;
    std::size_t subject = 0;  ///< gpu: rank; net: device; cpu: its number
    std::uint64_t pci_id = 0;
    std::string key;  ///< PCI address
    Cpu cpu;
    bool removed = false;          ///< a sub-switch flattened away
    std::vector<GraphLink> links;  ///< widest first
};

/// A path from a node to a target, as NCCL rates it.
struct PathInfo {
    float gbytes_per_s = 0;
    int hops = 0;
    Path type = Path::DIS;
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::size_t gpu_count = 0;
    std::size_t net_count = 0;
    std::size_t cpu_count = 0;
    std::vector<std::size_t> net_order;  ///< devices in the order of their nodes
    std::vector<std::size_t> gpu_order;  ///< ranks in the order of their nodes
};

struct GraphInput {
    const NodeFacts& facts;
    const Rules& rules;
    const Tree& tree;
    std::vector<std::size_t> gpus;  ///< facts index of each rank
    std::vector<GpuModel> models;   ///< of each rank
};

[[nodiscard]] Graph build_graph(const GraphInput& input);

/// Paths from every node to the targets of one kind: `paths[node][target]`. GPUs are never passed through.
[[nodiscard]] std::vector<std::vector<PathInfo>> paths_to(const Graph& graph, GraphNode::Kind kind,
                                                          std::size_t targets);

}  // namespace gdrcheck::nccl
