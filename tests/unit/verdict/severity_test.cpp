#include "common/verdict/severity.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck;

namespace {

Finding finding(std::string slug, std::string subject = "x") {
    return {.slug = std::move(slug), .subject = std::move(subject), .seen = "y"};
}

}  // namespace

TEST_CASE("a finding costs what the catalogue says") {
    const auto weighed = weigh({finding("acs-redirect"), finding("uverbs-missing")}, {});
    REQUIRE(weighed.findings.size() == 2);
    CHECK(weighed.findings[0].slug == "uverbs-missing");
    CHECK(weighed.findings[0].outcome == Outcome::fail);
    CHECK(weighed.findings[1].outcome == Outcome::warn);
}

TEST_CASE("a check that knows better overrides the catalogue, policy overrides both") {
    auto down = finding("port-down");
    down.outcome = Outcome::fail;
    down.severity_fixed = true;
    CHECK(weigh({down}, {}).findings.at(0).outcome == Outcome::fail);
    Policy policy;
    policy.checks["port-down"] = Severity::warn;
    CHECK(weigh({down}, policy).findings.at(0).outcome == Outcome::warn);
    policy.checks["port-down"] = Severity::ignore;
    CHECK(weigh({down}, policy).findings.empty());
    policy.checks["acs-redirect"] = Severity::fail;
    CHECK(weigh({finding("acs-redirect")}, policy).findings.at(0).outcome == Outcome::fail);
}

TEST_CASE("unknown stays unknown whatever the severity, and can be ignored") {
    auto unknown = finding("acs-redirect");
    unknown.outcome = Outcome::unknown;
    Policy policy;
    policy.checks["acs-redirect"] = Severity::fail;
    CHECK(weigh({unknown}, policy).findings.at(0).outcome == Outcome::unknown);
    policy.checks["acs-redirect"] = Severity::ignore;
    CHECK(weigh({unknown}, policy).findings.empty());
}

TEST_CASE("findings are sorted by severity, slug and natural order of subjects") {
    auto unknown = finding("acs-redirect");
    unknown.outcome = Outcome::unknown;
    const auto weighed = weigh({finding("port-slow", "mlx5_10/1"), finding("port-slow", "mlx5_2/1"), unknown,
                                finding("dmabuf-off"), finding("gpu-missing")},
                               {});
    std::vector<std::string> order;
    for (const auto& each : weighed.findings) order.push_back(each.slug + " " + each.subject);
    CHECK(order == std::vector<std::string>{"gpu-missing x", "acs-redirect x", "dmabuf-off x", "port-slow mlx5_2/1",
                                            "port-slow mlx5_10/1"});
}

TEST_CASE("PCI addresses are sorted by value, their digits are hexadecimal") {
    const auto weighed = weigh({finding("gpu-missing", "000b:00:00.0"), finding("gpu-missing", "0001:00:00.0"),
                                finding("gpu-missing", "/sys"), finding("gpu-missing", "0001:0a:00.0")},
                               {});
    std::vector<std::string> order;
    for (const auto& each : weighed.findings) order.push_back(each.subject);
    CHECK(order == std::vector<std::string>{"0001:00:00.0", "0001:0a:00.0", "000b:00:00.0", "/sys"});
}

TEST_CASE("a GPU is excused when every finding that explains it is below fail") {
    auto far = finding("path-far");
    far.gpus = {0, 1};
    auto down = finding("port-down");
    down.gpus = {1};
    Policy policy;
    policy.checks["path-far"] = Severity::ignore;
    CHECK(weigh({far, down}, policy).excused_gpus == std::set<std::size_t>{0});
    policy.checks["port-down"] = Severity::warn;
    CHECK(weigh({far, down}, policy).excused_gpus == std::set<std::size_t>{0, 1});
    CHECK(weigh({far, down}, {}).excused_gpus.empty());
}
