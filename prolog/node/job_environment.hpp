// What slurmd tells a prolog or epilog through its environment. SPANK_* holds what the job's user wrote, and so may the
// rest: nothing is taken that does not have the one form it may have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/state/job_file.hpp"

namespace gdrcheck::node {

/// The value of an environment variable; nullptr: not set.
using Lookup = std::function<const char*(const char* name)>;

struct JobEnvironment {
    std::string node;
    std::uint32_t job_id = 0;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> nodes;  ///< of the job; nullopt: slurmd did not tell
    std::string gpus;                    ///< device minors with commas; empty: the job has none
    state::Mode mode = state::Mode::none;
};

/// Error: the node's name or the job's number is not there; nothing can be done without them.
[[nodiscard]] Result<JobEnvironment> read_job_environment(const Lookup& lookup);

/// SLURMD_NODENAME, which is the whole environment of a health program on 22.05.
[[nodiscard]] Result<std::string> read_node_name(const Lookup& lookup);

/// How many nodes a Slurm host list names, without expanding it; nullopt: no host list, or an absurd one.
[[nodiscard]] std::optional<std::uint32_t> count_hosts(std::string_view list);

}  // namespace gdrcheck::node
