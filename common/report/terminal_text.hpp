// What may reach a terminal: printable ASCII. Files, firmware and users write names; an escape sequence in one must not
// act.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdrcheck::report {

/// Other bytes as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// Appends `text` after `first`, continued after `rest` blanks, broken at blanks to `width` columns. A word wider than
/// the line is never cut: it is a path or a command to copy.
void append_wrapped(std::string& out, std::string_view text, std::string_view first, std::size_t rest,
                    std::size_t width);

enum class Colour { none, green, yellow, red, cyan, bold };

/// `text` in `colour` when `enabled`, which never changes how wide it is.
[[nodiscard]] std::string painted(std::string_view text, Colour colour, bool enabled);

}  // namespace gdrcheck::report
