#include "common/report/terminal_text.hpp"

#include <fmt/core.h>

namespace gdrcheck::report {
namespace {

const char* sequence(Colour colour) {
    switch (colour) {
        case Colour::none:
            return "";
        case Colour::green:
            return "\x1b[32m";
        case Colour::yellow:
            return "\x1b[33m";
        case Colour::red:
            return "\x1b[1;31m";
        case Colour::cyan:
            return "\x1b[36m";
        case Colour::bold:
            return "\x1b[1m";
    }
    return "";
}

}  // namespace

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (const char c : text) {
        if (c >= ' ' && c <= '~') {
            clean += c;
        } else {
            clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    return clean;
}

void append_wrapped(std::string& out, std::string_view text, std::string_view first, std::size_t rest,
                    std::size_t width) {
    std::string line(first);
    bool empty = true;
    while (!text.empty()) {
        const auto end = text.find(' ');
        const auto word = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!empty && line.size() + 1 + word.size() > width) {
            out += line + '\n';
            line.assign(rest, ' ');
            empty = true;
        }
        if (!empty) line += ' ';
        line += word;
        empty = false;
    }
    out += line + '\n';
}

std::string painted(std::string_view text, Colour colour, bool enabled) {
    if (!enabled || colour == Colour::none) return std::string(text);
    return fmt::format("{}{}\x1b[0m", sequence(colour), text);
}

}  // namespace gdrcheck::report
