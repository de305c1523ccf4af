// Starts the program that checks a node within an allocation, and waits for it, but never for long.
#pragma once

#include <cstdint>
#include <string>

namespace gdrcheck::spank {

struct HelperCall {
    std::string program;
    std::uint32_t job_id = 0;
    std::uint32_t uid = 0;    ///< of the job's user
    std::uint32_t nodes = 0;  ///< of the job
    std::string mode;         ///< that the user gave
    std::string node_name;
    std::string slurm_configuration;  ///< gdrcheck.toml lies beside it; empty: not known
    int deadline_ms = 0;
};

/// nullptr, or why there is no answer. The child gets /dev/null, no other descriptor, no signal mask, its own session
/// and no environment but what is said here, under the names that a prolog knows.
[[nodiscard]] const char* run_helper(const HelperCall& call);

}  // namespace gdrcheck::spank
