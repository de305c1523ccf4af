// What Slurm says about the step that this slurmstepd or task belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

struct JobStep {
    std::uint32_t job_id = 0;
    std::uint32_t step_id = 0;
    std::uint32_t uid = 0;
    std::uint32_t nodes = 0;  ///< of the job, as far as it is known

    /// The step that PrologFlags=Contain keeps for the whole allocation: no task of the user's runs in it.
    [[nodiscard]] bool is_extern() const { return step_id == 0xfffffffcU; }
};

[[nodiscard]] std::optional<JobStep> read_job_step(spank_t handle);

/// Slurm's name of this node (several slurmd can share one host); empty when it is not known or no node name.
[[nodiscard]] std::string read_node_name();

/// The task's number on this node; nullopt outside a task.
[[nodiscard]] std::optional<int> read_local_task(spank_t handle);

}  // namespace gdrcheck::spank
