// What is done about a verdict: the manners towards Slurm, as functions of plain values. Nothing is done here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/policy/policy.hpp"
#include "common/verdict/verdict.hpp"

namespace gdrcheck::act {

enum class Program { prolog, epilog, health };

/// How a node was found, as far as acting goes.
struct Found {
    NodeVerdict verdict = NodeVerdict::unknown;
    bool drain = false;       ///< draining answers it
    std::string reason;       ///< "gdr: …", also of a fail that does not drain
    std::string own_failure;  ///< gdrcheck's own, why it could not judge; empty: it could
};

enum class Intent {
    nothing,  ///< Slurm is not asked
    tell,     ///< the node's comment and the job's user
    drain,
    mend,  ///< the health program: resume our drain, or give it its reason
};

struct Wish {
    Intent intent = Intent::nothing;
    std::string reason;           ///< "gdr: …"
    std::string why_not_drained;  ///< for `tell`
};

/// What policy wants done in a prolog or epilog. `in_scope`: false for a job that is looked at only because its user
/// asked: a user's option never causes a drain.
[[nodiscard]] Wish wish(const Found& found, const Policy& policy, bool in_scope);

/// A node on which GDR works again: only what was judged and found good.
[[nodiscard]] bool is_well(const Found& found);

// --- with Slurm's answers ------------------------------------------------------------------------------------------

/// What policy says about manners, as it travels to the program that talks to Slurm.
struct Manners {
    bool requeue = true;
    bool notify = true;
    bool resume = true;
    std::optional<int> budget_percent = 10;
    std::optional<int> budget_nodes;
    int max_requeues = 3;

    bool operator==(const Manners&) const = default;
};
[[nodiscard]] Manners manners_of(const Policy& policy);

/// The marker of our own drain, see common/state/marker.hpp.
struct OwnDrain {
    std::string reason;  ///< empty: none
    std::int64_t time_s = 0;
    bool told = false;
    bool settled = true;
    int resumes_today = 0;

    bool operator==(const OwnDrain&) const = default;
};

struct Order {
    Program program = Program::prolog;
    Intent intent = Intent::nothing;
    std::string node;
    std::uint32_t job_id = 0;  ///< 0: none
    std::string reason;
    std::string why_not_drained;
    bool well = false;  ///< for the health program: the node was judged and found good
    std::int64_t now_s = 0;
    Manners manners;
    OwnDrain own;

    bool operator==(const Order&) const = default;
};

struct NodeView {
    bool drained = false;  ///< DRAIN or FAIL flag
    bool down = false;
    std::string reason;
    std::optional<std::uint32_t> reason_uid;
    std::string comment;
};

struct JobView {
    bool gone = false;      ///< no such job any more
    bool ended = false;     ///< not running here any more: requeued, cancelled, completed
    bool requeued = false;  ///< waits in the queue again
    bool batch = false;     ///< only batch jobs can be requeued
    bool requeueable = false;
    std::uint32_t restarts = 0;
};

struct ClusterView {
    struct Ours {
        std::string name;
        std::int64_t reason_time_s = 0;
    };
    std::size_t nodes = 0;
    std::vector<Ours> ours;  ///< nodes whose reason begins with "gdr:"
};

enum class Step {
    drain,                 ///< with our reason
    drain_keeping_reason,  ///< the node carries another's reason without being drained
    settle,                ///< ask `lost_race` once everyone who raced is there; if so, carry out `give_way` instead
    comment,
    notify,
    requeue,
    kill,
    resume,
};

enum class MarkerChange { keep, forget, told, resumed };

struct Action {
    std::vector<Step> steps;  ///< in this order
    int exit_code = 0;        ///< of the prolog or epilog
    std::string reason;
    std::string comment;
    std::string message;  ///< for the job's user
    MarkerChange marker = MarkerChange::keep;
    std::string why;  ///< one clause for the log
};

/// Nodes that may be drained by us at the same time; nullopt: no limit.
[[nodiscard]] std::optional<std::size_t> budget(const Manners& manners, std::size_t nodes);

/// True when deciding needs the whole node list: a drain that would be a new one.
[[nodiscard]] bool needs_count(const Order& order, const NodeView& node);

/// `cluster`: only where needs_count.
[[nodiscard]] Action decide(const Order& order, const NodeView& node, const JobView& job,
                            const std::optional<ClusterView>& cluster);

/// After our drain, when every drain that can rank before it is in the list: is this node one too many? All ask the
/// same question of the same ranking by (time of the reason, name), so exactly the budget stays.
[[nodiscard]] bool lost_race(const Order& order, const ClusterView& cluster);
[[nodiscard]] Action give_way(const Order& order, const NodeView& node, std::size_t nodes);

/// Exit code when Slurm was asked for `intent` and gave no usable answer: slurmctld away, libslurm missing or crashed.
[[nodiscard]] int exit_code_without_slurm(Program program, Intent intent);

}  // namespace gdrcheck::act
