// From the tree of a configuration file to the policy of one node.
#pragma once

#include <string>
#include <string_view>

#include "common/policy/document.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck::config {

/// Checks all of the file, overrides for other nodes included, and applies what is for `host`.
[[nodiscard]] Result<EffectivePolicy> apply_document(const Node& document, const std::string& name,
                                                     std::string_view host);

/// "FILE:LINE:COLUMN: text"
[[nodiscard]] tl::unexpected<Error> error_at(const std::string& name, Position at, std::string_view text);

}  // namespace gdrcheck::config
