#include <fmt/core.h>

#include "common/act/act.hpp"

namespace gdrcheck::act {
namespace {

/// In the words of the configuration file, so that the comment tells which line to change.
constexpr const char* report_only = "on_fail = \"report\"";

Wish drain_or_tell(const std::string& reason, const Policy& policy, bool in_scope) {
    if (!in_scope) return {Intent::tell, reason, "the job is outside [scope]"};
    if (policy.policy.on_fail == OnFail::report) return {Intent::tell, reason, report_only};
    return {Intent::drain, reason, {}};
}

}  // namespace

Wish wish(const Found& found, const Policy& policy, bool in_scope) {
    if (policy.policy.on_fail == OnFail::off) return {};
    if (!found.own_failure.empty()) {
        if (!policy.policy.on_error_closed || !in_scope) return {};
        return drain_or_tell(fmt::format("gdr: self: {}; gdrcheck node", found.own_failure), policy, in_scope);
    }
    if (found.drain) return drain_or_tell(found.reason, policy, in_scope);
    if (found.verdict == NodeVerdict::fail) return {Intent::tell, found.reason, "a drain would not mend it"};
    return {};
}

bool is_well(const Found& found) {
    // not-applicable is not well: a node whose GPUs all fell off the bus looks like that
    return found.own_failure.empty() && !found.drain &&
           (found.verdict == NodeVerdict::ok || found.verdict == NodeVerdict::degraded);
}

Manners manners_of(const Policy& policy) {
    return {policy.drain.requeue,        policy.drain.notify,       policy.drain.resume,
            policy.drain.budget_percent, policy.drain.budget_nodes, policy.drain.max_requeues};
}

int exit_code_without_slurm(Program program, Intent intent) {
    // The job must not start where it would be slow; Slurm's own "Prolog error" is what is left to say.
    return program == Program::prolog && intent == Intent::drain ? 1 : 0;
}

}  // namespace gdrcheck::act
