#include "common/base/text.hpp"

#include <fmt/core.h>

namespace gdrcheck {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
constexpr std::size_t longest_quote = 60;

}  // namespace

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    while (true) {
        const auto end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return pieces;
        text.remove_prefix(end + 1);
    }
}

std::string_view first_line(std::string_view text) {
    return trim(text.substr(0, text.find('\n')));
}

std::string_view last_component(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string join_path(std::string_view directory, std::string_view name) {
    std::string path;
    path.reserve(directory.size() + 1 + name.size());
    if (directory != "/") path += directory;
    path += '/';
    path += name;
    return path;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text.substr(0, longest_quote)) {
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
            result += c;
        } else {
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    if (text.size() > longest_quote) result += "…";
    return result + '"';
}

}  // namespace gdrcheck
