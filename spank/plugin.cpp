// The hooks that Slurm calls, and nothing else. No hook fails a step by what it returns (Slurm 22.05 reports success to
// the user when init fails on a node), and no exception leaves one: this code runs inside srun, slurmd and slurmstepd.
#include "spank/options.hpp"
#include "spank/slurm_api.hpp"
#include "spank/step.hpp"
#include "spank/submission.hpp"
#include "spank/task.hpp"

extern "C" {
// const objects have internal linkage in C++ unless declared before.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(gdrcheck, 1)
}

namespace {

/// All that a hook does, as noexcept as the hook itself would be if spank.h did not declare it otherwise.
template <class Body>
int guarded(const char* hook, Body body) noexcept {
    try {
        body();
    } catch (...) {
        slurm_error("gdrcheck: %s: out of memory or an error of its own; going on without it", hook);
    }
    return 0;
}

}  // namespace

extern "C" {

int slurm_spank_init(spank_t handle, int, char**) {
    return guarded("init", [&] { gdrcheck::spank::register_options(handle); });
}

int slurm_spank_init_post_opt(spank_t handle, int count, char** words) {
    return guarded("init_post_opt", [&] {
        switch (spank_context()) {
            case S_CTX_LOCAL:
            case S_CTX_ALLOCATOR:
                gdrcheck::spank::announce_mode(handle);
                break;
            case S_CTX_REMOTE:
                gdrcheck::spank::prepare_step(handle, gdrcheck::spank::parse_arguments(count, words));
                break;
            case S_CTX_SLURMD:
            case S_CTX_JOB_SCRIPT:
            case S_CTX_ERROR:
                break;
        }
    });
}

int slurm_spank_task_init(spank_t handle, int count, char** words) {
    return guarded("task_init", [&] {
        if (spank_context() != S_CTX_REMOTE) return;
        gdrcheck::spank::prepare_task(handle, gdrcheck::spank::parse_arguments(count, words));
    });
}

}  // extern "C"
