// `gdrcheck topo` for people: the PCI tree, then the matrix.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "common/report/labels.hpp"
#include "common/report/matrix.hpp"
#include "common/report/pci_tree.hpp"
#include "common/report/report.hpp"
#include "common/report/summary.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::size_t step = 2;  ///< columns per level
constexpr int deepest = 64;      ///< a tree deeper than this is made up
constexpr const char* hop = " > ";

std::string nic_label(const RdmaDevice& device) {
    auto text = "NIC " + device.name;
    if (device.is_vf) text += " (VF)";
    if (device.is_sf) text += " (SF)";
    for (const auto& port : device.ports) {
        text += device.ports.size() == 1 ? std::string() : fmt::format("  port {}", port.number);
        text += fmt::format("  {}", port_state(port));
        if (port.state == PortState::active) text += fmt::format(" {} {} Gb/s", port.link_layer, rate_label(port.gbps));
    }
    return text;
}

std::string data_direct_label(const NodeFacts& facts, const PciAddress& address) {
    for (const auto& device : facts.rdma) {
        if (device.data_direct == address) return "Data Direct of " + device.name;
    }
    return "Data Direct";
}

/// What hangs on the function: one line each. Empty for a bridge.
std::vector<std::string> endpoint_labels(const NodeFacts& facts, const PciFunction& function) {
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
        if (facts.gpus[i].pci == function.address) return {fmt::format("GPU {}  {}", i, facts.gpus[i].model)};
    }
    const auto* kind = kind_of(facts, function);
    if (std::strcmp(kind, "nvswitch") == 0) return {"NVSwitch"};
    if (std::strcmp(kind, "data-direct") == 0) return {data_direct_label(facts, function.address)};
    std::vector<std::string> labels;
    for (const auto* device : devices_on(facts, function.address)) labels.push_back(nic_label(*device));
    if (labels.empty() && !is_bridge(function)) {
        labels.push_back(fmt::format("{:04x}:{:04x}", function.vendor, function.device));
    }
    return labels;
}

std::string remarks(const NodeFacts& facts, const PciFunction& function) {
    std::string text;
    if (redirects(function)) text += "  [ACS redirect]";
    if (const auto width = narrow_link(facts, function); !width.empty()) text += "  [link " + width + "]";
    if (const auto speed = slow_link(facts, function); !speed.empty()) text += "  [link " + speed + "]";
    return text;
}

class TreeText {
  public:
    TreeText(const NodeFacts& facts, const Style& style)
        : facts_(facts),
          tree_(pci_tree(facts)),
          short_address_(one_domain(facts)),
          colour_(style.colour),
          width_(static_cast<std::size_t>(std::max(style.width, 40))) {}

    std::string make() {
        for (const auto& host_bridge : tree_.host_bridges) {
            out_ += printable(host_bridge.name) + numa(host_bridge) + '\n';
            for (const auto& child : host_bridge.children) append(child, 1);
        }
        return std::move(out_);
    }

  private:
    std::string numa(const PciTree::HostBridge& host_bridge) const {
        const auto* first = facts_.function(host_bridge.children.front());
        return first != nullptr && first->numa_node ? fmt::format("  NUMA {}", *first->numa_node) : std::string();
    }

    /// Bridges with one child and nothing to say share its line.
    void append(const PciAddress& address, int depth) {
        std::string chain;
        const PciFunction* function = facts_.function(address);
        for (int hops = 0; function != nullptr && hops < deepest; ++hops) {
            const auto& below = tree_.below(function->address);
            chain += (chain.empty() ? "" : hop) + address_label(function->address, short_address_);
            if (below.size() != 1 || !is_bridge(*function) || !remarks(facts_, *function).empty()) break;
            function = facts_.function(below.front());
        }
        if (function == nullptr) return;
        append_line(chain, *function, depth);
        if (depth >= deepest) return;
        for (const auto& child : tree_.below(function->address)) append(child, depth + 1);
    }

    void append_line(const std::string& chain, const PciFunction& function, int depth) {
        const std::string blanks(step * static_cast<std::size_t>(depth), ' ');
        const auto labels = endpoint_labels(facts_, function);
        const auto noted = remarks(facts_, function);
        const auto first = labels.empty() ? std::string() : printable(labels.front());
        const auto gap = first.empty() ? "" : "  ";
        const auto taken = blanks.size() + chain.size();
        const bool fits = taken + 2 + first.size() + noted.size() <= width_;
        out_ += blanks + chain;
        if (!fits) out_ += '\n' + blanks + "  ";
        out_ += gap + painted(first, Colour::bold, colour_ && !first.empty()) +
                painted(noted, Colour::yellow, colour_ && !noted.empty()) + '\n';
        for (std::size_t i = 1; i < labels.size(); ++i) {
            out_ += std::string(fits ? taken + 2 : blanks.size() + 4, ' ') +
                    painted(printable(labels[i]), Colour::bold, colour_) + '\n';
        }
    }

    const NodeFacts& facts_;
    PciTree tree_;
    bool short_address_;
    bool colour_;
    std::size_t width_;
    std::string out_;
};

/// RDMA devices that sit on no PCI function: software devices, or a device whose link could not be followed.
std::string off_the_bus(const NodeFacts& facts) {
    std::string out;
    for (const auto& device : facts.rdma) {
        if (!device.pci || facts.function(*device.pci) == nullptr) {
            out += "  " + printable(nic_label(device)) + (device.pci ? "  at " + to_string(*device.pci) : "") + '\n';
        }
    }
    return out.empty() ? out : "not on the PCI tree\n" + out;
}

}  // namespace

std::string topo_text(const NodeReport& report, const Style& style) {
    auto out = summary(report, style);
    const auto tree = TreeText(report.facts, style).make() + off_the_bus(report.facts);
    if (!tree.empty()) out += '\n' + tree;
    const auto pairs = matrix(report.facts, first_answer(report.verdict), style);
    if (!pairs.empty()) out += '\n' + pairs;
    return out;
}

}  // namespace gdrcheck::report
