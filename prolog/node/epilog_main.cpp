// gdrcheck-epilog: Slurm's Epilog. Removes the job file, looks again, drains. Always exit code 0: a failing epilog
// would put "Epilog error" where our reason should stand.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "prolog/node/errand.hpp"
#include "prolog/node/look.hpp"
#include "prolog/node/scope.hpp"

namespace {

using namespace gdrcheck;
using namespace gdrcheck::node;

void give_up(const Log& log, const Error& error) {
    log.say(Level::error, error.what);
    std::fprintf(stderr, "gdrcheck-epilog: %s\n", error.what.c_str());
}

void run() {
    Log log("gdrcheck-epilog");
    const auto job = read_job_environment([](const char* name) -> const char* { return std::getenv(name); });
    if (!job) return give_up(log, job.error());
    log.set_subject(fmt::format("{}: job {}", job->node, job->job_id));
    const auto places = find_places(job->node);
    if (!places) return give_up(log, places.error());
    if (const auto removed = state::remove_job(places->run, job->job_id); !removed)
        log.say(Level::error, removed.error().what);
    const auto loaded = load_policy(*places, job->node);
    if (!loaded) return give_up(log, loaded.error());
    const auto& policy = loaded->policy;
    if (!scope_of(*job, policy).acts) return;

    state::JobRecord record;
    record.job_id = job->job_id;
    record.node = job->node;
    const auto seen = look({.policy = policy, .job = std::move(record), .gpus = job->gpus});
    if (!seen.found.own_failure.empty()) log.say(Level::error, "self: " + seen.found.own_failure);
    if (seen.found.verdict == NodeVerdict::fail) log.say(Level::warning, seen.job.line);
    const Errand errand{*places, policy, log, act::Program::epilog, job->node, job->job_id};
    static_cast<void>(carry_out(errand, act::wish(seen.found, policy, true)));
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
