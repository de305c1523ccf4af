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

TEST_CASE("a wrong value is told with its place, what is allowed and the nearest word") {
    CHECK(error_of("[policy]\non_fail = \"drian\"\n") ==
          "gdrcheck.toml:2:11: policy.on_fail = \"drian\": must be one of \"drain\", \"report\", \"off\"; nearest: "
          "\"drain\"");
    CHECK(error_of("policy.deadline_ms = 5") ==
          "gdrcheck.toml:1:22: policy.deadline_ms = 5: must be a whole number from 100 to 60000");
    CHECK(has(error_of("nics.exclude = [\"a\",\n \"b/c\"]"), "gdrcheck.toml:2:2: nics.exclude = \"b/c\": "));
}

TEST_CASE("wrong types and values out of range are errors") {
    for (const auto* text : {"scope.min_nodes = 0",
                             "scope.min_nodes = 65537",
                             "scope.min_nodes = \"2\"",
                             "scope.min_nodes = 2.0",
                             "scope.no_gres = true",
                             "nccl.assume = 2.28",
                             "nccl.assume = []",
                             "nccl.assume = \"2\"",
                             "nccl.assume = \"2.x\"",
                             "nccl.assume = \"2.28.9.1\"",
                             "nccl.assume = [\"2.28\", 3]",
                             "nccl.assume = \"\"",
                             "nccl.assume = \"2.2800\"",
                             "nccl.topo_file = \"topo.xml\"",
                             "nccl.topo_file = \"/a\\nb\"",
                             "nccl.net = \"IB\"",
                             "nccl.nvlink = true",
                             "policy.require = \"both\"",
                             "policy.on_fail = \"\"",
                             "policy.allow_opt_out = \"no\"",
                             "policy.allow_opt_out = 0",
                             "policy.deadline_ms = 9999999999",
                             "policy.deadline_ms = \"none\"",
                             "drain.budget_percent = 0",
                             "drain.budget_percent = 101",
                             "drain.budget_nodes = -1",
                             "drain.budget_nodes = \"all\"",
                             "nics.compute = 1",
                             "nics.compute = [\"\"]",
                             "nics.compute = \"a b\"",
                             "nics.compute = \"a,b\"",
                             "nics.compute = \"a[0-9\"",
                             "nics.compute = [[\"a\"]]",
                             "expect.gbps = 0",
                             "expect.gbps = -1.5",
                             "expect.gbps = nan",
                             "expect.gbps = inf",
                             "expect.gbps = \"400\"",
                             "expect.gpus = true",
                             "env.ib_gid_index = 256",
                             "env.ib_pci_relaxed_ordering = 3",
                             "env.net_gdr_level = \"phb\"",
                             "env.net_gdr_level = 5",
                             "repair.peermem = true",
                             "probe.root = \"\"",
                             "probe.root = \"tmp\"",
                             "probe.root = \"/tmp/../etc\"",
                             "probe.root = \"/tmp/%h\"",
                             "probe.root = 1979-05-27",
                             "checks.port-down.severity = \"off\"",
                             "checks.port-down = \"warn\"",
                             "checks = 1",
                             "policy = 1",
                             "[[policy]]\non_fail = \"off\"",
                             "[policy.on_fail]",
                             "[policy.on_fail.x]"}) {
        CAPTURE(text);
        CHECK(has(error_of(text), "gdrcheck.toml:"));
    }
}

TEST_CASE("a version without quotes is told to take them") {
    CHECK(has(error_of("nccl.assume = 2.30"), "needs quotes"));
}

TEST_CASE("unknown keys and slugs are errors that name the nearest") {
    CHECK(has(error_of("on_fail = \"off\""), "unknown key \"on_fail\"; nearest known: policy.on_fail"));
    CHECK(has(error_of("[checks.port-dwon]\nseverity = \"fail\""),
              "1:9: unknown table \"checks.port-dwon\"; nearest known: [checks.port-down]"));
    CHECK(has(error_of("[checks.port-down]\nlevel = \"fail\""), "nearest known: checks.port-down.severity"));
    CHECK(has(error_of("[overide]\n"), "nearest known: [override]"));
    CHECK(has(error_of("nodes = \"a\""), "unknown key \"nodes\""));
    CHECK(has(error_of("\"policy.on_fail\" = \"off\""), "unknown key"));
}

TEST_CASE("the first error of the file is the one that is told") {
    CHECK(has(error_of("[scope]\nzzz = 1\n[drain]\naaa = 1\n"), "scope.zzz"));
}

TEST_CASE("the word none takes a number away, the word default a severity") {
    const auto policy = policy_of(R"(
drain.budget_percent = "none"
expect.gpus = 8
checks.memlock.severity = "fail"
[[override]]
nodes = "n1"
expect.gpus = "none"
checks.memlock.severity = "default"
)");
    CHECK_FALSE(policy.drain.budget_percent.has_value());
    CHECK_FALSE(policy.expect.gpus.has_value());
    CHECK(policy.checks.empty());
}

