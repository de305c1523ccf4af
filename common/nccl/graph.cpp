#include "common/nccl/graph.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gdrcheck::nccl {
namespace {

// GB/s (graph/topo.h)
constexpr float local_bandwidth = 5000.0F;
constexpr float arm_sockets = 6.0F;
constexpr float power_sockets = 32.0F;
constexpr float zhaoxin_sockets = 6.0F;
constexpr float c2c_bandwidth = 440.0F;  // 10 links of 44 GB/s (GH200); never the narrowest part of a path to a NIC

/// 100 Mb/s per lane by the text of max_link_speed; first entry that is a prefix of it (topo.cc kvDictPciGen).
struct LinkSpeed {
    std::string_view text;
    int per_lane;
};
constexpr std::array link_speeds{
    LinkSpeed{"2.5 GT/s", 15},        LinkSpeed{"5 GT/s", 30},          LinkSpeed{"8 GT/s", 60},
    LinkSpeed{"16 GT/s", 120},        LinkSpeed{"32 GT/s", 240},        LinkSpeed{"5.0 GT/s PCIe", 30},
    LinkSpeed{"8.0 GT/s PCIe", 60},   LinkSpeed{"16.0 GT/s PCIe", 120}, LinkSpeed{"32.0 GT/s PCIe", 240},
    LinkSpeed{"64.0 GT/s PCIe", 480},
};
constexpr int unknown_speed_per_lane = 60;

float link_bandwidth(const TreeNode& node) {
    int per_lane = unknown_speed_per_lane;
    for (const auto& entry : link_speeds) {
        if (node.link_speed.starts_with(entry.text)) {
            per_lane = entry.per_lane;
            break;
        }
    }
    const int width = node.link_width == 0 ? 16 : node.link_width;
    return static_cast<float>(width * per_lane) / 80.0F;
}

float socket_bandwidth(const Cpu& cpu, const SocketBandwidths& table) {
    if (cpu.arch == "arm64") return arm_sockets;
    if (cpu.arch == "ppc64") return power_sockets;
    if (cpu.arch != "x86_64") return local_bandwidth;
    if (cpu.vendor == "GenuineIntel") {
        if (cpu.inferred) return table.intel_sapphire_rapids;
        if (cpu.family != 6) return table.intel_broadwell;
        if (cpu.model >= 0xCF || (cpu.model >= 0xAD && cpu.model <= 0xAF)) return table.intel_emerald_rapids;
        if (cpu.model >= 0x8F) return table.intel_sapphire_rapids;
        return cpu.model >= 0x55 ? table.intel_skylake : table.intel_broadwell;
    }
    if (cpu.vendor == "AuthenticAMD") {
        // 0xBF, 0xAF and 0x8F stand for the same in topology files made by older releases
        if (cpu.family == 0x1A || cpu.family == 0xBF) return table.amd_zen5;
        if (cpu.family == 0x19 || cpu.family == 0xAF) return table.amd_zen34;
        return table.amd_zen12;
    }
    if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ") return zhaoxin_sockets;
    return local_bandwidth;
}

/// Generation of a Broadcom PEX switch that shows itself as two levels; 0: none (topo.cc getBcmGen).
int broadcom_generation(std::uint64_t id, int level, const Rules& rules) {
    const auto masked = id & 0xfffffffffffff000U;
    if (masked == 0x1000c0101000a000U) return 4;
    const auto gen5 = 0x1000c03010000000U | static_cast<std::uint64_t>(level) * 0x1000U;
    if (rules.flatten_broadcom_gen5 && masked == gen5) return 5;
    return 0;
}

class Builder {
  public:
    explicit Builder(const GraphInput& input) : input_(input) {}

    Graph take() && {
        for (const auto cpu : input_.tree.nodes[0].children) add_cpu(cpu);
        add_c2c();
        if (input_.rules.broadcom_links) add_broadcom_links();
        flatten_broadcom();
        connect_sockets();
        graph_.gpu_count = input_.gpus.size();
        graph_.net_count = input_.tree.devices.size();
        return std::move(graph_);
    }

  private:
    std::size_t add_node(GraphNode node) {
        graph_.nodes.push_back(std::move(node));
        return graph_.nodes.size() - 1;
    }

    /// Links stay sorted, widest first; a second link of a kind to the same node adds its bandwidth.
    void link_one_way(std::size_t from, std::size_t to, GraphLink::Kind kind, float bandwidth) {
        auto& links = graph_.nodes[from].links;
        const auto known = std::find_if(links.begin(), links.end(),
                                        [&](const auto& link) { return link.to == to && link.kind == kind; });
        GraphLink link{kind, bandwidth, to};
        if (known != links.end()) {
            link.gbytes_per_s += known->gbytes_per_s;
            links.erase(known);
        }
        const auto place = std::find_if(links.begin(), links.end(),
                                        [&](const auto& other) { return other.gbytes_per_s < link.gbytes_per_s; });
        links.insert(place, link);
    }

