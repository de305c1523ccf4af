#include <string>

#include <catch2/catch_test_macros.hpp>

#include "common/policy/policy.hpp"

using gdrcheck::hostlist_contains;

namespace {

bool contains(std::string_view list, std::string_view host) {
    const auto result = hostlist_contains(list, host);
    REQUIRE(result.has_value());
    return *result;
}

}  // namespace

TEST_CASE("a host list of plain names holds exactly those") {
    CHECK(contains("login1", "login1"));
    CHECK(contains("a,login1,b", "login1"));
    CHECK(contains("a, login1", "login1"));
    CHECK_FALSE(contains("login1", "login10"));
    CHECK_FALSE(contains("login10", "login1"));
    CHECK_FALSE(contains("Login1", "login1"));
    CHECK(contains("n-1.cluster.local,n_2", "n_2"));
}

TEST_CASE("a range holds its ends and nothing outside") {
    CHECK(contains("h100-[001-512]", "h100-001"));
    CHECK(contains("h100-[001-512]", "h100-512"));
    CHECK_FALSE(contains("h100-[001-512]", "h100-000"));
    CHECK_FALSE(contains("h100-[001-512]", "h100-513"));
    CHECK(contains("h100-[001-512,600],login1", "h100-600"));
    CHECK_FALSE(contains("h100-[001-512,600],login1", "h100-599"));
    CHECK(contains("h100-[001-512,600],login1", "login1"));
}

TEST_CASE("zero padding is significant") {
    CHECK_FALSE(contains("n[001-100]", "n7"));
    CHECK_FALSE(contains("n[001-100]", "n07"));
    CHECK_FALSE(contains("n[001-100]", "n0007"));
    CHECK(contains("n[1-100]", "n7"));
    CHECK_FALSE(contains("n[1-100]", "n007"));
    CHECK(contains("n[08-112]", "n08"));
    CHECK(contains("n[08-112]", "n112"));
    CHECK_FALSE(contains("n[08-112]", "n012"));
    CHECK(contains("n[0-3]", "n0"));
}

TEST_CASE("several groups in a name are all matched") {
    CHECK(contains("rack[1-2]node[01-16]", "rack2node16"));
    CHECK_FALSE(contains("rack[1-2]node[01-16]", "rack3node16"));
    CHECK_FALSE(contains("rack[1-2]node[01-16]", "rack2node17"));
    CHECK_FALSE(contains("rack[1-2]node[01-16]", "rack2node1"));
    CHECK(contains("r[1-2]n[1-4]-ib", "r1n4-ib"));
    CHECK_FALSE(contains("r[1-2]n[1-4]-ib", "r1n4"));
}

TEST_CASE("a group beside digits finds its share of them") {
    CHECK(contains("n[1-20]0", "n10"));
    CHECK(contains("n[1-20]0", "n200"));
    CHECK_FALSE(contains("n[1-20]0", "n210"));
    CHECK(contains("n[1-12][1-12]", "n111"));
    CHECK_FALSE(contains("n[1-12][1-12]", "n1"));
}

TEST_CASE("a malformed host list is an error even where another part would match") {
    for (const auto* list : {"",
                             ",",
                             "a,",
                             ",a",
                             "a,,b",
                             "a,n[",
                             "a,n[1",
                             "a,n[]",
                             "a,n[1-]",
                             "a,n[-1]",
                             "a,n[2-1]",
                             "a,n[x]",
                             "a,n[1,]",
                             "a,n]",
                             "a,n[1]]",
                             "a,n[[1]]",
                             "a,b c",
                             "a,n[1 - 2]",
                             "a,^b",
                             "a,b/c",
                             "a,n[1-9999999999999999999]",
                             "a,$(reboot)",
                             "a,n[0x1-0x2]"}) {
        CAPTURE(list);
        CHECK_FALSE(hostlist_contains(list, "a").has_value());
    }
    CHECK_FALSE(hostlist_contains("a", "").has_value());
    CHECK_FALSE(hostlist_contains(std::string("a\0b", 3), "a").has_value());
    CHECK_FALSE(hostlist_contains("n[1][1][1][1][1][1][1][1][1]", "a").has_value());
    CHECK_FALSE(hostlist_contains("a", std::string(256, 'a')).has_value());
}

TEST_CASE("a huge host list costs no expansion") {
    CHECK(contains("n[1-999999999999999999]", "n123456789012345678"));
    CHECK(contains("n[0-999999999][0-999999999][0-999999999]", "n" + std::string(24, '7')));
    std::string list = "n[";
    while (list.size() < 60'000) list += "1-2,";
    CHECK(contains(list + "3]", "n3"));
    CHECK_FALSE(hostlist_contains(std::string(70'000, 'a'), "a").has_value());
}
