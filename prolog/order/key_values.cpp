#include "prolog/order/key_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "common/base/text.hpp"
#include "prolog/order/order_text.hpp"

namespace gdrcheck::order {

Result<KeyValues> KeyValues::parse(std::string_view text, std::string_view head) {
    if (text.size() > largest_text) return fail(fmt::format("more than {} bytes", largest_text));
    const auto printable = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
    if (!std::all_of(text.begin(), text.end(), printable)) return fail("holds bytes that are not printable");
    auto lines = split(text, '\n');
    if (lines.size() < 3 || lines.front() != head) return fail(fmt::format("does not begin with \"{}\"", head));
    if (!lines.back().empty() || lines[lines.size() - 2] != "end") return fail("is cut off");
    KeyValues result;
    for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
        const auto equals = lines[i].find('=');
        if (equals == std::string_view::npos) return fail(fmt::format("line {} has no =", i + 1));
        const auto [place, is_new] = result.values_.emplace(lines[i].substr(0, equals), lines[i].substr(equals + 1));
        if (!is_new) return fail(fmt::format("{} is there twice", place->first));
    }
    return result;
}

std::string KeyValues::text(const char* key) {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        complain(key);
        return {};
    }
    auto value = std::move(found->second);
    values_.erase(found);
    return value;
}

bool KeyValues::truth(const char* key) {
    return number(key, 0, 1) == 1;
}

std::int64_t KeyValues::number(const char* key, std::int64_t least, std::int64_t most) {
    const auto value = parse_number<std::int64_t>(text(key));
    if (value && *value >= least && *value <= most) return *value;
    complain(key);
    return least;
}

std::optional<int> KeyValues::limit(const char* key) {
    const auto value = text(key);
    if (value == "none") return std::nullopt;
    const auto parsed = parse_number<int>(value);
    if (!parsed || *parsed < 0) complain(key);
    return parsed;
}

void KeyValues::complain(const std::string& key) {
    if (complaint_.empty()) complaint_ = key + " is missing or makes no sense";
}

std::optional<std::string> KeyValues::complaint() const {
    if (!complaint_.empty()) return complaint_;
    if (!values_.empty()) return values_.begin()->first + " is not known";
    return std::nullopt;
}

}  // namespace gdrcheck::order
