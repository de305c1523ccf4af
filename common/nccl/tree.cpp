#include "common/nccl/tree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "common/nccl/fusion.hpp"
#include "common/nccl/tree_file.hpp"
#include "common/nccl/tree_ops.hpp"

namespace gdrcheck::nccl {
namespace {

/// Puts functions, NICs and CPUs into the tree, reading what NCCL would read from sysfs off the facts.
class Builder {
  public:
    explicit Builder(const TreeInput& input) : input_(input) {}

    Tree take() && {
        start();
        const bool one_by_one = input_.rules.fuses_ranks;
        add_gpus(0, one_by_one ? std::min<std::size_t>(1, input_.gpus.size()) : input_.gpus.size());
        add_ports();
        make_devices();
        if (one_by_one) {
            // The trees of the other ranks differ only in their own GPU; fusing them appends what is new (xmlAddTree).
            appending_ = true;
            add_gpus(1, input_.gpus.size());
            repeat_misattached();
        }
        trim(tree_);
        return std::move(tree_);
    }

  private:
    void start() {
        tree_.nodes.push_back(TreeNode{});
        const auto& file = input_.facts.topology;
        if (file && file->system.known()) load_topology(*file->system.value, tree_);
        has_file_ = tree_.nodes.size() > 1;
    }

    void add_gpus(std::size_t first, std::size_t last) {
        for (std::size_t rank = first; rank < last; ++rank) {
            const auto gpu = input_.gpus[rank];
            const auto* function = input_.facts.function(input_.facts.gpus[gpu].pci);
            if (function == nullptr) continue;
            const auto pci = ensure_pci(function->sysfs_path);
            auto node = child_of_kind(tree_, pci, TreeNode::Kind::gpu);
            if (node == TreeNode::none) node = add_child(tree_, pci, {.kind = TreeNode::Kind::gpu});
            tree_.nodes[node].gpu = gpu;
        }
    }

    void add_ports() {
        for (std::size_t index = 0; index < input_.ports.size(); ++index) {
            const auto& port = input_.ports[index];
            auto net = find_net(tree_, port.name);
            if (net == TreeNode::none || claimed(net)) {
                const auto parent = port.on_pci ? ensure_pci(port.path) : first_cpu();
                net = add_child(tree_, ensure_nic(parent), {.kind = TreeNode::Kind::net, .key = port.name});
            }
            port_nets_.push_back(net);
        }
    }

    bool claimed(std::size_t net) const {
        return std::find(port_nets_.begin(), port_nets_.end(), net) != port_nets_.end();
    }

    void make_devices() {
        if (input_.rules.merging == Merging::fused && input_.settings.merge_nics && !input_.settings.merge_nothing) {
            tree_.devices = fuse_ports(input_, port_nets_, tree_);
            return;
        }
        tree_.devices = merge_by_card(input_.facts, input_.ports, input_.rules, input_.settings);
        for (std::size_t index = 0; index < tree_.devices.size(); ++index) {
            tree_.nodes[port_nets_[tree_.devices[index].ports.front()]].device = index;
        }
    }

    /// A NIC that NCCL attaches to "the first CPU" hangs off the CPU of each rank's own GPU, so the fused tree has it
    /// once per such CPU.
    void repeat_misattached() {
        if (has_file_) return;
        for (std::size_t index = 0; index < input_.ports.size(); ++index) {
            const auto net = port_nets_[index];
            if (input_.ports[index].on_pci || tree_.nodes[net].device == TreeNode::none) continue;
            for (const auto gpu : input_.gpus) {
                const auto cpu = cpu_of_gpu(gpu);
                if (cpu == TreeNode::none || cpu == cpu_above(tree_, net) ||
                    holds_device(cpu, tree_.nodes[net].device)) {
                    continue;
                }
                auto copy = tree_.nodes[net];
                copy.children.clear();
                add_child(tree_, ensure_nic(cpu), std::move(copy));
            }
        }
    }

    std::size_t cpu_of_gpu(std::size_t gpu) const {
        for (std::size_t node = 0; node < tree_.nodes.size(); ++node) {
            if (tree_.nodes[node].kind == TreeNode::Kind::gpu && tree_.nodes[node].gpu == gpu)
                return cpu_above(tree_, node);
        }
        return TreeNode::none;
    }

