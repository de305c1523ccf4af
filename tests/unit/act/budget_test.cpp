#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/act/situation.hpp"

using namespace gdrcheck::act;
using namespace gdrcheck::act::test;

namespace {

Manners with_budget(std::optional<int> percent, std::optional<int> nodes) {
    Manners manners;
    manners.budget_percent = percent;
    manners.budget_nodes = nodes;
    return manners;
}

Order order_of(const std::string& node, int budget_nodes) {
    auto order = prolog_order();
    order.node = node;
    order.manners = with_budget({}, budget_nodes);
    return order;
}

}  // namespace

TEST_CASE("the budget is the smallest limit set, percent rounded up and at least one node") {
    CHECK(budget(with_budget(10, {}), 100) == 10);
    CHECK(budget(with_budget(10, {}), 101) == 11);
    CHECK(budget(with_budget(10, {}), 64) == 7);
    CHECK(budget(with_budget(10, {}), 4) == 1);
    CHECK(budget(with_budget(1, {}), 3) == 1);
    CHECK(budget(with_budget(0, {}), 100) == 1);
    CHECK(budget(with_budget(10, 5), 100) == 5);
    CHECK(budget(with_budget(10, 50), 100) == 10);
    CHECK(budget(with_budget({}, 3), 100) == 3);
    CHECK(budget(with_budget({}, {}), 100) == std::nullopt);
}

TEST_CASE("without a limit every node may drain") {
    auto order = order_of("n9", 1);
    order.manners = with_budget({}, {});
    CHECK(decide(order, {}, batch_job(), cluster(3, {{"n1", 1}, {"n2", 1}})).steps.front() == Step::drain);
    CHECK_FALSE(lost_race(order, cluster(3, {{"n1", 1}, {"n2", 1}, {"n9", 2}})));
}

TEST_CASE("who drained first stays; in the same second the name decides") {
    const auto race = cluster(100, {{"n3", 10}, {"n1", 11}, {"n2", 10}});
    CHECK_FALSE(lost_race(order_of("n2", 2), race));
    CHECK_FALSE(lost_race(order_of("n3", 2), race));
    CHECK(lost_race(order_of("n1", 2), race));
}

TEST_CASE("a node whose reason somebody changed meanwhile is not resumed by us") {
    CHECK_FALSE(lost_race(order_of("n5", 1), cluster(100, {{"n1", 1}, {"n2", 2}})));
}

TEST_CASE("whatever the order of events, exactly the budget stays drained") {
    std::mt19937 random(20'260'101);
    for (int round = 0; round < 200; ++round) {
        const int limit = 1 + static_cast<int>(random() % 8U);
        ClusterView view = cluster(64);
        for (int i = 0; i < 64; ++i)
            view.ours.push_back({"n" + std::to_string(i), static_cast<std::int64_t>(random() % 3U)});
        auto settling = view.ours;
        std::shuffle(settling.begin(), settling.end(), random);
        for (const auto& node : settling) {
            if (!lost_race(order_of(node.name, limit), view)) continue;
            std::erase_if(view.ours, [&](const auto& ours) { return ours.name == node.name; });
        }
        CHECK(view.ours.size() == static_cast<std::size_t>(limit));
    }
}

TEST_CASE("a node that lost the race resumes itself and says so") {
    const auto action = give_way(order_of("n1", 2), {}, 100);
    CHECK(action.steps == Steps{Step::resume, Step::comment, Step::notify});
    CHECK(action.comment == our_reason + " [not drained: budget of 2 nodes is full]");
    CHECK(action.exit_code == 0);
    CHECK(action.marker == MarkerChange::forget);
}
