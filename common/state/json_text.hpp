// Taking JSON apart without believing it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/base/result.hpp"

namespace gdrcheck::state {

/// Printable ASCII of at most `longest` bytes.
[[nodiscard]] bool is_plain_text(std::string_view text, std::size_t longest);

/// `text` made so: other bytes become '?', the end is cut.
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t longest);

/// An object with "schema": 1.
[[nodiscard]] Result<nlohmann::json> parse_object(std::string_view text);

[[nodiscard]] std::optional<std::string> text_of(const nlohmann::json& object, const char* key, std::size_t longest);
[[nodiscard]] std::optional<std::int64_t> number_of(const nlohmann::json& object, const char* key, std::int64_t least,
                                                    std::int64_t most);
[[nodiscard]] std::optional<bool> truth_of(const nlohmann::json& object, const char* key);

}  // namespace gdrcheck::state
