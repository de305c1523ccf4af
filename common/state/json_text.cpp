#include "common/state/json_text.hpp"

#include <algorithm>
#include <limits>

namespace gdrcheck::state {
namespace {

bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

}  // namespace

bool is_plain_text(std::string_view text, std::size_t longest) {
    return text.size() <= longest && std::all_of(text.begin(), text.end(), is_printable);
}

std::string plain_text(std::string_view text, std::size_t longest) {
    std::string plain(text.substr(0, longest));
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return !is_printable(c); }, '?');
    return plain;
}

Result<nlohmann::json> parse_object(std::string_view text) {
    // Without exceptions and without a callback; what is no JSON comes back as "discarded".
    auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded() || !json.is_object()) return fail("is no JSON object");
    if (number_of(json, "schema", 1, 1) != 1) return fail("has another schema than 1");
    return json;
}

std::optional<std::string> text_of(const nlohmann::json& object, const char* key, std::size_t longest) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    const auto& text = found->get_ref<const std::string&>();
    if (!is_plain_text(text, longest)) return std::nullopt;
    return text;
}

std::optional<std::int64_t> number_of(const nlohmann::json& object, const char* key, std::int64_t least,
                                      std::int64_t most) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    if (found->is_number_unsigned() &&
        found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    const auto value = found->get<std::int64_t>();
    if (value < least || value > most) return std::nullopt;
    return value;
}

std::optional<bool> truth_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_boolean()) return std::nullopt;
    return found->get<bool>();
}

}  // namespace gdrcheck::state
