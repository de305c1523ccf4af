// Which known word was meant.
#pragma once

#include <string_view>
#include <vector>

namespace gdrcheck::config {

/// Insertions, deletions, changes and swaps of neighbours; looks at the first 64 characters.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// The candidate with the least distance, the first of equals; empty when there is none.
[[nodiscard]] std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& candidates);

/// The dotted path that is nearest: a right last part under the wrong table counts as near.
[[nodiscard]] std::string_view nearest_path(std::string_view path, const std::vector<std::string_view>& candidates);

}  // namespace gdrcheck::config
