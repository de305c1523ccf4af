// The only code that writes to the terminal. Result on stdout, diagnosis on stderr.
#pragma once

#include <string>
#include <string_view>

#include "common/report/report.hpp"

namespace gdrcheck::cli {

/// Exit codes of the contract; a verdict has its own, see exit_code().
inline constexpr int exit_ok = 0;
inline constexpr int exit_usage = 2;
inline constexpr int exit_unknown = 3;

/// Descriptors 0 to 2 are open from here on: a file opened later must not be taken for stdout.
void hold_standard_descriptors();

/// Colour only on a terminal and never with NO_COLOR; the terminal's width, 80 where there is none.
[[nodiscard]] report::Style terminal_style();

/// Writes all of `text` to stdout. `exit_code` when that worked; exit_unknown, with a word on stderr, when it did not:
/// a verdict that never arrived is none. A reader that left early (a closed pipe) is no news to anybody.
[[nodiscard]] int print_result(std::string_view text, int exit_code);

/// "gdrcheck: TEXT" on stderr, control characters escaped.
void say(std::string_view text);

}  // namespace gdrcheck::cli
