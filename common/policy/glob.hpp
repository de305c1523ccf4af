// The shape of globs, for those who check them.
#pragma once

#include <string_view>

namespace gdrcheck {

/// Where the set that opens at `open` ("[a-z]", "[!x]", "[]]") has its closing bracket; npos: nowhere.
[[nodiscard]] std::size_t set_end(std::string_view pattern, std::size_t open);

}  // namespace gdrcheck
