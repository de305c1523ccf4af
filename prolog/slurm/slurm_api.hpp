// Slurm's C library behind plain values: the only file that knows slurm.h. Every call may end the process (fatal()) or
// hang; whoever calls sits behind a deadline in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "common/act/act.hpp"
#include "common/base/result.hpp"

namespace gdrcheck::slurm {

/// Reads slurm.conf. Without it 24.11 ends the process at the first call.
void initialize();

[[nodiscard]] Result<act::NodeView> load_node(const std::string& name);
[[nodiscard]] Result<act::ClusterView> load_cluster();

struct Job {
    act::JobView view;
    /// What requeue and kill take: the leader of a heterogeneous job; "19_1" for a task of an array, whose own number
    /// Slurm does not know (of all tasks but one) or takes for the whole array (of that one).
    std::string whole;
};
[[nodiscard]] Result<Job> load_job(std::uint32_t job_id);

/// An empty reason leaves the one that stands.
[[nodiscard]] Result<void> drain_node(const std::string& name, const std::string& reason);
[[nodiscard]] Result<void> resume_node(const std::string& name);
[[nodiscard]] Result<void> set_comment(const std::string& name, const std::string& comment);
[[nodiscard]] Result<void> notify_job(std::uint32_t job_id, const std::string& message);

enum class JobEnd {
    done,
    done_before,    ///< another node of the job was first
    not_supported,  ///< not a batch job, or --no-requeue
};
[[nodiscard]] Result<JobEnd> requeue_job(const std::string& whole);
[[nodiscard]] Result<JobEnd> kill_job(const std::string& whole);

}  // namespace gdrcheck::slurm
