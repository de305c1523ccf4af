#include "common/report/pci_tree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/base/text.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::uint16_t vendor_nvidia = 0x10de;
constexpr std::uint32_t class_bridge = 0x06;
constexpr std::uint32_t class_pci_bridge = 0x0604;
constexpr int widest_link = 32;

std::string host_bridge_name(const PciFunction& function) {
    std::string name = "no host bridge";
    for (const auto part : split(function.sysfs_path, '/')) {
        if (part.starts_with("pci")) name = part;
    }
    return name;
}

/// The nearest bridge above that is known here.
const PciFunction* parent_of(const NodeFacts& facts, const PciFunction& function) {
    for (const auto& address : upstream_bridges(function)) {
        if (const auto* parent = facts.function(address); parent != nullptr && parent != &function) return parent;
    }
    return nullptr;
}

/// In a chain of bridges a root port faces down, what hangs on it faces up, and so on: the ports that face up and the
/// endpoints are where a link ends that begins above.
bool faces_up(const PciFunction& function) {
    return !is_bridge(function) || upstream_bridges(function).size() % 2 == 1;
}

/// 0 is what virtual machines report, 255 what the kernel writes for "unknown".
std::optional<int> told(std::optional<int> width) {
    return width && *width > 0 && *width <= widest_link ? width : std::nullopt;
}

std::optional<double> speed(std::string_view text) {
    const auto value = parse_decimal(text.substr(0, text.find(' ')));
    return value && *value > 0 ? value : std::nullopt;
}

template <class T>
std::optional<T> smaller(std::optional<T> left, std::optional<T> right) {
    if (!left || !right) return left ? left : right;
    return std::min(*left, *right);
}

}  // namespace

const std::vector<PciAddress>& PciTree::below(const PciAddress& address) const {
    static const std::vector<PciAddress> none;
    const auto found = children.find(address);
    return found == children.end() ? none : found->second;
}

PciTree pci_tree(const NodeFacts& facts) {
    PciTree tree;
    std::map<std::string, std::vector<PciAddress>> roots;
    for (const auto& [address, function] : facts.pci) {
        if (const auto* parent = parent_of(facts, function)) {
            tree.children[parent->address].push_back(address);
        } else {
            roots[host_bridge_name(function)].push_back(address);
        }
    }
    for (auto& [name, children] : roots) tree.host_bridges.push_back({name, std::move(children)});
    return tree;
}

bool is_bridge(const PciFunction& function) {
    return function.class_code >> 8 == class_pci_bridge;
}

const char* kind_of(const NodeFacts& facts, const PciFunction& function) {
    const auto is_gpu = [&](const Gpu& gpu) { return gpu.pci == function.address; };
    if (std::any_of(facts.gpus.begin(), facts.gpus.end(), is_gpu)) return "gpu";
    if (is_bridge(function)) return "bridge";
    if (function.vendor == vendor_nvidia && function.class_code >> 16 == class_bridge) return "nvswitch";
    for (const auto& device : facts.rdma) {
        if (device.data_direct == function.address) return "data-direct";
    }
    return devices_on(facts, function.address).empty() ? "other" : "nic";
}

std::vector<const RdmaDevice*> devices_on(const NodeFacts& facts, const PciAddress& address) {
    std::vector<const RdmaDevice*> devices;
    for (const auto& device : facts.rdma) {
        if (device.pci == address) devices.push_back(&device);
    }
    return devices;
}

bool redirects(const PciFunction& function) {
    if (!function.acs.value || !*function.acs.value) return false;
    return ((*function.acs.value)->control &
            (acs::request_redirect | acs::completion_redirect | acs::egress_control)) != 0;
}

std::string narrow_link(const NodeFacts& facts, const PciFunction& function) {
    if (!faces_up(function)) return {};
    const auto* above = parent_of(facts, function);
    const auto most =
        smaller(told(function.max_link_width), above == nullptr ? std::nullopt : told(above->max_link_width));
    const auto current = told(function.current_link_width);
    return current && most && *current < *most ? fmt::format("x{} of x{}", *current, *most) : std::string();
}

std::string slow_link(const NodeFacts& facts, const PciFunction& function) {
    const auto* kind = kind_of(facts, function);
    if (std::strcmp(kind, "nic") != 0 && std::strcmp(kind, "data-direct") != 0) return {};
    const auto* above = parent_of(facts, function);
    const auto most =
        smaller(speed(function.max_link_speed), above == nullptr ? std::nullopt : speed(above->max_link_speed));
    const auto current = speed(function.current_link_speed);
    return current && most && *current < *most ? fmt::format("{:g} of {:g} GT/s", *current, *most) : std::string();
}

}  // namespace gdrcheck::report
