// gdrcheck-prolog: Slurm's Prolog. Judges this node for the job, leaves the job file, and on a fail that drains has
// gdrcheck-slurm act. Exit code 0: the job may start here; 1: Slurm must not start it.
// With --step it is the plugin's helper in an allocation whose prolog ran long ago: the same, without any act.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "prolog/node/errand.hpp"
#include "prolog/node/look.hpp"
#include "prolog/node/scope.hpp"

namespace {

using namespace gdrcheck;
using namespace gdrcheck::node;

const char* from_environment(const char* name) {
    return std::getenv(name);
}

/// gdrcheck's own troubles never stop a job.
int give_up(const Log& log, const Error& error) {
    log.say(Level::error, error.what);
    std::fprintf(stderr, "gdrcheck-prolog: %s\n", error.what.c_str());
    return 0;
}

state::JobRecord new_record(const JobEnvironment& job) {
    state::JobRecord record;
    record.job_id = job.job_id;
    record.uid = job.uid.value_or(0);
    record.node = job.node;
    record.mode = job.mode;
    record.verdict = to_string(NodeVerdict::unknown);
    record.written_at_s = now_s();
    return record;
}

void write(const Places& places, const Log& log, const state::JobRecord& record) {
    if (const auto written = state::write_job(places.run, record); !written)
        log.say(Level::error, written.error().what);
}

/// Without a policy nobody knows what the administrator wants: the job starts, and whoever asks is told.
int without_policy(const JobEnvironment& job, const Places& places, const Log& log, const Error& error) {
    auto record = new_record(job);
    record.line = fmt::format("gdrcheck: {}: not judged: self: {}", job.node, error.what);
    if (!job.gpus.empty() || job.mode != state::Mode::none) write(places, log, record);
    return give_up(log, error);
}

void log_found(const Log& log, const Look& look) {
    if (!look.found.own_failure.empty()) return log.say(Level::error, "self: " + look.found.own_failure);
    if (look.found.verdict == NodeVerdict::fail) return log.say(Level::warning, look.job.line);
    if (look.found.verdict == NodeVerdict::unknown) log.say(Level::info, look.job.line);
}

Look look_for(const JobEnvironment& job, const Policy& policy, const Scope& scope, bool twice) {
    auto record = new_record(job);
    if (policy.env.when == ExportWhen::option) record.export_when = state::Export::option;
    return look(
        {.policy = policy, .job = std::move(record), .gpus = job.gpus, .variables = scope.variables, .twice = twice});
}

int run_prolog(const JobEnvironment& job, const Places& places, const Log& log) {
    const auto loaded = load_policy(places, job.node);
    if (!loaded) return without_policy(job, places, log, loaded.error());
    const auto& policy = loaded->policy;
    const auto scope = scope_of(job, policy);
    if (!scope.looks) return 0;
    const auto found = look_for(job, policy, scope, scope.acts);
    log_found(log, found);
    if (found.found.verdict != NodeVerdict::not_applicable) write(places, log, found.job);
    const Errand errand{places, policy, log, act::Program::prolog, job.node, job.job_id};
    const int exit_code = carry_out(errand, act::wish(found.found, policy, scope.acts));
    if (exit_code != 0) std::fprintf(stderr, "%s\n", found.job.line.c_str());
    return exit_code;
}

/// What the prolog left tells which GPUs the job has and whose it is; the plugin tells the rest.
void complete_from_record(JobEnvironment& job, const Places& places) {
    const auto earlier = state::read_job(places.run, job.job_id);
    if (!earlier) return;
    if (!job.uid) job.uid = earlier->uid;
    if (job.mode == state::Mode::none) job.mode = earlier->mode;
    if (!job.gpus.empty()) return;
    for (const auto& gpu : earlier->gpus) job.gpus += (job.gpus.empty() ? "" : ",") + gpu.bdf;
}

int run_step(JobEnvironment job, const Places& places, const Log& log) {
    complete_from_record(job, places);
    if (!job.uid) return give_up(log, Error{"SLURM_JOB_UID is not set, and no job file tells the job's user"});
    if (job.mode == state::Mode::none) job.mode = state::Mode::report;
    const auto loaded = load_policy(places, job.node);
    if (!loaded) return without_policy(job, places, log, loaded.error());
    const auto scope = scope_of(job, loaded->policy);
    if (!scope.looks) return 0;
    const auto found = look_for(job, loaded->policy, scope, true);
    log_found(log, found);
    if (found.found.verdict != NodeVerdict::not_applicable) write(places, log, found.job);
    return 0;
}

int run(int count, char** words) {
    Log log("gdrcheck-prolog");
    const bool step = count == 2 && std::string_view(words[1]) == "--step";
    if (count > 1 && !step) {
        std::fprintf(stderr,
                     "usage: gdrcheck-prolog, as Slurm's Prolog; gdrcheck-prolog --step, as the plugin's helper\n");
        return 0;
    }
    auto job = read_job_environment(from_environment);
    if (!job) return give_up(log, job.error());
    log.set_subject(fmt::format("{}: job {}", job->node, job->job_id));
    const auto places = find_places(job->node);
    if (!places) return give_up(log, places.error());
    return step ? run_step(std::move(*job), *places, log) : run_prolog(*job, *places, log);
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(count, words);
    } catch (...) {
        return 0;
    }
}
