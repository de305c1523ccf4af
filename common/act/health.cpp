#include <fmt/core.h>

#include "common/act/decide.hpp"

namespace gdrcheck::act {
namespace {

constexpr std::string_view slurms_reason = "Prolog error";
constexpr std::int64_t replace_within_s = 3600;
constexpr int most_resumes_a_day = 3;
constexpr std::uint32_t our_uid = 0;  ///< slurmctld notes who set a reason; our programs run as root

Action nothing(std::string why) {
    Action action;
    action.why = std::move(why);
    return action;
}

Action forget(std::string why) {
    auto action = nothing(std::move(why));
    action.marker = MarkerChange::forget;
    return action;
}

bool is_fresh(const Order& order) {
    const auto age = order.now_s - order.own.time_s;
    return age >= 0 && age < replace_within_s;
}

/// Slurm drained the node because our prolog could tell slurmctld nothing: it gets the reason it should have had.
Action replace_slurms_reason(const Order& order) {
    auto action = nothing("\"Prolog error\" replaced by our reason");
    action.steps = {Step::drain};
    action.reason = order.own.reason;
    action.marker = MarkerChange::told;
    return action;
}

}  // namespace

Action decide_health(const Order& order, const NodeView& node, const std::optional<ClusterView>& cluster) {
    const auto& own = order.own;
    if (own.reason.empty()) return nothing("no drain of ours");
    if (!node.drained) {
        // slurmctld may not have heard of the failed prolog yet
        if (!own.told && is_fresh(order)) return nothing("not drained yet");
        return forget("somebody resumed the node");
    }
    if (node.reason == slurms_reason && !own.told) {
        return is_fresh(order) ? replace_slurms_reason(order) : forget("our word on \"Prolog error\" is too old");
    }
    if (node.reason != own.reason) return forget("the reason is not ours");
    if (node.reason_uid != our_uid) return forget("our reason was set by somebody else");
    if (cluster && lost_race(order, *cluster)) return give_way(order, node, cluster->nodes);
    if (!order.well) {
        auto action = nothing("still not well");
        if (cluster || !own.told) action.marker = MarkerChange::told;
        return action;
    }
    if (node.down) return nothing("well, but the node is down");
    if (!order.manners.resume) return nothing("well, but [drain] resume = false");
    if (own.resumes_today >= most_resumes_a_day) {
        auto action = nothing("well, but resumed often enough today");
        add_comment(action, node, own.reason, fmt::format("well again; resumed {} times today", own.resumes_today));
        return action;
    }
    auto action = nothing("resumed");
    action.steps = {Step::resume};
    action.marker = MarkerChange::resumed;
    return action;
}

}  // namespace gdrcheck::act
