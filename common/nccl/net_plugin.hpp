// Does NCCL use its own IB transport on this node, or a plugin whose rules are not ours?
#pragma once

#include <optional>
#include <string>

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/nccl/settings.hpp"

namespace gdrcheck::nccl {

/// Why NCCL's IB transport is not used; nullopt: it is.
[[nodiscard]] std::optional<std::string> plugin_reason(const NodeFacts& facts, const Options& options,
                                                       const Settings& settings);

}  // namespace gdrcheck::nccl
