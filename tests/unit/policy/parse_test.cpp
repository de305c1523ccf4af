#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "common/policy/policy.hpp"

using namespace gdrcheck;

namespace {

Policy policy_of(std::string_view text, std::string_view host = "n1") {
    const auto result = parse_policy(text, "gdrcheck.toml", host);
    INFO((result ? "" : result.error().what));
    REQUIRE(result.has_value());
    return result->policy;
}

std::string error_of(std::string_view text) {
    const auto result = parse_policy(text, "gdrcheck.toml", "n1");
    REQUIRE_FALSE(result.has_value());
    return result.error().what;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("without a file nothing drains") {
    const auto effective = default_policy();
    CHECK(effective.policy == Policy{});
    CHECK(effective.policy.policy.on_fail == OnFail::report);
    CHECK(effective.file.empty());
    CHECK(std::all_of(effective.origins.begin(), effective.origins.end(),
                      [](const auto& origin) { return origin.origin == "default"; }));
}

TEST_CASE("a file that does not say otherwise drains and leaves the rest at the defaults") {
    Policy expected;
    expected.policy.on_fail = OnFail::drain;
    CHECK(policy_of("") == expected);
    CHECK(policy_of("# nothing\n") == expected);
    CHECK(policy_of("[policy]\nallow_opt_out = false\n") == expected);
    CHECK(policy_of("[policy]\non_fail = \"report\"\n") == Policy{});
}

TEST_CASE("every key lands in its place") {
    const auto policy = policy_of(R"(
scope = { min_nodes = 1, no_gres = "all" }
[nccl]
assume = ["2.28", "2.21.5"]
topo_file = "/etc/topo.xml"
net = "ib"
nvlink = "no"
[policy]
require = "dmabuf"
on_fail = "off"
on_unknown = "drain"
on_error = "closed"
allow_opt_out = true
deadline_ms = 100
[drain]
requeue = false
notify = false
resume = false
budget_percent = "none"
budget_nodes = 4
rpc_ms = 60000
max_requeues = 0
[nics]
compute = "mlx5_[0-7]"
exclude = ["mlx5_8", "bnxt*"]
[expect]
gdr = true
gpus = 8
nics = 9
gbps = 400
[env]
export = "always"
topo_file = true
ib_gid_index = 3
net_gdr_level = "PHB"
ib_pci_relaxed_ordering = 1
ucx_net_devices = true
nvshmem_hca_list = true
[repair]
peermem = "load"
[probe]
root = "/snapshots/%n"
[report]
prometheus = "/var/lib/node_exporter/gdrcheck.prom"
[checks]
port-down.severity = "fail"
[checks.memlock]
severity = "ignore"
)");
    Policy expected;
    expected.scope = {1, true};
    expected.nccl = {{"2.28", "2.21.5"}, "/etc/topo.xml", "ib", "no"};
    expected.policy = {Require::dmabuf, OnFail::off, true, true, true, 100};
    expected.drain = {false, false, false, std::nullopt, 4, 60'000, 0};
    expected.nics = {{"mlx5_[0-7]"}, {"mlx5_8", "bnxt*"}};
    expected.expect = {true, 8, 9, 400.0};
    expected.env = {ExportWhen::always, true, 3, "PHB", 1, true, true};
    expected.repair = {true};
    expected.probe = {"/snapshots/%n"};
    expected.report = {"/var/lib/node_exporter/gdrcheck.prom"};
    expected.checks = {{"port-down", Severity::fail}, {"memlock", Severity::ignore}};
    CHECK(policy == expected);
}

TEST_CASE("an unknown key is an error with line, column and the nearest known key") {
    const auto error = error_of("[policy]\non_fial = \"drain\"\n");
    CHECK(error == R"(gdrcheck.toml:2:1: unknown key "policy.on_fial"; nearest known: policy.on_fail)");
    CHECK(has(error_of("[polciy]\n"), "1:2: unknown table \"polciy\"; nearest known: [policy]"));
}

TEST_CASE("a syntax error has line and column") {
    CHECK(has(error_of("[policy]\non_fail = drain\n"), "gdrcheck.toml:2:1"));
    CHECK(has(error_of("[policy]\non_fail = \"drain\n"), "gdrcheck.toml:2:"));
    CHECK(has(error_of("[policy\n"), "gdrcheck.toml:1:"));
}
