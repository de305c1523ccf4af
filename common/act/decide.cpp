#include "common/act/decide.hpp"

#include <fmt/core.h>

namespace gdrcheck::act {
namespace {

constexpr std::string_view prefix = "gdr: ";

/// What the job's user reads: the reason in our own line's form.
std::string message(const Order& order, const std::string& outcome) {
    std::string_view reason = order.reason;
    if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
    return fmt::format("gdrcheck: {}: {}; {}", order.node, reason, outcome);
}

void add_notification(Action& action, const Order& order, const std::string& outcome) {
    if (!order.manners.notify || order.job_id == 0 || order.program != Program::prolog) return;
    action.message = message(order, outcome);
    action.steps.push_back(Step::notify);
}

/// The job runs on; people are told.
Action tell(const Order& order, const NodeView& node, const JobView& job, const std::string& why) {
    Action action;
    action.why = "not drained: " + why;
    action.marker = MarkerChange::forget;
    add_comment(action, node, order.reason, action.why);
    if (!job.gone && !job.ended) add_notification(action, order, "the job runs all the same (" + action.why + ")");
    return action;
}

/// The node is drained, by us or another: the job must not start here.
void add_job(Action& action, const Order& order, const JobView& job) {
    if (order.program != Program::prolog) return;
    if (job.gone || job.ended) {
        // Another node of the job has seen to it, or the job was over first: exit 1 would put that one back and hold
        // it.
        action.exit_code = job.requeued ? 1 : 0;
        return;
    }
    const bool goes_back = job.batch && job.requeueable;
    // On 22.05, exit 1 for a job that is not requeued makes slurmd report the failure again and again.
    action.exit_code = goes_back ? 1 : 0;
    if (!goes_back) {
        add_notification(action, order, "node drained, job cancelled");
        action.steps.push_back(Step::kill);
        return;
    }
    if (job.restarts >= static_cast<std::uint32_t>(std::max(0, order.manners.max_requeues))) {
        add_notification(action, order, fmt::format("node drained, job held after {} restarts", job.restarts));
        return;  // exit code 1 alone: Slurm holds the job
    }
    if (!order.manners.requeue) {
        add_notification(action, order, "node drained, job held");
        return;
    }
    add_notification(action, order, "node drained, job requeued");
    action.steps.push_back(Step::requeue);
}

Action decide_drain(const Order& order, const NodeView& node, const JobView& job,
                    const std::optional<ClusterView>& cluster) {
    Action action;
    action.reason = order.reason;
    if (node.drained) {
        const bool ours = !order.own.reason.empty() && node.reason == order.own.reason;
        action.why = ours ? "drained by us already" : "drained already";
        action.marker = ours ? MarkerChange::keep : MarkerChange::forget;
        if (ours && node.reason != order.reason) {
            action.steps.push_back(Step::drain);
            action.marker = MarkerChange::told;
            action.why = "reason of our own drain refreshed";
        }
        if (!ours) add_comment(action, node, order.reason, "drained already");
        add_job(action, order, job);
        return action;
    }
    if (cluster && is_full(order, *cluster)) {
        const auto limit = budget(order.manners, cluster->nodes).value_or(0);
        return tell(order, node, job, fmt::format("budget of {} {} is full", limit, limit == 1 ? "node" : "nodes"));
    }
    action.why = "drained";
    if (may_replace(node.reason)) {
        action.steps = {Step::drain};
        if (cluster) action.steps.push_back(Step::settle);
        action.marker = MarkerChange::told;
    } else {
        action.steps = {Step::drain_keeping_reason};
        action.marker = MarkerChange::forget;
        add_comment(action, node, order.reason, "drained under the reason that stood there");
    }
    add_job(action, order, job);
    return action;
}

}  // namespace

bool may_replace(std::string_view text) {
    // "Not responding" is Slurm's own and outlives the state it tells of
    return text.empty() || text.starts_with("gdr:") || text == "Not responding";
}

void add_comment(Action& action, const NodeView& node, const std::string& reason, const std::string& note) {
    if (!node.comment.empty() && !node.comment.starts_with("gdr:")) return;
    auto comment = fmt::format("{} [{}]", reason, note);
    if (comment == node.comment) return;
    action.comment = std::move(comment);
    action.steps.push_back(Step::comment);
}

bool needs_count(const Order& order, const NodeView& node) {
    if (!order.manners.budget_percent && !order.manners.budget_nodes) return false;
    if (order.intent == Intent::drain) return !node.drained;
    return order.intent == Intent::mend && !order.own.settled && node.drained && node.reason == order.own.reason;
}

Action decide(const Order& order, const NodeView& node, const JobView& job, const std::optional<ClusterView>& cluster) {
    switch (order.intent) {
        case Intent::nothing:
            break;
        case Intent::tell:
            return tell(order, node, job, order.why_not_drained);
        case Intent::drain:
            return decide_drain(order, node, job, cluster);
        case Intent::mend:
            return decide_health(order, node, cluster);
    }
    return {};
}

Action give_way(const Order& order, const NodeView& node, std::size_t nodes) {
    const auto limit = budget(order.manners, nodes).value_or(0);
    auto action = tell(order, node, {}, fmt::format("budget of {} {} is full", limit, limit == 1 ? "node" : "nodes"));
    action.steps.insert(action.steps.begin(), Step::resume);
    return action;
}

}  // namespace gdrcheck::act
