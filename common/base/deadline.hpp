// Work that may hang (a wedged driver, a dead device) in a process of its own that cannot take us with it.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.hpp"

namespace gdrcheck {

/// Runs `work` in a forked worker and returns what it returned, at most 64 MiB. The worker leaves the session, has
/// /dev/null for 0, 1 and 2 and no other descriptor of ours: whoever waits for our output does not wait for it, and
/// `work` must open what it reads. It dies with the thread that called. An error tells a worker that gave no answer in
/// time (and the state it was left in, "D" when the kernel holds it), was killed by a signal, or ended without answer.
[[nodiscard]] Result<std::string> run_with_deadline(const std::function<std::string()>& work, int deadline_ms);

}  // namespace gdrcheck
