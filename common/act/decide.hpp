// Pieces of the decision that its files share.
#pragma once

#include <string_view>

#include "common/act/act.hpp"

namespace gdrcheck::act {

[[nodiscard]] bool is_full(const Order& order, const ClusterView& cluster);

/// A reason or comment that we wrote, or that is nobody's.
[[nodiscard]] bool may_replace(std::string_view text);

[[nodiscard]] Action decide_health(const Order& order, const NodeView& node, const std::optional<ClusterView>& cluster);

/// Puts the comment step into the action, if the node's comment is ours to change and does not say it already.
void add_comment(Action& action, const NodeView& node, const std::string& reason, const std::string& note);

}  // namespace gdrcheck::act
