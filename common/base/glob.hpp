// Shell-like globs over names: *, ?, [a-z], [!x].
#pragma once

#include <string_view>

namespace gdrcheck {

/// The pattern takes the whole name. Work is at most the length of one times the other.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view name);

/// Where the set that opens at `open` ("[a-z]", "[!x]", "[]]") has its closing bracket; npos: nowhere.
[[nodiscard]] std::size_t set_end(std::string_view pattern, std::size_t open);

}  // namespace gdrcheck
