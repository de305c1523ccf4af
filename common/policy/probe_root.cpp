#include <fmt/core.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {
namespace {

constexpr std::size_t longest_name = 255;

/// One plain component of a path and nothing else. The name comes from Slurm's environment.
bool is_plain_name(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
               c == '_';
    };
    return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), plain) &&
           name != "." && name.find("..") == std::string_view::npos;
}

}  // namespace

Result<std::string> expand_probe_root(std::string_view root, std::string_view node_name) {
    std::string result;
    for (std::size_t at = 0; at < root.size(); ++at) {
        if (root[at] != '%') {
            result += root[at];
            continue;
        }
        if (root.substr(at, 2) != "%n")
            return fail(fmt::format("[probe] root {}: % stands only before n", quoted(root)));
        if (!is_plain_name(node_name))
            return fail(fmt::format("[probe] root {}: {} is no node name", quoted(root), quoted(node_name)));
        result += node_name;
        ++at;
    }
    return result;
}

}  // namespace gdrcheck
