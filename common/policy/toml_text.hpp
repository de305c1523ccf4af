// Plain values in TOML's own writing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdrcheck::config {

[[nodiscard]] std::string toml_string(std::string_view text);
[[nodiscard]] std::string toml_list(const std::vector<std::string>& items);

/// No control character (C0, DEL, C1): fit for a terminal and for an environment.
[[nodiscard]] bool is_printable(std::string_view utf8);

}  // namespace gdrcheck::config
