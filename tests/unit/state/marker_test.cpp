#include "common/state/marker.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/tree.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace gdrcheck::state;

namespace {

Marker sample() {
    return Marker{.node = "n1",
                  .reason = "gdr: peermem-missing nvidia_peermem: no peer-memory client; modprobe nvidia-peermem",
                  .time_s = 1'767'225'600,
                  .told = true,
                  .settled = false,
                  .resumes = {1'767'000'000, 1'767'100'000}};
}

std::string changed(const std::string& from, const std::string& to) {
    auto text = to_json(sample());
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the marker comes back as it was written") {
    const gdrcheck::test::TemporaryDirectory top;
    const Place place{top.path() + "/state", ::geteuid()};
    CHECK(read_marker(place).error().code == ENOENT);
    REQUIRE(write_marker(place, sample()));
    CHECK(read_marker(place) == sample());
    REQUIRE(remove_marker(place));
    CHECK(read_marker(place).error().code == ENOENT);
}

TEST_CASE("a garbage marker is an error that names the file") {
    const gdrcheck::test::TemporaryDirectory top;
    const Place place{top.path(), ::geteuid()};
    const std::string content =
        GENERATE(std::string(), std::string("{"), std::string("7"), std::string("{\"schema\":1}"),
                 std::string("\xff\xff"), to_json(sample()).substr(0, 50));
    std::ofstream(top.path() + "/drained") << content;
    const auto read = read_marker(place);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().what, ContainsSubstring(top.path() + "/drained"));
}

TEST_CASE("a marker that was tampered with is an error") {
    CHECK_FALSE(parse_marker(changed("1767000000", "-1")));
    CHECK_FALSE(parse_marker(changed("1767000000", "18446744073709551615")));
    CHECK_FALSE(parse_marker(changed("1767000000", "\"x\"")));
    CHECK_FALSE(parse_marker(changed("modprobe", "\\u001b[2J")));
    CHECK_FALSE(parse_marker(changed("modprobe", std::string(300, 'x'))));
    CHECK_FALSE(parse_marker(changed("true", "\"true\"")));
}

TEST_CASE("of many resumes the latest are kept") {
    auto marker = sample();
    marker.resumes.clear();
    for (std::int64_t time = 1; time <= 1000; ++time) marker.resumes.push_back(time);
    const auto read = parse_marker(to_json(marker));
    REQUIRE(read);
    CHECK(read->resumes.size() == 64);
    CHECK(read->resumes.back() == 1000);
}
