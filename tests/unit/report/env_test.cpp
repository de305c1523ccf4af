#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/report/hand_made.hpp"

using namespace gdrcheck;
using Catch::Matchers::ContainsSubstring;

namespace {

EnvPlan plan_of_two() {
    EnvPlan plan;
    plan.node = {{"NCCL_IB_HCA", "^=mlx5_2"}};
    plan.gpus = {{0, {{"GDRCHECK_NIC", "mlx5_0"}, {"UCX_NET_DEVICES", "mlx5_0:1"}}},
                 {1, {{"GDRCHECK_NIC", "mlx5_0"}, {"UCX_NET_DEVICES", "mlx5_0:1"}}}};
    plan.withheld = {"NCCL_NET_GDR_C2C: set in /etc/nccl.conf:2"};
    return plan;
}

}  // namespace

TEST_CASE("variables are export lines that a shell can read") {
    EnvPlan plan;
    plan.node = {{"NCCL_IB_HCA", "^=mlx5_2"}};
    plan.gpus = {{1, {{"GDRCHECK_NIC", "mlx5_1"}}}};
    CHECK(report::env_sh(plan, test::healthy().facts) ==
          "export NCCL_IB_HCA='^=mlx5_2'\nexport GDRCHECK_NIC='mlx5_1'\n");
}

TEST_CASE("several GPUs give one list per variable, device lists without repetition") {
    const auto text = report::env_sh(plan_of_two(), test::healthy().facts);
    CHECK_THAT(text, ContainsSubstring("export GDRCHECK_NIC='mlx5_0,mlx5_0'\n"));
    CHECK_THAT(text, ContainsSubstring("export UCX_NET_DEVICES='mlx5_0:1'\n"));
    CHECK_THAT(text, ContainsSubstring("# GPU 1 0000:28:00.0 GDRCHECK_NIC=mlx5_0"));
}

TEST_CASE("a list with a gap is withheld") {
    auto plan = plan_of_two();
    plan.gpus[1].variables.clear();
    const auto text = report::env_sh(plan, test::healthy().facts);
    CHECK_THAT(text, ContainsSubstring("# withheld: GDRCHECK_NIC: not known for every GPU\n"));
    CHECK_THAT(text, !ContainsSubstring("export GDRCHECK_NIC"));
}

TEST_CASE("what was withheld is told as a comment") {
    CHECK_THAT(report::env_sh(plan_of_two(), test::healthy().facts),
               ContainsSubstring("# withheld: NCCL_NET_GDR_C2C: set in /etc/nccl.conf:2\n"));
}

TEST_CASE("no value can make the shell do anything") {
    EnvPlan plan;
    plan.node = {{"A", "x'; rm -rf $HOME; '"}, {"B", "two\nlines"}, {"C;reboot", "x"}};
    plan.withheld = {"X: line\nreboot"};
    CHECK(report::env_sh(plan, {}) ==
          "# withheld: X: line\\x0areboot\n"
          "export A='x'\\''; rm -rf $HOME; '\\'''\n"
          "# withheld: B: not plain text\n"
          "# withheld: C;reboot: not plain text\n");
}

TEST_CASE("the JSON of env holds the variables per GPU") {
    const auto json = nlohmann::ordered_json::parse(report::env_json(plan_of_two(), test::healthy().facts));
    CHECK(json["schema"] == 1);
    CHECK(json["node"]["NCCL_IB_HCA"] == "^=mlx5_2");
    REQUIRE(json["gpus"].size() == 2);
    CHECK(json["gpus"][1]["bdf"] == "0000:28:00.0");
    CHECK(json["gpus"][1]["variables"]["GDRCHECK_NIC"] == "mlx5_0");
    CHECK(json["withheld"].size() == 1);
}
