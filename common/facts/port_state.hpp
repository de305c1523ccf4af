// The names of port states, as the kernel and ibstat write them.
#pragma once

#include "common/facts/node_facts.hpp"

namespace gdrcheck {

/// "ACTIVE", "DOWN", …
[[nodiscard]] const char* to_string(PortState state);

}  // namespace gdrcheck
