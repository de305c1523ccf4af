#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "common/verdict/verdict.hpp"

using namespace gdrcheck;

namespace {

Finding finding(std::string slug, std::string subject, std::string seen, std::string remedy) {
    return {.slug = std::move(slug),
            .outcome = Outcome::fail,
            .subject = std::move(subject),
            .seen = std::move(seen),
            .remedy = std::move(remedy)};
}

bool printable(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

TEST_CASE("the reason is slug, subject, what was seen and the next command") {
    CHECK(drain_reason({finding("port-down", "mlx5_1/1", "state is DOWN", "rdma link show")}) ==
          "gdr: port-down mlx5_1/1: state is DOWN; rdma link show");
}

TEST_CASE("further findings are counted") {
    const auto one = finding("port-down", "mlx5_1/1", "state is DOWN", "rdma link show");
    CHECK(drain_reason({one, one, one}) == "gdr: port-down mlx5_1/1: state is DOWN; rdma link show (+2 more)");
}

TEST_CASE("no finding is no reason, and missing parts leave no stray punctuation") {
    CHECK(drain_reason({}).empty());
    CHECK(drain_reason({finding("self", "", "", "")}) == "gdr: self: gdrcheck explain self");
    CHECK(drain_reason({finding("self", "gdrcheck", "timed out", "")}) ==
          "gdr: self gdrcheck: timed out; gdrcheck explain self");
}

TEST_CASE("a long reason keeps slug, subject, a whole command and the count within 200 bytes") {
    const std::string seen(500, 's');
    auto reason = drain_reason({finding("peermem-missing", "nvidia_peermem", seen, "modprobe nvidia-peermem"),
                                finding("port-down", "mlx5_0/1", "x", "y")});
    CHECK(reason.size() == 200);
    CHECK(reason.starts_with("gdr: peermem-missing nvidia_peermem: sss"));
    CHECK(reason.ends_with("...; modprobe nvidia-peermem (+1 more)"));

    reason = drain_reason({finding("peermem-missing", "nvidia_peermem", seen, std::string(300, 'r'))});
    CHECK(reason.size() == 200);
    CHECK(reason.ends_with("; gdrcheck explain peermem-missing"));
    CHECK(reason.find('r', 40) != std::string::npos);
    CHECK(reason.find("rrrr") == std::string::npos);
}

TEST_CASE("a short sight keeps its long command where there is room") {
    const std::string remedy(100, 'r');
    CHECK(drain_reason({finding("port-down", "mlx5_1/1", "DOWN", remedy)}) ==
          "gdr: port-down mlx5_1/1: DOWN; " + remedy);
}

TEST_CASE("what is not printable ASCII becomes a question mark") {
    const auto reason = drain_reason({finding("port-down", "mlx5\n1\x1b[31m", "st\xc3\xa4te\t\x7f", "a\r\nb")});
    CHECK(printable(reason));
    CHECK(reason == "gdr: port-down mlx5?1?[31m: st??te??; a??b");
}

TEST_CASE("hostile lengths stay within 200 bytes") {
    for (const std::size_t size : {0U, 79U, 80U, 81U, 150U, 199U, 5000U}) {
        const std::string text(size, 'x');
        const auto one = finding("peermem-missing", text, text, text);
        const auto reason = drain_reason(std::vector<Finding>(1000, one));
        CAPTURE(size);
        CHECK(reason.size() <= 200);
        CHECK(reason.starts_with("gdr: peermem-missing"));
        CHECK(reason.ends_with(" (+999 more)"));
        CHECK(printable(reason));
    }
}
