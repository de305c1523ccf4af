#include "spank/submission.hpp"

#include "spank/options.hpp"

namespace gdrcheck::spank {

void announce_mode(spank_t handle) {
    const auto mode = requested_mode();
    if (!mode) return;
    // Slurm's own variables of the option do not reach a prolog when any other plugin has a job_prolog hook; the job
    // control variables do, as SPANK_GDRCHECK_MODE.
    const int error = static_cast<int>(spank_job_control_setenv(handle, "GDRCHECK_MODE", to_string(*mode), 1));
    if (error != 0) {
        slurm_error("gdrcheck: the prolog will not know of --%s: error %d",
                    *mode == Mode::off ? "no-gdr-check" : "gdr-check", error);
    }
}

}  // namespace gdrcheck::spank
