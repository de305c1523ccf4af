// Which jobs are looked at, and for which of them anything may be done.
#pragma once

#include "common/policy/policy.hpp"
#include "prolog/node/job_environment.hpp"

namespace gdrcheck::node {

struct Scope {
    bool looks = false;      ///< the node is judged and the job file written
    bool acts = false;       ///< a fail may drain: multi-node GPU jobs only, whatever the user asked for
    bool variables = false;  ///< the job file holds the environment
};

[[nodiscard]] Scope scope_of(const JobEnvironment& job, const Policy& policy);

}  // namespace gdrcheck::node
