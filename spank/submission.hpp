// In srun, sbatch and salloc, as the user, before anything has been sent to slurmctld.
#pragma once

#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

/// Hands the mode to the prolog of the job that is about to be submitted.
void announce_mode(spank_t handle);

}  // namespace gdrcheck::spank
