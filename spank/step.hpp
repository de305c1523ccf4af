// In slurmstepd, as root, before it becomes the user.
#pragma once

#include "spank/arguments.hpp"
#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

/// For a user who asks with --gdr-check: has the node checked unless the prolog did so just now.
void prepare_step(spank_t handle, const Arguments& arguments);

}  // namespace gdrcheck::spank