    void link(std::size_t one, std::size_t other, GraphLink::Kind kind, float bandwidth) {
        link_one_way(one, other, kind, bandwidth);
        link_one_way(other, one, kind, bandwidth);
    }

    void add_cpu(std::size_t tree_index) {
        const auto& cpu = input_.tree.nodes[tree_index];
        const auto node = add_node({.kind = GraphNode::Kind::cpu, .subject = graph_.cpu_count++, .cpu = cpu.cpu});
        for (const auto child : cpu.children) {
            if (input_.tree.nodes[child].kind == TreeNode::Kind::nic) {
                add_nic(child, node, local_bandwidth);
            } else {
                add_pci(child, node);
            }
        }
    }

    void add_nic(std::size_t tree_index, std::size_t parent, float bandwidth) {
        const auto nic = add_node({.kind = GraphNode::Kind::nic});
        for (const auto child : input_.tree.nodes[tree_index].children) {
            const auto& net_node = input_.tree.nodes[child];
            if (net_node.kind != TreeNode::Kind::net) continue;
            const auto& device = input_.tree.devices[net_node.device];
            const double gbps = net_node.speed_gbps >= 0 ? net_node.speed_gbps : device.gbps;
            const auto width = static_cast<float>((gbps > 0 ? gbps : 10.0) / 8.0);
            const auto net = add_node({.kind = GraphNode::Kind::net, .subject = net_node.device});
            auto& order = graph_.net_order;
            if (std::find(order.begin(), order.end(), net_node.device) == order.end()) order.push_back(net_node.device);
            link(nic, net, GraphLink::Kind::net, width);
        }
        link(nic, parent, GraphLink::Kind::pci, bandwidth);
    }

    void add_pci(std::size_t tree_index, std::size_t parent) {
        const auto& pci = input_.tree.nodes[tree_index];
        const float bandwidth = link_bandwidth(pci);
        std::size_t gpu = TreeNode::none;
        std::size_t nic = TreeNode::none;
        for (const auto child : pci.children) {
            if (input_.tree.nodes[child].kind == TreeNode::Kind::gpu) gpu = child;
            if (input_.tree.nodes[child].kind == TreeNode::Kind::nic) nic = child;
        }
        if (nic != TreeNode::none) {  // topo.cc ncclTopoAddPci: a nic child decides what the function is
            add_nic(nic, parent, bandwidth);
        } else if (gpu != TreeNode::none) {
            add_gpu(input_.tree.nodes[gpu], pci, parent, bandwidth);
        } else {
            const auto node = add_node({.kind = GraphNode::Kind::pci, .pci_id = pci.id, .key = pci.key});
            for (const auto child : pci.children) add_pci(child, node);
            link(node, parent, GraphLink::Kind::pci, bandwidth);
        }
    }

    void add_gpu(const TreeNode& gpu, const TreeNode& pci, std::size_t parent, float bandwidth) {
        const auto found = std::find(input_.gpus.begin(), input_.gpus.end(), gpu.gpu);
        if (found == input_.gpus.end()) return;
        const auto rank = static_cast<std::size_t>(found - input_.gpus.begin());
        const auto node = add_node({.kind = GraphNode::Kind::gpu, .subject = rank, .key = pci.key});
        graph_.gpu_order.push_back(rank);
        if (input_.models[rank].c2c || gpu.c2c_attribute) c2c_.push_back(node);
        link(node, parent, GraphLink::Kind::pci, bandwidth);
    }

    /// The CPU reached from `node` by PCI links upward.
    std::size_t local_cpu(std::size_t node, std::size_t from) const {
        if (graph_.nodes[node].kind == GraphNode::Kind::cpu) return node;
        for (const auto& link : graph_.nodes[node].links) {
            const auto kind = graph_.nodes[link.to].kind;
            if (link.kind != GraphLink::Kind::pci || link.to == from) continue;
            if (kind != GraphNode::Kind::pci && kind != GraphNode::Kind::cpu) continue;
            const auto cpu = local_cpu(link.to, node);
            if (cpu != TreeNode::none) return cpu;
        }
        return TreeNode::none;
    }

    void add_c2c() {
        for (const auto gpu : c2c_) {
            const auto cpu = local_cpu(gpu, TreeNode::none);
            if (cpu != TreeNode::none) link(gpu, cpu, GraphLink::Kind::c2c, c2c_bandwidth);
        }
    }

    std::size_t switch_at(const PciAddress& address) const {
        const auto key = to_string(address);
        for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
            if (graph_.nodes[node].kind == GraphNode::Kind::pci && graph_.nodes[node].key == key) return node;
        }
        return TreeNode::none;
    }

    void add_broadcom_links() {
        for (const auto& [from, to] : input_.facts.broadcom_links) {
            const auto one = switch_at(from);
            const auto other = switch_at(to);
            if (one != TreeNode::none && other != TreeNode::none && one != other) {
                link_one_way(one, other, GraphLink::Kind::loc, local_bandwidth);
            }
        }
    }

