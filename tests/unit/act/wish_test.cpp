#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/unit/act/situation.hpp"

using namespace gdrcheck;
using namespace gdrcheck::act;
using namespace gdrcheck::act::test;

namespace {

Policy policy_with(OnFail on_fail) {
    Policy policy;
    policy.policy.on_fail = on_fail;
    return policy;
}

const Found peermem_missing{NodeVerdict::fail, true, our_reason, {}};
const Found path_far{NodeVerdict::fail, false, "gdr: path-far 0000:18:00.0: SYS", {}};
const Found timed_out{NodeVerdict::unknown, false, {}, "no answer within 3000 ms"};

}  // namespace

TEST_CASE("a healthy node asks nothing of Slurm") {
    const auto verdict =
        GENERATE(NodeVerdict::ok, NodeVerdict::degraded, NodeVerdict::not_applicable, NodeVerdict::unknown);
    const auto on_fail = GENERATE(OnFail::drain, OnFail::report, OnFail::off);
    CHECK(wish({verdict, false, {}, {}}, policy_with(on_fail), true).intent == Intent::nothing);
}

TEST_CASE("a fail that draining answers drains, in report mode it is told, and the kill switch does nothing") {
    CHECK(wish(peermem_missing, policy_with(OnFail::drain), true).intent == Intent::drain);
    const auto told = wish(peermem_missing, policy_with(OnFail::report), true);
    CHECK(told.intent == Intent::tell);
    CHECK(told.why_not_drained == "on_fail = \"report\"");
    CHECK(wish(peermem_missing, policy_with(OnFail::off), true).intent == Intent::nothing);
}

TEST_CASE("without a configuration file nothing drains") {
    CHECK(wish(peermem_missing, default_policy().policy, true).intent == Intent::tell);
}

TEST_CASE("what is the same tomorrow is told, not drained") {
    CHECK(wish(path_far, policy_with(OnFail::drain), true).intent == Intent::tell);
}

TEST_CASE("an unknown verdict drains only where policy made it drain") {
    const Found blind{NodeVerdict::unknown, false, {}, {}};
    CHECK(wish(blind, policy_with(OnFail::drain), true).intent == Intent::nothing);
    const Found blind_and_strict{NodeVerdict::unknown, true, "gdr: peermem-missing: unreadable", {}};
    CHECK(wish(blind_and_strict, policy_with(OnFail::drain), true).intent == Intent::drain);
}

TEST_CASE("gdrcheck's own failure changes nothing, unless policy says that it closes the node") {
    CHECK(wish(timed_out, policy_with(OnFail::drain), true).intent == Intent::nothing);
    auto closed = policy_with(OnFail::drain);
    closed.policy.on_error_closed = true;
    const auto drained = wish(timed_out, closed, true);
    CHECK(drained.intent == Intent::drain);
    CHECK(drained.reason == "gdr: self: no answer within 3000 ms; gdrcheck node");
    closed.policy.on_fail = OnFail::report;
    CHECK(wish(timed_out, closed, true).intent == Intent::tell);
    closed.policy.on_fail = OnFail::off;
    CHECK(wish(timed_out, closed, true).intent == Intent::nothing);
}

TEST_CASE("a job outside the scope, looked at because its user asked, never drains") {
    CHECK(wish(peermem_missing, policy_with(OnFail::drain), false).intent == Intent::tell);
    auto closed = policy_with(OnFail::drain);
    closed.policy.on_error_closed = true;
    CHECK(wish(timed_out, closed, false).intent == Intent::nothing);
}

TEST_CASE("a node is well only when it was judged and found good") {
    CHECK(is_well({NodeVerdict::ok, false, {}, {}}));
    CHECK(is_well({NodeVerdict::degraded, false, {}, {}}));
    CHECK_FALSE(is_well({NodeVerdict::unknown, false, {}, {}}));
    CHECK_FALSE(is_well({NodeVerdict::not_applicable, false, {}, {}}));
    CHECK_FALSE(is_well(path_far));
    CHECK_FALSE(is_well({NodeVerdict::ok, false, {}, "worker was killed"}));
}

TEST_CASE("without an answer from Slurm only a prolog that meant to drain fails") {
    CHECK(exit_code_without_slurm(Program::prolog, Intent::drain) == 1);
    CHECK(exit_code_without_slurm(Program::prolog, Intent::tell) == 0);
    CHECK(exit_code_without_slurm(Program::epilog, Intent::drain) == 0);
    CHECK(exit_code_without_slurm(Program::health, Intent::mend) == 0);
}
