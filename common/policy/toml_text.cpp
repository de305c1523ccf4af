#include "common/policy/toml_text.hpp"

#include <fmt/core.h>

namespace gdrcheck::config {

std::string toml_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            result += fmt::format("\\u{:04X}", byte);
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string toml_list(const std::vector<std::string>& items) {
    std::string result = "[";
    for (const auto& item : items) {
        if (result.size() > 1) result += ", ";
        result += toml_string(item);
    }
    return result + ']';
}

bool is_printable(std::string_view utf8) {
    unsigned char before = 0;
    for (const char c : utf8) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) return false;
        // U+0080 to U+009F are C2 80 to C2 9F
        if (before == 0xc2 && byte >= 0x80 && byte <= 0x9f) return false;
        before = byte;
    }
    return true;
}

}  // namespace gdrcheck::config
