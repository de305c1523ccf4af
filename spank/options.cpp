#include "spank/options.hpp"

#include <array>
#include <string_view>

#include "common/base/text.hpp"

namespace gdrcheck::spank {
namespace {

enum OptionValue : int { gdr_check = 1, no_gdr_check = 2 };

// Slurm calls back without a handle, and one process serves one job step: there is one such value in it.
std::optional<Mode> requested;

/// Slurm 22.05 calls this twice for one option in slurmstepd: setting a value is safe to repeat.
int on_option(int value, const char* argument, int remote) noexcept {
    try {
        if (value == no_gdr_check) {
            requested = Mode::off;
            return 0;
        }
        const auto mode = parse_mode(argument);
        if (mode) {
            requested = mode;
            return 0;
        }
        // On the node an error would fail the step, in some releases without a word to the user.
        if (remote != 0) return 0;
        slurm_error("gdrcheck: --gdr-check=%s: unknown mode; use --gdr-check=report or --gdr-check=enforce",
                    quoted(argument).c_str());
        return -1;
    } catch (...) {
        return 0;
    }
}

// Slurm keeps pointers to these.
char gdr_check_name[] = "gdr-check";
char gdr_check_argument[] = "report|enforce";
char gdr_check_usage[] =
    "tell on stderr, per node, whether NCCL will have GPUDirect RDMA; enforce: do not start tasks on a node where it "
    "will not";
char no_gdr_check_name[] = "no-gdr-check";
char no_gdr_check_usage[] = "no GPUDirect RDMA check and no variables from it, where the site allows that";

}  // namespace

const char* to_string(Mode mode) {
    switch (mode) {
        case Mode::report:
            return "report";
        case Mode::enforce:
            return "enforce";
        case Mode::off:
            return "off";
    }
    return "report";
}

std::optional<Mode> parse_mode(const char* argument) {
    const std::string_view word = argument == nullptr ? std::string_view{} : std::string_view{argument};
    if (word.empty() || word == "(null)" || word == "report") return Mode::report;
    if (word == "enforce") return Mode::enforce;
    return std::nullopt;
}

void register_options(spank_t handle) {
    static std::array<spank_option, 2> options{{
        {gdr_check_name, gdr_check_argument, gdr_check_usage, 2, gdr_check, on_option},
        {no_gdr_check_name, nullptr, no_gdr_check_usage, 0, no_gdr_check, on_option},
    }};
    for (auto& option : options) {
        const int error = static_cast<int>(spank_option_register(handle, &option));
        if (error != 0) slurm_debug("gdrcheck: option --%s not registered: error %d", option.name, error);
    }
}

std::optional<Mode> requested_mode() {
    return requested;
}

}  // namespace gdrcheck::spank
