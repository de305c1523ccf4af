// Small operations on the tree: find, add, attach, trim.
#pragma once

#include <string>
#include <string_view>

#include "common/nccl/tree.hpp"

namespace gdrcheck::nccl {

[[nodiscard]] std::size_t find_pci(const Tree& tree, std::string_view address);
[[nodiscard]] std::size_t find_net(const Tree& tree, std::string_view name);
[[nodiscard]] std::size_t child_of_kind(const Tree& tree, std::size_t parent, TreeNode::Kind kind);
[[nodiscard]] std::size_t cpu_above(const Tree& tree, std::size_t node);

std::size_t add_loose(Tree& tree, TreeNode node);
std::size_t add_child(Tree& tree, std::size_t parent, TreeNode node);

/// Hangs `node` under `parent`: by PCI address among its sisters (xml.cc keeps them ordered), or at the end.
void attach(Tree& tree, std::size_t node, std::size_t parent, bool ordered);

/// Takes `node` out of its parent's children.
void detach(Tree& tree, std::size_t node);

/// Removes branches without a GPU in use and without a network device (xml.cc ncclTopoTrimXml).
void trim(Tree& tree);

/// The last component of `path` looks like DDDD:BB:DD.F with a four-digit domain: NCCL knows no longer one.
[[nodiscard]] bool is_short_address(std::string_view path);

}  // namespace gdrcheck::nccl
