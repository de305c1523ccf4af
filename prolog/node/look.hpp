// Looks at this node for one job: what the worker behind the deadline does, and what it hands back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/act/act.hpp"
#include "common/base/result.hpp"
#include "common/policy/policy.hpp"
#include "common/state/job_file.hpp"

namespace gdrcheck::node {

struct LookRequest {
    const Policy& policy;
    state::JobRecord job;  ///< number, user, node, mode and export are kept; the rest is filled in
    std::string gpus;      ///< device minors of the job; empty: every GPU
    bool variables = false;
    bool twice = true;  ///< look again before saying that draining is the answer
};

struct Look {
    state::JobRecord job;
    act::Found found;
};

/// Behind [policy] deadline_ms; whatever goes wrong is in found.own_failure, and the record says so to the user.
[[nodiscard]] Look look(const LookRequest& request);

/// What crosses from the worker to its parent.
[[nodiscard]] std::string to_text(const Look& look);
[[nodiscard]] Result<Look> parse_look(std::string_view text);

}  // namespace gdrcheck::node
