#include "common/base/glob.hpp"

namespace gdrcheck {
namespace {

bool set_takes(std::string_view body, char c) {
    const bool negated = !body.empty() && (body.front() == '!' || body.front() == '^');
    if (negated) body.remove_prefix(1);
    const auto byte = [](char value) { return static_cast<unsigned char>(value); };
    bool found = false;
    for (std::size_t at = 0; at < body.size(); ++at) {
        if (at + 2 < body.size() && body[at + 1] == '-') {
            found = found || (byte(body[at]) <= byte(c) && byte(c) <= byte(body[at + 2]));
            at += 2;
        } else {
            found = found || body[at] == c;
        }
    }
    return found != negated;
}

/// Length of what one pattern element takes up when it takes `c`, 0 when it does not.
std::size_t element_takes(std::string_view pattern, char c) {
    if (pattern.front() == '?') return 1;
    if (pattern.front() == '[') {
        const auto end = set_end(pattern, 0);
        if (end != std::string_view::npos) return set_takes(pattern.substr(1, end - 1), c) ? end + 1 : 0;
    }
    return pattern.front() == c ? 1 : 0;
}

}  // namespace

std::size_t set_end(std::string_view pattern, std::size_t open) {
    auto first = open + 1;
    if (first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^')) ++first;
    return pattern.find(']', first + 1);
}

// Only the last star is ever tried again, so that the work is at most pattern times name.
bool glob_matches(std::string_view pattern, std::string_view name) {
    std::size_t at_pattern = 0;
    std::size_t at_name = 0;
    auto after_star = std::string_view::npos;
    std::size_t star_took = 0;
    while (at_name < name.size()) {
        if (at_pattern < pattern.size() && pattern[at_pattern] == '*') {
            after_star = ++at_pattern;
            star_took = at_name;
            continue;
        }
        const auto taken =
            at_pattern < pattern.size() ? element_takes(pattern.substr(at_pattern), name[at_name]) : std::size_t{0};
        if (taken > 0) {
            at_pattern += taken;
            ++at_name;
        } else if (after_star != std::string_view::npos) {
            at_pattern = after_star;
            at_name = ++star_took;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at_pattern) == std::string_view::npos;
}

}  // namespace gdrcheck
