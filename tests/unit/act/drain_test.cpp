#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/unit/act/situation.hpp"

using namespace gdrcheck::act;
using namespace gdrcheck::act::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace {

Action decide_on(const NodeView& node, const JobView& job, const Order& order = prolog_order()) {
    return decide(order, node, job, needs_count(order, node) ? std::optional(cluster(100)) : std::nullopt);
}

}  // namespace

TEST_CASE("what happens to the job on a node that fails") {
    struct Row {
        const char* job;
        JobView view;
        Steps steps;
        int exit_code;
        const char* told;
    };
    const std::vector<Row> table{
        {"sbatch", batch_job(), {Step::drain, Step::settle, Step::notify, Step::requeue}, 1, "job requeued"},
        {"sbatch, its third restart",
         batch_job(2),
         {Step::drain, Step::settle, Step::notify, Step::requeue},
         1,
         "job requeued"},
        {"sbatch that would go back a 4th time",
         batch_job(3),
         {Step::drain, Step::settle, Step::notify},
         1,
         "job held after 3 restarts"},
        {"sbatch --no-requeue",
         batch_job_without_requeue(),
         {Step::drain, Step::settle, Step::notify, Step::kill},
         0,
         "job cancelled"},
        {"srun, salloc", srun_job(), {Step::drain, Step::settle, Step::notify, Step::kill}, 0, "job cancelled"},
        {"sbatch that another node requeued",
         {.ended = true, .requeued = true, .batch = true, .requeueable = true},
         {Step::drain, Step::settle},
         1,
         ""},
        {"sbatch whose script is over",
         {.ended = true, .batch = true, .requeueable = true},
         {Step::drain, Step::settle},
         0,
         ""},
        {"srun that another node ended", {.ended = true}, {Step::drain, Step::settle}, 0, ""},
        {"a job slurmctld has forgotten", {.gone = true}, {Step::drain, Step::settle}, 0, ""},
    };
    for (const auto& row : table) {
        INFO(row.job);
        const auto action = decide_on({}, row.view);
        CHECK(action.steps == row.steps);
        CHECK(action.exit_code == row.exit_code);
        CHECK_THAT(action.message, EndsWith(row.told));
        CHECK(action.reason == our_reason);
        CHECK(action.marker == MarkerChange::told);
    }
}

TEST_CASE("the user reads which node, what was seen and what became of the job") {
    CHECK(decide_on({}, batch_job()).message ==
          "gdrcheck: n1: peermem-missing nvidia_peermem: no peer-memory client; node drained, job requeued");
}

TEST_CASE("with notify = false the user is told nothing") {
    auto order = prolog_order();
    order.manners.notify = false;
    CHECK(decide_on({}, srun_job(), order).steps == Steps{Step::drain, Step::settle, Step::kill});
}

TEST_CASE("with requeue = false a batch job is left to Slurm, which holds it") {
    auto order = prolog_order();
    order.manners.requeue = false;
    const auto action = decide_on({}, batch_job(), order);
    CHECK(action.steps == Steps{Step::drain, Step::settle, Step::notify});
    CHECK(action.exit_code == 1);
}

TEST_CASE("another's drain keeps its reason; the job is kept off the node all the same") {
    const auto action = decide_on(drained_for("fan broken", 1000), batch_job());
    CHECK(action.steps == Steps{Step::comment, Step::notify, Step::requeue});
    CHECK(action.exit_code == 1);
    CHECK(action.comment == our_reason + " [drained already]");
    CHECK(action.marker == MarkerChange::forget);
}

TEST_CASE("a drain that only looks like ours is another's: what counts is the marker") {
    const auto action = decide_on(drained_for(our_reason), srun_job());
    CHECK(action.steps == Steps{Step::comment, Step::notify, Step::kill});
    CHECK(action.marker == MarkerChange::forget);
}

TEST_CASE("our own drain is left as it is, or gets the newer reason") {
    auto order = prolog_order();
    order.own = {.reason = our_reason, .told = true};
    CHECK(decide_on(drained_for(our_reason), batch_job(), order).steps == Steps{Step::notify, Step::requeue});
    order.reason = "gdr: port-down mlx5_0/1: DOWN";
    const auto refreshed = decide_on(drained_for(our_reason), batch_job(), order);
    CHECK(refreshed.steps == Steps{Step::drain, Step::notify, Step::requeue});
    CHECK(refreshed.reason == order.reason);
    CHECK(refreshed.marker == MarkerChange::told);
}

TEST_CASE("another's reason on a node that is not drained stays where it is") {
    const auto action = decide_on({.reason = "ticket 4711"}, batch_job());
    CHECK(action.steps == Steps{Step::drain_keeping_reason, Step::comment, Step::notify, Step::requeue});
    CHECK(action.marker == MarkerChange::forget);
}

TEST_CASE("Slurm's stale word that the node did not respond gives way to our reason") {
    CHECK(decide_on({.reason = "Not responding"}, batch_job()).steps.front() == Step::drain);
}

TEST_CASE("another's comment is never overwritten") {
    auto node = drained_for("fan broken");
    node.comment = "on loan to Anna";
    CHECK(decide_on(node, batch_job()).steps == Steps{Step::notify, Step::requeue});
}

TEST_CASE("a full budget means no drain at all: the job runs, and the comment says why") {
    auto order = prolog_order();
    order.manners.budget_nodes = 2;
    const auto full = cluster(100, {{"n7", 10}, {"n8", 11}});
    const auto action = decide(order, {}, batch_job(), full);
    CHECK(action.steps == Steps{Step::comment, Step::notify});
    CHECK(action.exit_code == 0);
    CHECK(action.comment == our_reason + " [not drained: budget of 2 nodes is full]");
    CHECK(action.marker == MarkerChange::forget);
}

TEST_CASE("a comment that says it already is not written again") {
    auto order = prolog_order();
    order.manners.budget_nodes = 1;
    const NodeView node{.comment = our_reason + " [not drained: budget of 1 node is full]"};
    CHECK(decide(order, node, batch_job(), cluster(100, {{"n7", 10}})).steps == Steps{Step::notify});
}

TEST_CASE("a drained node is not counted against the budget again") {
    auto order = prolog_order();
    CHECK(needs_count(order, {}));
    CHECK_FALSE(needs_count(order, drained_for("fan broken")));
    order.intent = Intent::tell;
    CHECK_FALSE(needs_count(order, {}));
}

TEST_CASE("what does not drain is told to the user and in the node's comment") {
    auto order = prolog_order();
    order.intent = Intent::tell;
    order.why_not_drained = "on_fail = \"report\"";
    const auto action = decide_on({}, srun_job(), order);
    CHECK(action.steps == Steps{Step::comment, Step::notify});
    CHECK(action.exit_code == 0);
    CHECK_THAT(action.message, ContainsSubstring("the job runs all the same"));
}

TEST_CASE("the epilog drains and leaves the job alone, with exit code 0") {
    auto order = prolog_order();
    order.program = Program::epilog;
    const auto action = decide_on({}, {.ended = true, .batch = true, .requeueable = true}, order);
    CHECK(action.steps == Steps{Step::drain, Step::settle});
    CHECK(action.exit_code == 0);
    order.intent = Intent::tell;
    CHECK(decide_on({}, srun_job(), order).steps == Steps{Step::comment});
}