    bool holds_device(std::size_t cpu, std::size_t device) const {
        const auto nic = child_of_kind(tree_, cpu, TreeNode::Kind::nic);
        if (nic == TreeNode::none) return false;
        const auto& nets = tree_.nodes[nic].children;
        return std::any_of(nets.begin(), nets.end(), [&](auto net) { return tree_.nodes[net].device == device; });
    }

    std::size_t ensure_nic(std::size_t parent) {
        const auto nic = child_of_kind(tree_, parent, TreeNode::Kind::nic);
        return nic != TreeNode::none ? nic : add_child(tree_, parent, {.kind = TreeNode::Kind::nic});
    }

    std::size_t first_cpu() {
        for (std::size_t node = 0; node < tree_.nodes.size(); ++node) {
            if (tree_.nodes[node].kind == TreeNode::Kind::cpu) return node;
        }
        return ensure_cpu("-1");
    }

    std::size_t ensure_cpu(const std::string& numa) {
        for (const auto child : tree_.nodes[0].children) {
            if (tree_.nodes[child].kind == TreeNode::Kind::cpu && tree_.nodes[child].key == numa) return child;
        }
        return add_child(tree_, 0, {.kind = TreeNode::Kind::cpu, .key = numa, .cpu = input_.facts.cpu});
    }

    /// The node of the PCI function at `path`, with everything above it up to its CPU (xml.cc ncclTopoGetXmlFromSys).
    std::size_t ensure_pci(const std::string& path) {
        const auto slash = path.rfind('/');
        const auto address = path.substr(slash + 1);
        auto node = find_pci(tree_, address);
        if (node == TreeNode::none) node = add_loose(tree_, {.kind = TreeNode::Kind::pci, .key = address});
        fill_pci(path, node);
        if (tree_.nodes[node].parent == TreeNode::none) attach(tree_, node, parent_of(path), !appending_);
        return node;
    }

    /// NCCL climbs two path components: a switch counts as its upstream port, and a device whose port hangs off the
    /// host bridge is at the CPU. A component that is no twelve-character address ends the climb.
    std::size_t parent_of(const std::string& path) {
        const auto above = [](const std::string& of) { return of.substr(0, of.rfind('/')); };
        const auto port = above(path);
        if (!is_short_address(port)) return ensure_cpu(numa_text(path));
        const auto upstream = above(port);
        if (!is_short_address(upstream)) return ensure_cpu(numa_text(path));
        return ensure_pci(upstream);
    }

    const PciFunction* function_at(const std::string& path) const {
        const auto address = parse_pci_address(std::string_view(path).substr(path.rfind('/') + 1));
        return address ? input_.facts.function(*address) : nullptr;
    }

    std::string numa_text(const std::string& path) const {
        const auto* function = function_at(path);
        return function != nullptr && function->numa_node ? std::to_string(*function->numa_node) : std::string{};
    }

    void fill_pci(const std::string& path, std::size_t index) {
        const auto* function = function_at(path);
        if (function == nullptr) return;
        auto& node = tree_.nodes[index];
        const auto* port = function_at(path.substr(0, path.rfind('/')));
        node.class_text = fmt::format("0x{:06x}", function->class_code);
        if (node.id == 0) {
            node.id = std::uint64_t{function->vendor} << 48U | std::uint64_t{function->device} << 32U |
                      std::uint64_t{function->subsystem_vendor} << 16U | function->subsystem_device;
        }
        if (!node.speed_known) {
            node.link_speed = slower(port != nullptr ? port->max_link_speed : std::string{}, function->max_link_speed);
            node.speed_known = true;
        }
        if (!node.width_known) {
            const int own = function->max_link_width.value_or(0);
            const int above = port != nullptr ? port->max_link_width.value_or(0) : 0;
            node.link_width = std::min(own, above);  // a missing file counts as 0, and 0 is later taken for 16
            node.width_known = true;
        }
    }

    /// The text of the slower link; a text without a number is taken for infinitely fast.
    static std::string slower(const std::string& port, const std::string& device) {
        const auto speed = [](const std::string& text) {
            char* end = nullptr;
            const float value = std::strtof(text.c_str(), &end);
            return end == text.c_str() ? std::numeric_limits<float>::max() : value;
        };
        return speed(port) < speed(device) ? port : device;
    }

    const TreeInput& input_;
    Tree tree_;
    std::vector<std::size_t> port_nets_;  ///< net node of each port
    bool has_file_ = false;
    bool appending_ = false;
};

}  // namespace

Tree build_tree(const TreeInput& input) {
    return Builder(input).take();
}

}  // namespace gdrcheck::nccl
