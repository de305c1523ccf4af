#include "common/policy/limits.hpp"

#include <fmt/core.h>

#include "common/base/text.hpp"

namespace gdrcheck::config {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;
constexpr int most_dots = 32;

/// Dots that could join the parts of one key. Quotes are not looked at: a string that spans lines could pretend any
/// state, and no honest string has as many. "..." joins nothing.
int dots_of_longest_key(std::string_view line) {
    int most = 0;
    int dots = 0;
    char before = '\0';
    for (const char c : line) {
        if (c == ',' || c == '=' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
        if (c == '.' && before != '.') ++dots;
        if (c != ' ' && c != '\t') before = c;
        most = dots > most ? dots : most;
    }
    return most;
}

bool is_comment(std::string_view line) {
    return trim(line).starts_with('#') && line.find("\"\"\"") == std::string_view::npos &&
           line.find("'''") == std::string_view::npos;
}

}  // namespace

std::optional<Complaint> over_limits(std::string_view text) {
    if (text.size() > largest_file)
        return Complaint{{1, 1}, fmt::format("the file has more than {} bytes", largest_file)};
    int number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        if (!is_comment(line) && dots_of_longest_key(line) > most_dots)
            return Complaint{{number, 1}, fmt::format("a name with more than {} dots", most_dots)};
    }
    return std::nullopt;
}

}  // namespace gdrcheck::config
