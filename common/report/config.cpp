// The effective policy: every key, its value and where it comes from.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/report.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view plain = "\x1b[0m";
constexpr std::string_view by_default = "default";
constexpr std::string_view checks_prefix = "checks.";
constexpr std::size_t narrowest = 60;
constexpr std::size_t value_column = 22;

/// Characters of UTF-8, as columns.
std::size_t columns(std::string_view text) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string padded(std::string text, std::size_t width) {
    const auto used = columns(text);
    if (used < width) text.append(width - used, ' ');
    return text;
}

/// Breaks between the items of a list; what has no such place stays in one piece.
std::vector<std::string> broken(std::string_view text, std::size_t width) {
    std::vector<std::string> lines{""};
    while (!text.empty()) {
        const auto comma = text.find(", ");
        const auto piece = text.substr(0, comma == std::string_view::npos ? comma : comma + 2);
        if (!lines.back().empty() && columns(lines.back()) + columns(piece) > width) {
            lines.back().pop_back();
            lines.emplace_back();
        }
        lines.back() += piece;
        text.remove_prefix(piece.size());
    }
    return lines;
}

/// The file is named above the table: "line 12", "line 40 [[override]] nodes=…".
std::string shortened(const std::string& origin, const std::string& file) {
    if (file.empty() || !origin.starts_with(file + ':')) return origin;
    return "line " + origin.substr(file.size() + 1);
}

/// At most `width` columns; the origin is ASCII but for the name of the file.
std::string cut(const std::string& text, std::size_t width) {
    if (columns(text) <= width) return text;
    std::string result;
    std::size_t used = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && ++used == width) break;
        result += c;
    }
    return result + "…";
}

struct Row {
    std::string key;
    std::string value;
    std::string origin;
};

bool is_untouched_check(const PolicyOrigin& origin) {
    return origin.key.starts_with(checks_prefix) && origin.origin == by_default;
}

std::vector<Row> rows_of(const EffectivePolicy& effective) {
    std::vector<Row> rows;
    const PolicyOrigin* untouched = nullptr;
    std::size_t count = 0;
    for (const auto& origin : effective.origins) {
        if (is_untouched_check(origin)) {
            untouched = &origin;
            ++count;
            continue;
        }
        rows.push_back({origin.key, origin.value, shortened(origin.origin, effective.file)});
    }
    if (count > 0) rows.push_back({fmt::format("{}(other {})", checks_prefix, count), untouched->value, "default"});
    return rows;
}

std::string row_text(const Row& row, std::size_t key_column, std::size_t width, bool colour) {
    const std::size_t before_value = key_column + 2;
    const bool dimmed = colour && row.origin == by_default;
    std::string text = dimmed ? std::string(dim) : "";
    text += padded(row.key, before_value);
    const auto lines = broken(row.value, width - before_value);
    for (std::size_t index = 0; index + 1 < lines.size(); ++index) {
        text += lines[index] + '\n' + std::string(before_value, ' ');
    }
    const auto value_width = std::max(columns(lines.back()), value_column);
    const bool fits = before_value + value_width + 1 + columns(row.origin) <= width;
    text += fits ? padded(lines.back(), value_width) + ' ' : lines.back() + '\n' + std::string(before_value, ' ');
    text += cut(row.origin, width - before_value);
    if (dimmed) text += plain;
    return text + '\n';
}

}  // namespace

std::string config_text(const EffectivePolicy& policy, const Style& style) {
    const auto width = std::max(narrowest, static_cast<std::size_t>(std::max(style.width, 0)));
    const auto rows = rows_of(policy);
    std::size_t key_column = 0;
    for (const auto& row : rows) key_column = std::max(key_column, columns(row.key));
    std::string text =
        policy.file.empty() ? "no configuration file: built-in defaults, nothing is drained\n\n" : policy.file + "\n\n";
    for (const auto& row : rows) text += row_text(row, key_column, width, style.colour);
    return text;
}

std::string config_json(const EffectivePolicy& policy) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const auto& origin : policy.origins) {
        values.push_back({{"key", origin.key}, {"value", origin.value}, {"origin", origin.origin}});
    }
    nlohmann::ordered_json json{{"schema", 1}, {"file", nullptr}, {"values", std::move(values)}};
    if (!policy.file.empty()) json["file"] = policy.file;
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace gdrcheck::report
