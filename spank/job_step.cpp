#include "spank/job_step.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gdrcheck::spank {
namespace {

constexpr std::size_t longest_node_name = 255;

/// Also what keeps a file name or an environment made from it harmless.
bool is_node_name(std::string_view name) {
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !name.empty() && name.size() <= longest_node_name && name.find("..") == std::string_view::npos &&
           std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

std::optional<JobStep> read_job_step(spank_t handle) {
    JobStep step;
    uid_t uid = 0;
    if (static_cast<int>(spank_get_item(handle, S_JOB_ID, &step.job_id)) != 0 ||
        static_cast<int>(spank_get_item(handle, S_JOB_STEPID, &step.step_id)) != 0 ||
        static_cast<int>(spank_get_item(handle, S_JOB_UID, &uid)) != 0 || step.job_id == 0) {
        return std::nullopt;
    }
    step.uid = uid;
    return step;
}

std::string read_node_name() {
    // slurmd puts it there for slurmstepd; the job's environment is another one and the user's.
    const char* const name = std::getenv("SLURMD_NODENAME");  // NOLINT(concurrency-mt-unsafe)
    return name != nullptr && is_node_name(name) ? std::string{name} : std::string{};
}

std::optional<int> read_local_task(spank_t handle) {
    int task = -1;
    if (static_cast<int>(spank_get_item(handle, S_TASK_ID, &task)) != 0 || task < 0) return std::nullopt;
    return task;
}

}  // namespace gdrcheck::spank
