#include "common/nccl/fusion.hpp"

#include <algorithm>

#include "common/nccl/tree_ops.hpp"

namespace gdrcheck::nccl {
namespace {

/// Distance between two ports for merging; PORT (same card) is nearest.
enum class MergeDistance { port, pix, pxb, phb, sys };

MergeDistance limit_of(const Settings& settings) {
    switch (settings.merge_level.value_or(Path::LOC)) {
        case Path::PIX:
            return MergeDistance::pix;
        case Path::PXB:
            return MergeDistance::pxb;
        case Path::P2C:
        case Path::PXN:
            return MergeDistance::pxb;
        case Path::PHB:
            return MergeDistance::phb;
        case Path::SYS:
            return MergeDistance::sys;
        default:
            return MergeDistance::port;
    }
}

std::vector<std::size_t> ancestors(const Tree& tree, std::size_t node) {
    std::vector<std::size_t> chain;
    for (; node != TreeNode::none; node = tree.nodes[node].parent) chain.push_back(node);
    return {chain.rbegin(), chain.rend()};
}

std::size_t common_ancestor(const Tree& tree, std::size_t left, std::size_t right) {
    const auto a = ancestors(tree, left);
    const auto b = ancestors(tree, right);
    std::size_t common = 0;
    for (std::size_t depth = 0; depth < std::min(a.size(), b.size()) && a[depth] == b[depth]; ++depth)
        common = a[depth];
    return common;
}

MergeDistance distance(const Tree& tree, std::size_t left, std::size_t right) {
    const auto common = common_ancestor(tree, left, right);
    switch (tree.nodes[common].kind) {
        case TreeNode::Kind::system:
            return MergeDistance::sys;
        case TreeNode::Kind::cpu:
            return MergeDistance::phb;
        case TreeNode::Kind::pci: {
            const auto is_direct = [&](std::size_t net) {
                const auto pci = tree.nodes[tree.nodes[net].parent].parent;
                return tree.nodes[pci].parent == common;
            };
            return is_direct(left) && is_direct(right) ? MergeDistance::pix : MergeDistance::pxb;
        }
        default:
            return MergeDistance::port;
    }
}

std::string link_layer(const NodeFacts& facts, const NetPort& port) {
    for (const auto& candidate : facts.rdma[port.device].ports) {
        if (candidate.number == port.port) return candidate.link_layer;
    }
    return {};
}

/// NCCL's greedy grouping. A group of mixed link layers is refused by net_ib.cc and all of it stays apart from its
/// first member.
std::vector<std::vector<std::size_t>> group(const TreeInput& input, const std::vector<std::size_t>& nets,
                                            const Tree& tree) {
    const auto limit = limit_of(input.settings);
    const auto count = nets.size();
    std::vector<bool> placed(count, false);
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t first = 0; first < count; ++first) {
        if (placed[first]) continue;
        placed[first] = true;
        std::vector<std::size_t> members{first};
        // two NICs misattached to one CPU share a node only by accident: they are no ports of one card
        for (std::size_t other = 0; other < count && input.ports[first].on_pci; ++other) {
            if (members.size() == static_cast<std::size_t>(input.rules.max_merged_ports)) break;
            if (placed[other] || !input.ports[other].on_pci) continue;
            if (distance(tree, nets[first], nets[other]) > limit) continue;
            members.push_back(other);
        }
        const bool one_layer = std::all_of(members.begin(), members.end(), [&](std::size_t member) {
            return link_layer(input.facts, input.ports[member]) == link_layer(input.facts, input.ports[first]);
        });
        if (!one_layer) members.resize(1);
        for (const auto member : members) placed[member] = true;
        groups.push_back(std::move(members));
    }
    return groups;
}

bool leads_to(const Tree& tree, std::size_t node, const std::vector<std::size_t>& nets) {
    return std::any_of(nets.begin(), nets.end(), [&](std::size_t net) {
        const auto chain = ancestors(tree, net);
        return std::find(chain.begin(), chain.end(), node) != chain.end();
    });
}

/// Lanes of the links below `node` that lead to the NICs, each link no wider than it is.
int width_below(const Tree& tree, std::size_t node, const std::vector<std::size_t>& nets) {
    int width = 0;
    for (const auto child : tree.nodes[node].children) {
        if (tree.nodes[child].kind == TreeNode::Kind::net || !leads_to(tree, child, nets)) continue;
        const int below = width_below(tree, child, nets);
        const int own = tree.nodes[child].kind == TreeNode::Kind::pci ? tree.nodes[child].link_width : 0;
        width += own > 0 && below > 0 ? std::min(own, below) : std::max(own, below);
    }
    return width;
}

/// Where the fused NIC hangs: at the card, or, for cards fused across a switch or CPU, on a made-up PCI node below
/// their common ancestor that is as wide as they are together.
std::size_t fused_parent(Tree& tree, const std::vector<std::size_t>& nets) {
    std::size_t common = nets.front();
    for (const auto net : nets) common = common_ancestor(tree, common, net);
    auto parent = common;
    while (parent != TreeNode::none && tree.nodes[parent].kind != TreeNode::Kind::pci &&
           tree.nodes[parent].kind != TreeNode::Kind::cpu) {
        parent = tree.nodes[parent].parent;
    }
    if (parent == TreeNode::none) return common;
    if (tree.nodes[common].kind == TreeNode::Kind::nic) return common;
    const int width = width_below(tree, parent, nets);
    const auto card = tree.nodes[tree.nodes[nets.front()].parent].parent;
    TreeNode made = tree.nodes[card];
    made.children.clear();
    made.key += "+";  // no address: nothing else can be at it
    made.parent = TreeNode::none;
    if (width > 0) made.link_width = width;
    if (width > 0 && tree.nodes[parent].kind == TreeNode::Kind::pci) tree.nodes[parent].link_width = width;
    const auto pci = add_loose(tree, std::move(made));
    attach(tree, pci, parent, false);
    return add_child(tree, pci, {.kind = TreeNode::Kind::nic});
}

}  // namespace

std::vector<NetDevice> fuse_ports(const TreeInput& input, const std::vector<std::size_t>& port_nets, Tree& tree) {
    std::vector<NetDevice> devices;
    for (auto& members : group(input, port_nets, tree)) {
        const auto device = devices.size();
        std::vector<std::size_t> nets;
        nets.reserve(members.size());
        for (const auto member : members) nets.push_back(port_nets[member]);
        devices.push_back(join_ports(input.ports, members));
        if (members.size() == 1) {
            tree.nodes[nets.front()].device = device;
            continue;
        }
        const auto nic = fused_parent(tree, nets);
        add_child(tree, nic, {.kind = TreeNode::Kind::net, .key = devices.back().name, .device = device});
    }
    return devices;
}

}  // namespace gdrcheck::nccl
