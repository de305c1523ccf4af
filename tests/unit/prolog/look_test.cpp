#include "prolog/node/look.hpp"

#include <sys/stat.h>

#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/tree.hpp"

using namespace gdrcheck;
using namespace gdrcheck::node;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

state::JobRecord record() {
    state::JobRecord job;
    job.job_id = 42;
    job.uid = 1000;
    job.node = "n1";
    return job;
}

Policy policy_of(const std::string& root) {
    Policy policy;
    policy.probe.root = root;
    policy.policy.deadline_ms = 20'000;
    return policy;
}

}  // namespace

TEST_CASE("what the worker found crosses to its parent whole") {
    Look seen{record(), {NodeVerdict::fail, true, "gdr: port-down mlx5_0/1: DOWN", {}}};
    seen.job.verdict = "fail";
    seen.job.refuse = true;
    seen.job.gpus = {{"0000:18:00.0", 0, "GPU-1", {{"GDRCHECK_NIC", "mlx5_0"}}}};
    const auto parsed = parse_look(to_text(seen));
    REQUIRE(parsed);
    CHECK(parsed->job == seen.job);
    CHECK(parsed->found.verdict == NodeVerdict::fail);
    CHECK(parsed->found.drain);
    CHECK(parsed->found.reason == seen.found.reason);
    CHECK_FALSE(parse_look("1\n\n"));
    CHECK_FALSE(parse_look("1\n\n\n{}"));
}

TEST_CASE("a root that is not there is gdrcheck's own failure, and the user is told") {
    const auto policy = policy_of("/nowhere/at/all");
    const auto seen = look({.policy = policy, .job = record(), .gpus = {}});
    CHECK_THAT(seen.found.own_failure, ContainsSubstring("/nowhere/at/all"));
    CHECK(seen.job.verdict == "unknown");
    CHECK_FALSE(seen.job.refuse);
    CHECK_THAT(seen.job.line, StartsWith("gdrcheck: n1: not judged: "));
}

TEST_CASE("the root is the node's own") {
    const test::TemporaryDirectory top;
    std::filesystem::create_directories(top.path() + "/n1/sys/bus/pci/devices");
    std::filesystem::create_directories(top.path() + "/n1/proc");
    const auto policy = policy_of(top.path() + "/%n");
    const auto seen = look({.policy = policy, .job = record(), .gpus = "0,1"});
    CHECK(seen.found.own_failure.empty());
    CHECK(seen.found.verdict == NodeVerdict::not_applicable);
}
