#include "common/nccl/version.hpp"

#include <catch2/catch_test_macros.hpp>

#include "common/nccl/rules.hpp"

using namespace gdrcheck::nccl;

TEST_CASE("X.Y means the last release of X.Y") {
    CHECK(parse_version("2.28").value() == Version{2, 28, 9});
    CHECK(parse_version("2.27").value() == Version{2, 27, 7});
    CHECK(parse_version("2.21").value() == Version{2, 21, 5});
    CHECK(parse_version("v2.21.4").value() == Version{2, 21, 4});
}

TEST_CASE("a version that is none, or that we know no rules for, is an error that says which are known") {
    for (const auto* text : {"", "2", "2.", "two", "2.28.", "2.28.9.1", "2.28 ", "-2.28", "2.1000", "99999999999.1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_version(text).has_value());
    }
    CHECK(parse_version("2.17").error().what.find("2.18 to 2.30") != std::string::npos);
    CHECK(parse_version("3.0").error().what.find("3.0") != std::string::npos);
}

TEST_CASE("each release follows the row of the newest release not above it") {
    CHECK(rules_for({2, 21, 5}).merging == Merging::by_card);
    CHECK(rules_for({2, 23, 4}).merging == Merging::by_card);
    CHECK(rules_for({2, 24, 3}).merging == Merging::fused);
    CHECK(rules_for({2, 18, 6}).send_needs_nvlink_on_any_gpu);
    CHECK_FALSE(rules_for({2, 19, 4}).send_needs_nvlink_on_any_gpu);
    CHECK(rules_for({2, 30, 7}).c2c == C2cRule::p2c_local);
}

TEST_CASE("where NCCL looks for peermem changed with 2.22 and 2.23") {
    CHECK(rules_for({2, 21, 5}).peermem_files.nvidia_peermem);
    CHECK_FALSE(rules_for({2, 22, 3}).peermem_files.module);
    CHECK(rules_for({2, 22, 3}).peermem_files.nv_mem_nc);
    CHECK(rules_for({2, 23, 4}).peermem_files.module);
}
