#include <catch2/catch_test_macros.hpp>

#include "tests/unit/act/situation.hpp"

using namespace gdrcheck::act;
using namespace gdrcheck::act::test;

namespace {

Action decide_on(const Order& order, const NodeView& node) {
    return decide(order, node, {.gone = true}, needs_count(order, node) ? std::optional(cluster(100)) : std::nullopt);
}

}  // namespace

TEST_CASE("a node that is well is resumed when the drain is ours") {
    const auto action = decide_on(health_order(true), drained_for(our_reason));
    CHECK(action.steps == Steps{Step::resume});
    CHECK(action.marker == MarkerChange::resumed);
    CHECK(action.exit_code == 0);
}

TEST_CASE("a node that is not well stays drained") {
    const auto action = decide_on(health_order(false), drained_for(our_reason));
    CHECK(action.steps.empty());
    CHECK(action.marker == MarkerChange::keep);
}

TEST_CASE("another's drain is never resumed") {
    for (const auto* reason : {"fan broken", "gdr: peermem-missing", "Prolog error", ""}) {
        INFO(reason);
        const auto action = decide_on(health_order(true), drained_for(reason));
        CHECK(action.steps.empty());
        CHECK(action.marker == MarkerChange::forget);
    }
    CHECK(decide_on(health_order(true), drained_for(our_reason + " and more")).steps.empty());
}

TEST_CASE("our reason in another's hand is another's drain") {
    CHECK(decide_on(health_order(true), drained_for(our_reason, 1000)).steps.empty());
    auto node = drained_for(our_reason);
    node.reason_uid.reset();
    CHECK(decide_on(health_order(true), node).steps.empty());
}

TEST_CASE("a node that somebody resumed is forgotten") {
    const auto action = decide_on(health_order(true), {});
    CHECK(action.steps.empty());
    CHECK(action.marker == MarkerChange::forget);
}

TEST_CASE("three resumes a day, then a person has to look") {
    auto order = health_order(true);
    order.own.resumes_today = 2;
    CHECK(decide_on(order, drained_for(our_reason)).steps == Steps{Step::resume});
    order.own.resumes_today = 3;
    const auto action = decide_on(order, drained_for(our_reason));
    CHECK(action.steps == Steps{Step::comment});
    CHECK(action.comment == our_reason + " [well again; resumed 3 times today]");
    CHECK(action.marker == MarkerChange::keep);
}

TEST_CASE("with resume = false a node that is well stays drained") {
    auto order = health_order(true);
    order.manners.resume = false;
    CHECK(decide_on(order, drained_for(our_reason)).steps.empty());
}

TEST_CASE("a node that is down is not resumed before it is up") {
    auto node = drained_for(our_reason);
    node.down = true;
    CHECK(decide_on(health_order(true), node).steps.empty());
}

TEST_CASE("exactly \"Prolog error\" is replaced, while slurmctld did not have our reason, within an hour") {
    auto order = health_order(false);
    order.own.told = false;
    order.own.time_s = order.now_s - 3599;
    const auto action = decide_on(order, drained_for("Prolog error", 64030));
    CHECK(action.steps == Steps{Step::drain});
    CHECK(action.reason == our_reason);
    CHECK(action.marker == MarkerChange::told);

    CHECK(decide_on(order, drained_for("Prolog error: again")).steps.empty());
    CHECK(decide_on(order, drained_for("Epilog error")).steps.empty());
    order.own.time_s = order.now_s - 3600;
    CHECK(decide_on(order, drained_for("Prolog error")).steps.empty());
    CHECK(decide_on(order, drained_for("Prolog error")).marker == MarkerChange::forget);
    order.own.time_s = order.now_s + 100;  // a clock that was set back
    CHECK(decide_on(order, drained_for("Prolog error")).steps.empty());
}

TEST_CASE("a marker that slurmctld has not been told of waits for the drain to show") {
    auto order = health_order(false);
    order.own.told = false;
    CHECK(decide_on(order, {}).marker == MarkerChange::keep);
    order.own.time_s = order.now_s - 4000;
    CHECK(decide_on(order, {}).marker == MarkerChange::forget);
}

TEST_CASE("a race for the budget that nobody settled is settled by the health program") {
    auto order = health_order(false);
    order.own.settled = false;
    order.manners.budget_nodes = 1;
    order.reason = our_reason;
    const auto node = drained_for(our_reason);
    REQUIRE(needs_count(order, node));
    const auto lost = decide(order, node, {.gone = true}, cluster(100, {{"n0", 5}, {"n1", 6}}));
    CHECK(lost.steps == Steps{Step::resume, Step::comment});
    CHECK(lost.marker == MarkerChange::forget);
    const auto won = decide(order, node, {.gone = true}, cluster(100, {{"n1", 6}, {"n2", 6}}));
    CHECK(won.steps.empty());
    CHECK(won.marker == MarkerChange::told);
}

TEST_CASE("without a drain of ours there is nothing to mend") {
    auto order = health_order(true);
    order.own = {};
    CHECK(decide_on(order, drained_for("fan broken")).steps.empty());
}
