#include "prolog/order/order_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace gdrcheck;
using namespace gdrcheck::order;

namespace {

Request sample() {
    Request request;
    auto& order = request.order;
    order.program = act::Program::prolog;
    order.intent = act::Intent::drain;
    order.node = "n1";
    order.job_id = 42;
    order.reason = "gdr: port-down mlx5_0/1: DOWN; ibstat mlx5_0 1";
    order.well = true;
    order.now_s = 1'767'225'600;
    order.manners.budget_percent = std::nullopt;
    order.manners.budget_nodes = 7;
    order.manners.requeue = false;
    order.own = {.reason = "gdr: peermem-missing", .time_s = 5, .told = true, .settled = false, .resumes_today = 2};
    request.rpc_ms = 1234;
    return request;
}

std::string changed(const std::string& from, const std::string& to) {
    auto text = to_text(sample());
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("an order arrives as it was given") {
    CHECK(parse_request(to_text(sample())) == sample());
}

TEST_CASE("an answer arrives as it was given") {
    const Answer answer{1, act::MarkerChange::resumed, false, "why; with = and ;"};
    CHECK(parse_answer(to_text(answer)) == answer);
}

TEST_CASE("an order fits the pipe it is written to, whatever is in it") {
    auto request = sample();
    request.order.node = std::string(255, 'n');
    request.order.reason = "gdr: " + std::string(100'000, 'x');
    request.order.why_not_drained = std::string(100'000, 'y');
    request.order.own.reason = request.order.reason;
    CHECK(to_text(request).size() <= largest_text);
    CHECK(parse_request(to_text(request)));
}

TEST_CASE("line ends in a value cannot become lines") {
    auto request = sample();
    request.order.reason = "gdr: x\nintent=tell\nend\n";
    const auto read = parse_request(to_text(request));
    REQUIRE(read);
    CHECK(read->order.intent == act::Intent::drain);
}

TEST_CASE("an order that is cut off, of another version, or not one is refused") {
    const auto whole = to_text(sample());
    for (const auto length : {std::size_t{0}, std::size_t{10}, whole.size() - 1, whole.size() - 4})
        CHECK_FALSE(parse_request(whole.substr(0, length)));
    CHECK_FALSE(parse_request(changed("gdrcheck-order 1", "gdrcheck-order 2")));
    CHECK_FALSE(parse_request(changed("well=1", "well=yes")));
    CHECK_FALSE(parse_request(changed("well=1\n", "")));
    CHECK_FALSE(parse_request(changed("well=1", "well=1\nwell=1")));
    CHECK_FALSE(parse_request(changed("well=1", "well=1\nlater=1")));
    CHECK_FALSE(parse_request(changed("node=n1", "node=../n1")));
    CHECK_FALSE(parse_request(changed("node=n1", "node=n[1-4]")));
    CHECK_FALSE(parse_request(changed("job=42", "job=-1")));
    CHECK_FALSE(parse_request(changed("intent=drain", "intent=reboot")));
    CHECK_FALSE(parse_request(changed("reason=gdr: port-down", "reason=fan broken")));
    CHECK_FALSE(parse_request(changed("port-down", "port\x1b-down")));
    CHECK_FALSE(parse_request(std::string(1'000'000, 'x')));
    CHECK_FALSE(parse_answer("exit_code=0\n"));
    CHECK_FALSE(parse_answer("gdrcheck-answer 1\nexit_code=2\nmarker=keep\nsettled=1\nwhy=\nend\n"));
}

TEST_CASE("a node name holds nothing a path, a shell or a host list could stumble over") {
    for (const auto* name : {"n1", "h100-001", "node_1.cluster"}) CHECK(is_node_name(name));
    for (const auto* name : {"", ".", "..", "a..b", "-n", "n[1-2]", "n,m", "n/1", "n 1", "n%n", "n\n"})
        CHECK_FALSE(is_node_name(name));
}
