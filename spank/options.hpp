// --gdr-check[=report|enforce] and --no-gdr-check.
#pragma once

#include <optional>

#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

enum class Mode { report, enforce, off };

/// The name that the prolog knows the mode by.
[[nodiscard]] const char* to_string(Mode mode);

/// nullopt for a word that is no mode. Slurm hands over an omitted argument as NULL, "" or "(null)", depending on the
/// process: all three are --gdr-check alone.
[[nodiscard]] std::optional<Mode> parse_mode(const char* argument);

/// To be called from slurm_spank_init in every context, else the option is unknown where it is missing.
void register_options(spank_t handle);

/// What the user asked for in this process; the last option wins. nullopt: nothing.
[[nodiscard]] std::optional<Mode> requested_mode();

/// The user has asked to be told.
[[nodiscard]] inline bool wants_report(std::optional<Mode> mode) {
    return mode == Mode::report || mode == Mode::enforce;
}

}  // namespace gdrcheck::spank