TEST_CASE("overrides are for their nodes, the later wins, key by key") {
    constexpr auto text = R"(
[expect]
gpus = 4
nics = 1
[[override]]
nodes = "h100-[001-512]"
expect = { gpus = 8, gdr = true }
[[override]]
nodes = "h100-007"
[override.expect]
gpus = 7
[override.policy]
on_fail = "report"
)";
    const auto other = policy_of(text, "a100-001");
    CHECK(other.expect == Policy::Expect{false, 4, 1, std::nullopt});
    CHECK(policy_of(text, "h100-006").expect == Policy::Expect{true, 8, 1, std::nullopt});
    const auto seventh = policy_of(text, "h100-007");
    CHECK(seventh.expect == Policy::Expect{true, 7, 1, std::nullopt});
    CHECK(seventh.policy.on_fail == OnFail::report);
    CHECK(policy_of(text, "h100-007.cluster.local").expect.gpus == 7);
}

TEST_CASE("a typo in an override for other nodes shows everywhere") {
    CHECK(has(error_of("[[override]]\nnodes = \"z9\"\n[override.policy]\non_fial = \"off\"\n"),
              "4:1: [[override]] unknown key \"policy.on_fial\"; nearest known: policy.on_fail"));
    CHECK(has(error_of("[[override]]\nnodes = \"z9\"\nexpect.gpus = -1\n"), "3:15: [[override]] expect.gpus = -1"));
    CHECK(has(error_of("[[override]]\nnodes = \"z[9\"\n"), "2:9: override nodes: host list"));
}

TEST_CASE("a malformed override is an error") {
    CHECK(has(error_of("[[override]]\nexpect.gpus = 1\n"), "1:1: [[override]] without nodes"));
    CHECK(has(error_of("[override]\nnodes = \"n1\"\n"), "must be written [[override]]"));
    CHECK(has(error_of("override = 1"), "must be written [[override]]"));
    CHECK(has(error_of("override = [1]"), "must be written [[override]]"));
    CHECK(has(error_of("[[override]]\nnodes = [\"n1\"]\n"), "must be a string"));
    CHECK(has(error_of("[[override]]\nnodes = \"n1\"\n[[override.override]]\nnodes = \"n1\"\n"), "holds no overrides"));
    CHECK(has(error_of("[[override]]\nnode = \"n1\"\nnodes = \"n1\"\n"), "unknown key \"node\"; nearest known: nodes"));
}

TEST_CASE("every value knows where it comes from") {
    const auto effective = parse_policy(R"([policy]
on_fail = "report"
[nics]
exclude = "mlx5_9"
[[override]]
nodes = "n[1-4]"
policy.on_fail = "off"
)",
                                        "/etc/slurm/gdrcheck.toml", "n1");
    REQUIRE(effective.has_value());
    CHECK(effective->file == "/etc/slurm/gdrcheck.toml");
    const auto of = [&](std::string_view key) {
        const auto found = std::find_if(effective->origins.begin(), effective->origins.end(),
                                        [&](const auto& origin) { return origin.key == key; });
        REQUIRE(found != effective->origins.end());
        return found->value + " from " + found->origin;
    };
    CHECK(of("policy.on_fail") == "\"off\" from /etc/slurm/gdrcheck.toml:7 [[override]] nodes=\"n[1-4]\"");
    CHECK(of("nics.exclude") == "[\"mlx5_9\"] from /etc/slurm/gdrcheck.toml:4");
    CHECK(of("nics.compute") == "[] from default");
    CHECK(of("drain.budget_percent") == "10 from default");
    CHECK(of("drain.budget_nodes") == "\"none\" from default");
    CHECK(of("checks.self.severity") == "\"default\" from default");
    CHECK(effective->origins.size() == default_policy().origins.size());
}

TEST_CASE("all values as they are shown give the same policy again") {
    const auto first = parse_policy(R"(
nics = { compute = ["a*", "b[0-3]"], exclude = "c" }
expect = { gbps = 12.5, gpus = 8 }
nccl.topo_file = "/a \"quoted\" \\ file"
checks.self.severity = "fail"
)",
                                    "a", "n1");
    REQUIRE(first.has_value());
    std::string text;
    for (const auto& origin : first->origins) text += origin.key + " = " + origin.value + '\n';
    const auto again = parse_policy(text, "b", "n1");
    INFO((again ? "" : again.error().what));
    REQUIRE(again.has_value());
    CHECK(again->policy == first->policy);
}

TEST_CASE("%n in the probe root is a plain node name") {
    CHECK(expand_probe_root("/", "n1").value() == "/");
    CHECK(expand_probe_root("/", "").value() == "/");
    CHECK(expand_probe_root("/srv/%n/root-%n", "n1").value() == "/srv/n1/root-n1");
    for (const auto* name : {"", "..", ".", "a/b", "a..b", "../etc", "a\nb", "%n", "a b"}) {
        CAPTURE(name);
        CHECK_FALSE(expand_probe_root("/srv/%n", name).has_value());
    }
    CHECK_FALSE(expand_probe_root("/srv/%", "n1").has_value());
    CHECK_FALSE(expand_probe_root("/srv/%h", "n1").has_value());
}
