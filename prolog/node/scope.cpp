#include "prolog/node/scope.hpp"

namespace gdrcheck::node {

Scope scope_of(const JobEnvironment& job, const Policy& policy) {
    if (policy.policy.on_fail == OnFail::off) return {};
    if (job.mode == state::Mode::off && policy.policy.allow_opt_out) return {};
    const bool has_gpus = !job.gpus.empty() || policy.scope.no_gres_all;
    const bool enough_nodes = job.nodes && static_cast<std::int64_t>(*job.nodes) >= policy.scope.min_nodes;
    const bool asked = job.mode == state::Mode::report || job.mode == state::Mode::enforce;
    const auto when = policy.env.when;

    Scope scope;
    scope.acts = has_gpus && enough_nodes;
    scope.looks = scope.acts || asked || (has_gpus && when == ExportWhen::always);
    scope.variables = has_gpus && job.mode != state::Mode::off && when != ExportWhen::off &&
                      (enough_nodes || when == ExportWhen::always || when == ExportWhen::option);
    return scope;
}

}  // namespace gdrcheck::node
