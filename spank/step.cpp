#include "spank/step.hpp"

#include <time.h>

#include <cstdlib>

#include "common/state/job_file.hpp"
#include "spank/helper.hpp"
#include "spank/job_step.hpp"
#include "spank/options.hpp"

namespace gdrcheck::spank {
namespace {

/// The prolog runs right before the first step; what is older may no longer be true.
constexpr std::int64_t freshness_s = 30;

/// The helper answers or gives up after 3 s of reading and a second look; this is for one that cannot even do that.
constexpr int helper_deadline_ms = 5000;

bool is_fresh(const state::JobRecord& record, const JobStep& step) {
    const std::int64_t age = ::time(nullptr) - record.written_at_s;
    return record.uid == step.uid && age >= 0 && age <= freshness_s;
}

/// As slurmd was told it: slurmstepd's own environment is slurmd's, not the user's.
std::string slurm_configuration() {
    const char* const path = std::getenv("SLURM_CONF");  // NOLINT(concurrency-mt-unsafe)
    return path != nullptr && path[0] == '/' ? std::string{path} : std::string{};
}

}  // namespace

void prepare_step(spank_t handle, const Arguments& arguments) {
    const auto mode = requested_mode();
    if (!wants_report(mode)) return;
    const auto step = read_job_step(handle);
    if (!step || step->is_extern()) return;
    const auto record = state::read_job({.directory = arguments.run_directory}, step->job_id);
    if (record && is_fresh(*record, *step)) return;
    const std::string node = read_node_name();
    if (node.empty()) {
        slurm_error("gdrcheck: Slurm's name of this node is not known, no check");
        return;
    }
    const char* const why = run_helper({.program = arguments.helper,
                                        .job_id = step->job_id,
                                        .uid = step->uid,
                                        .nodes = step->nodes,
                                        .mode = to_string(*mode),
                                        .node_name = node,
                                        .slurm_configuration = slurm_configuration(),
                                        .deadline_ms = helper_deadline_ms});
    if (why != nullptr) slurm_error("gdrcheck: %s: %s", arguments.helper.c_str(), why);
}

}  // namespace gdrcheck::spank
