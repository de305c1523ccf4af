#include "common/facts/node_facts.hpp"

#include <algorithm>
#include <cctype>

namespace gdrcheck {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The run of digits at the front of `text`, without leading zeros, removed from it.
std::string_view take_number(std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && is_digit(text[length])) ++length;
    auto number = text.substr(0, length);
    text.remove_prefix(length);
    while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
    return number;
}

}  // namespace

const std::string* TopologyElement::attribute(std::string_view key) const {
    for (const auto& [name, value] : attributes) {
        if (name == key) return &value;
    }
    return nullptr;
}

const KernelModule* NodeFacts::module(std::string_view name) const {
    const auto found = modules.find(std::string(name));
    return found == modules.end() ? nullptr : &found->second;
}

const PciFunction* NodeFacts::function(const PciAddress& address) const {
    const auto found = pci.find(address);
    return found == pci.end() ? nullptr : &found->second;
}

const std::string* NodeFacts::nccl_setting(std::string_view key) const {
    const auto found =
        std::find_if(nccl_conf.begin(), nccl_conf.end(), [&](const auto& entry) { return entry.key == key; });
    return found == nccl_conf.end() ? nullptr : &found->value;
}

std::vector<PciAddress> upstream_bridges(const PciFunction& function) {
    std::vector<PciAddress> bridges;
    std::string_view path = function.sysfs_path;
    while (true) {
        const auto slash = path.rfind('/');
        if (slash == std::string_view::npos) break;
        path = path.substr(0, slash);
        const auto parent = parse_pci_address(path.substr(path.rfind('/') + 1));
        if (!parent) break;
        bridges.push_back(*parent);
    }
    return bridges;
}

bool natural_less(std::string_view left, std::string_view right) {
    const auto whole_left = left;
    const auto whole_right = right;
    while (!left.empty() && !right.empty()) {
        if (is_digit(left.front()) && is_digit(right.front())) {
            const auto number_left = take_number(left);
            const auto number_right = take_number(right);
            if (number_left.size() != number_right.size()) return number_left.size() < number_right.size();
            if (number_left != number_right) return number_left < number_right;
        } else {
            if (left.front() != right.front()) return left.front() < right.front();
            left.remove_prefix(1);
            right.remove_prefix(1);
        }
    }
    if (left.empty() != right.empty()) return left.empty();
    return whole_left < whole_right;
}

}  // namespace gdrcheck
