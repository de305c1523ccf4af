#include "spank/job_step.hpp"

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/base/text.hpp"

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
        static_cast<int>(spank_get_item(handle, S_JOB_UID, &uid)) != 0 ||
        static_cast<int>(spank_get_item(handle, S_JOB_NNODES, &step.nodes)) != 0 || step.job_id == 0) {
        return std::nullopt;
    }
    step.uid = uid;
    // Slurm counts the step's nodes here, and srun tells the job's in the environment. A user who tells otherwise
    // changes only what the own job is told.
    std::array<char, 16> text{};
    if (static_cast<int>(spank_getenv(handle, "SLURM_JOB_NUM_NODES", text.data(), static_cast<int>(text.size()))) ==
        0) {
        const std::string_view digits{text.data(), ::strnlen(text.data(), text.size())};
        step.nodes = std::max(step.nodes, parse_number<std::uint32_t>(digits).value_or(0));
    }
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
