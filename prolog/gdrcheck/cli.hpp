// The command line: which command, which options, and what was meant when neither is known.
#pragma once

#include "prolog/gdrcheck/commands.hpp"

namespace gdrcheck::cli {

/// Parses and runs; the exit code.
[[nodiscard]] int run_command_line(int argc, char** argv, Clock::time_point start);

}  // namespace gdrcheck::cli
