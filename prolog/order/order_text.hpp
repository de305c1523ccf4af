// What the programs on the node and gdrcheck-slurm say to each other: lines of KEY=VALUE between a head and "end".
// Both ends are of one release; a reader that knows another version, misses a key or finds one too many refuses all.
#pragma once

#include <string>
#include <string_view>

#include "common/act/act.hpp"
#include "common/base/result.hpp"

namespace gdrcheck::order {

inline constexpr std::size_t largest_text = 4096;  ///< fits a pipe: who writes it never waits

/// What gdrcheck-slurm is asked to do, and how long Slurm may take to answer it.
struct Request {
    act::Order order;
    int rpc_ms = 4000;

    bool operator==(const Request&) const = default;
};

struct Answer {
    int exit_code = 0;  ///< of the prolog or epilog
    act::MarkerChange marker = act::MarkerChange::keep;
    bool settled = true;  ///< the race for the budget is decided
    std::string why;      ///< one clause for the log

    bool operator==(const Answer&) const = default;
};

[[nodiscard]] std::string to_text(const Request& request);
[[nodiscard]] Result<Request> parse_request(std::string_view text);

[[nodiscard]] std::string to_text(const Answer& answer);
[[nodiscard]] Result<Answer> parse_answer(std::string_view text);

/// A node name as Slurm accepts it and a path may hold it.
[[nodiscard]] bool is_node_name(std::string_view name);

/// `text` as printable ASCII of at most `longest` bytes.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t longest = 400);

/// How long the jitter and the settling may add to the RPCs.
inline constexpr int longest_jitter_ms = 500;
inline constexpr int settle_ms = 1100;  ///< slurmctld stamps reasons in whole seconds

}  // namespace gdrcheck::order
