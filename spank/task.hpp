// In the task's own process, as the user, right before the user's program takes it over.
#pragma once

#include "spank/arguments.hpp"
#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

/// Tells, exports, or ends the task. Does not return where the user wants no task on a node that fails.
void prepare_task(spank_t handle, const Arguments& arguments);

}  // namespace gdrcheck::spank
