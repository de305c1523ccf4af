#include "common/nccl/tree_ops.hpp"

#include <algorithm>

namespace gdrcheck::nccl {
namespace {

bool trim_below(Tree& tree, std::size_t index) {
    const auto kind = tree.nodes[index].kind;
    if (kind == TreeNode::Kind::gpu) return tree.nodes[index].gpu != TreeNode::none;
    if (kind == TreeNode::Kind::net) return tree.nodes[index].device != TreeNode::none;
    auto children = tree.nodes[index].children;
    std::erase_if(children, [&](std::size_t child) { return !trim_below(tree, child); });
    tree.nodes[index].children = std::move(children);
    return !tree.nodes[index].children.empty();
}

std::size_t find(const Tree& tree, TreeNode::Kind kind, std::string_view key) {
    for (std::size_t index = 0; index < tree.nodes.size(); ++index) {
        if (tree.nodes[index].kind == kind && tree.nodes[index].key == key) return index;
    }
    return TreeNode::none;
}

}  // namespace

std::size_t find_pci(const Tree& tree, std::string_view address) {
    return find(tree, TreeNode::Kind::pci, address);
}

std::size_t find_net(const Tree& tree, std::string_view name) {
    return find(tree, TreeNode::Kind::net, name);
}

std::size_t child_of_kind(const Tree& tree, std::size_t parent, TreeNode::Kind kind) {
    for (const auto child : tree.nodes[parent].children) {
        if (tree.nodes[child].kind == kind) return child;
    }
    return TreeNode::none;
}

std::size_t cpu_above(const Tree& tree, std::size_t node) {
    while (node != TreeNode::none && tree.nodes[node].kind != TreeNode::Kind::cpu) node = tree.nodes[node].parent;
    return node;
}

std::size_t add_loose(Tree& tree, TreeNode node) {
    tree.nodes.push_back(std::move(node));
    return tree.nodes.size() - 1;
}

std::size_t add_child(Tree& tree, std::size_t parent, TreeNode node) {
    const auto index = add_loose(tree, std::move(node));
    tree.nodes[index].parent = parent;
    tree.nodes[parent].children.push_back(index);
    return index;
}

void attach(Tree& tree, std::size_t node, std::size_t parent, bool ordered) {
    tree.nodes[node].parent = parent;
    auto& children = tree.nodes[parent].children;
    auto place = children.end();
    if (ordered) {
        place = std::find_if(children.begin(), children.end(), [&](std::size_t other) {
            const auto& sister = tree.nodes[other];
            return sister.kind == TreeNode::Kind::pci && tree.nodes[node].key < sister.key;
        });
    }
    children.insert(place, node);
}

void detach(Tree& tree, std::size_t node) {
    const auto parent = tree.nodes[node].parent;
    if (parent == TreeNode::none) return;
    std::erase(tree.nodes[parent].children, node);
    tree.nodes[node].parent = TreeNode::none;
}

void trim(Tree& tree) {
    (void)trim_below(tree, 0);
}

bool is_short_address(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.size() == 12 && name[4] == ':' && parse_pci_address(name).has_value();
}

}  // namespace gdrcheck::nccl
