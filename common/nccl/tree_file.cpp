#include "common/nccl/tree_file.hpp"

#include <cstdlib>
#include <string>

#include "common/nccl/tree_ops.hpp"

namespace gdrcheck::nccl {
namespace {

std::string text_of(const TopologyElement& element, std::string_view key) {
    const auto* value = element.attribute(key);
    return value == nullptr ? std::string{} : *value;
}

/// strtol with base 0, as NCCL reads its integers; `otherwise` when the attribute is absent.
long number_of(const TopologyElement& element, std::string_view key, long otherwise) {
    const auto* value = element.attribute(key);
    return value == nullptr ? otherwise : std::strtol(value->c_str(), nullptr, 0);
}

std::string lower(std::string text) {
    for (auto& c : text) {
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

bool has_child(const TopologyElement& element, std::string_view tag) {
    for (const auto& child : element.children) {
        if (child.tag == tag) return true;
    }
    return false;
}

TreeNode read_cpu(const TopologyElement& element) {
    TreeNode node{.kind = TreeNode::Kind::cpu, .key = text_of(element, "numaid")};
    node.cpu.arch = text_of(element, "arch");
    node.cpu.vendor = text_of(element, "vendor");
    node.cpu.family = static_cast<int>(number_of(element, "familyid", -1));
    node.cpu.model = static_cast<int>(number_of(element, "modelid", -1));
    return node;
}

TreeNode read_pci(const TopologyElement& element) {
    TreeNode node{.kind = TreeNode::Kind::pci, .key = lower(text_of(element, "busid"))};
    node.class_text = text_of(element, "class");
    node.speed_known = element.attribute("link_speed") != nullptr;
    node.link_speed = text_of(element, "link_speed");
    node.width_known = element.attribute("link_width") != nullptr;
    node.link_width = static_cast<int>(number_of(element, "link_width", 0));
    const auto part = [&](std::string_view key) {
        return static_cast<std::uint64_t>(number_of(element, key, 0)) & 0xffffU;
    };
    node.id =
        part("vendor") << 48U | part("device") << 32U | part("subsystem_vendor") << 16U | part("subsystem_device");
    return node;
}

TreeNode read_gpu(const TopologyElement& element) {
    TreeNode node{.kind = TreeNode::Kind::gpu};
    node.gdr_attribute = static_cast<int>(number_of(element, "gdr", -1));
    node.nvlink_attribute = has_child(element, "nvlink");
    node.c2c_attribute = has_child(element, "c2c");
    return node;
}

TreeNode read_net(const TopologyElement& element) {
    TreeNode node{.kind = TreeNode::Kind::net, .key = text_of(element, "name")};
    node.gdr_attribute = static_cast<int>(number_of(element, "gdr", -1));
    if (element.attribute("speed") != nullptr)
        node.speed_gbps = static_cast<double>(number_of(element, "speed", 0)) / 1000;
    return node;
}

/// Which elements may stand below which: cpu: pci, nic; pci: pci, gpu, nic; nic: net.
void load_children(const TopologyElement& element, std::size_t parent, Tree& tree) {
    const auto kind = tree.nodes[parent].kind;
    for (const auto& child : element.children) {
        const bool below_cpu_or_pci = kind == TreeNode::Kind::cpu || kind == TreeNode::Kind::pci;
        if (child.tag == "pci" && below_cpu_or_pci) {
            load_children(child, add_child(tree, parent, read_pci(child)), tree);
        } else if (child.tag == "nic" && below_cpu_or_pci) {
            load_children(child, add_child(tree, parent, {.kind = TreeNode::Kind::nic}), tree);
        } else if (child.tag == "gpu" && kind == TreeNode::Kind::pci) {
            add_child(tree, parent, read_gpu(child));
        } else if (child.tag == "net" && kind == TreeNode::Kind::nic) {
            add_child(tree, parent, read_net(child));
        }
    }
}

}  // namespace

void load_topology(const TopologyElement& system, Tree& tree) {
    for (const auto& child : system.children) {
        if (child.tag == "cpu") load_children(child, add_child(tree, 0, read_cpu(child)), tree);
    }
}

}  // namespace gdrcheck::nccl
