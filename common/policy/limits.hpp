// What a file may cost before it is parsed.
#pragma once

#include <optional>
#include <string_view>

#include "common/policy/keys.hpp"

namespace gdrcheck::config {

/// Too big a file, or a key of too many parts: a table per part, and the parser's tables are freed by recursion.
[[nodiscard]] std::optional<Complaint> over_limits(std::string_view text);

}  // namespace gdrcheck::config