    /// Broadcom PEX switches show two levels although every port has full bandwidth: NCCL removes the lower one.
    void flatten_broadcom() {
        for (std::size_t upper = 0; upper < graph_.nodes.size(); ++upper) {
            if (graph_.nodes[upper].kind != GraphNode::Kind::pci || graph_.nodes[upper].removed) continue;
            const int generation = broadcom_generation(graph_.nodes[upper].pci_id, 0, input_.rules);
            if (generation == 0) continue;
            std::vector<std::size_t> lower;
            std::erase_if(graph_.nodes[upper].links, [&](const GraphLink& link) {
                const auto& sub = graph_.nodes[link.to];
                if (sub.kind != GraphNode::Kind::pci ||
                    broadcom_generation(sub.pci_id, 1, input_.rules) != generation) {
                    return false;
                }
                if (std::find(lower.begin(), lower.end(), link.to) == lower.end()) lower.push_back(link.to);
                return true;
            });
            for (const auto sub : lower) adopt_links(upper, sub);
            graph_.nodes[upper].pci_id |= 0xffffU;  // not to be flattened into another
        }
    }

    void adopt_links(std::size_t upper, std::size_t sub) {
        for (const auto& link : graph_.nodes[sub].links) {
            if (link.to == upper) continue;
            graph_.nodes[upper].links.push_back(link);
            for (auto& back : graph_.nodes[link.to].links) {
                if (back.to != sub) continue;
                back.to = upper;
                break;
            }
        }
        graph_.nodes[sub].links.clear();
        graph_.nodes[sub].removed = true;
    }

    void connect_sockets() {
        for (std::size_t one = 0; one < graph_.nodes.size(); ++one) {
            if (graph_.nodes[one].kind != GraphNode::Kind::cpu) continue;
            for (std::size_t other = 0; other < graph_.nodes.size(); ++other) {
                if (graph_.nodes[other].kind != GraphNode::Kind::cpu || one == other) continue;
                link_one_way(one, other, GraphLink::Kind::sys,
                             socket_bandwidth(graph_.nodes[one].cpu, input_.rules.sockets));
            }
        }
    }

    const GraphInput& input_;
    Graph graph_;
    std::vector<std::size_t> c2c_;
};

Path hop_type(const GraphNode& from, const GraphNode& to, GraphLink::Kind kind) {
    const bool at_cpu = from.kind == GraphNode::Kind::cpu || to.kind == GraphNode::Kind::cpu;
    if (kind == GraphLink::Kind::pci && at_cpu) return Path::PHB;
    if (from.kind == GraphNode::Kind::pci && to.kind == GraphNode::Kind::pci) return Path::PXB;
    switch (kind) {
        case GraphLink::Kind::loc:
        case GraphLink::Kind::net:
            return Path::LOC;
        case GraphLink::Kind::c2c:
            return Path::C2C;
        case GraphLink::Kind::pci:
            return Path::PIX;
        case GraphLink::Kind::sys:
            return Path::SYS;
    }
    return Path::SYS;
}

/// One breadth-first search from `base` (paths.cc ncclTopoSetPaths): a path is replaced by one of more bandwidth that
/// is not longer.
void search(const Graph& graph, std::size_t base, std::size_t target, std::vector<std::vector<PathInfo>>& paths) {
    paths[base][target] = {local_bandwidth, 0, Path::LOC};
    std::vector<std::size_t> current{base};
    while (!current.empty()) {
        std::vector<std::size_t> next;
        for (const auto node : current) {
            if (node != base && graph.nodes[node].kind == GraphNode::Kind::gpu) continue;
            const auto here = paths[node][target];
            for (const auto& link : graph.nodes[node].links) {
                auto& there = paths[link.to][target];
                const float bandwidth = std::min(here.gbytes_per_s, link.gbytes_per_s);
                const bool may_replace = there.gbytes_per_s == 0 || there.hops > here.hops;
                if (!may_replace || there.gbytes_per_s >= bandwidth) continue;
                const auto type = hop_type(graph.nodes[node], graph.nodes[link.to], link.kind);
                there = {bandwidth, here.hops + 1, std::max(here.type, type)};
                if (std::find(next.begin(), next.end(), link.to) == next.end()) next.push_back(link.to);
            }
        }
        current = std::move(next);
    }
}

}  // namespace

Graph build_graph(const GraphInput& input) {
    return Builder(input).take();
}

std::vector<std::vector<PathInfo>> paths_to(const Graph& graph, GraphNode::Kind kind, std::size_t targets) {
    std::vector<std::vector<PathInfo>> paths(graph.nodes.size(), std::vector<PathInfo>(targets));
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        if (graph.nodes[node].kind == kind && !graph.nodes[node].removed)
            search(graph, node, graph.nodes[node].subject, paths);
    }
    return paths;
}

}  // namespace gdrcheck::nccl
