// gdrcheck-health: Slurm's HealthCheckProgram. Without a drain of ours it ends at once; with one it looks at the node
// and has gdrcheck-slurm take the drain back when the node is well. Always exit code 0.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "prolog/node/errand.hpp"
#include "prolog/node/job_environment.hpp"
#include "prolog/node/look.hpp"

namespace {

using namespace gdrcheck;
using namespace gdrcheck::node;

void give_up(const Log& log, const Error& error) {
    log.say(Level::error, error.what);
    std::fprintf(stderr, "gdrcheck-health: %s\n", error.what.c_str());
}

void run() {
    Log log("gdrcheck-health");
    const auto node = read_node_name([](const char* name) -> const char* { return std::getenv(name); });
    if (!node) return give_up(log, node.error());
    log.set_subject(*node);
    const auto places = find_places(*node);
    if (!places) return give_up(log, places.error());
    const Policy no_policy_yet;
    const auto marker = standing_marker({*places, no_policy_yet, log, act::Program::health, *node});
    if (marker.reason.empty()) return;
    if (marker.node != *node)  // an image was copied from another node with its state
        return give_up(log, Error{fmt::format("the marker in {} is of node {}", places->state.directory, marker.node)});
    const auto loaded = load_policy(*places, *node);
    if (!loaded) return give_up(log, loaded.error());
    const auto& policy = loaded->policy;
    if (policy.policy.on_fail == OnFail::off) return;

    state::JobRecord record;
    record.node = *node;
    const auto seen =
        look({.policy = policy, .job = std::move(record), .gpus = {}, .variables = false, .twice = false});
    if (!seen.found.own_failure.empty()) log.say(Level::error, "self: " + seen.found.own_failure);
    mend({*places, policy, log, act::Program::health, *node}, marker, act::is_well(seen.found));
}

}  // namespace

int main() {
    try {
        run();
    } catch (...) {
        return 0;
    }
    return 0;
}
