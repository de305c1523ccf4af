// Whole nodes through the model of NCCL, every check and the verdict.
#include <set>

#include <catch2/catch_test_macros.hpp>

#include "common/verdict/verdict.hpp"
#include "tests/support/facts_builder.hpp"

using namespace gdrcheck;
using gdrcheck::test::FactsBuilder;

namespace {

/// Two H100 and two ConnectX-7, a pair under each switch.
FactsBuilder healthy() {
    FactsBuilder builder;
    for (const auto* base : {"16", "36"}) {
        const auto at = [&](int offset, const char* tail) {
            char text[16];
            std::snprintf(text, sizeof text, "0000:%02x:%s",
                          static_cast<unsigned>(std::stoi(base, nullptr, 16) + offset), tail);
            return std::string(text);
        };
        builder.bridge(at(0, "01.0")).bridge(at(1, "00.0"), at(0, "01.0"));
        builder.bridge(at(2, "00.0"), at(1, "00.0")).bridge(at(2, "01.0"), at(1, "00.0"));
        builder.gpu(at(3, "00.0"), at(2, "00.0"));
        builder.nic(base[0] == '1' ? "mlx5_0" : "mlx5_1", at(4, "00.0"), at(2, "01.0"));
    }
    return builder;
}

/// A GPU and a NIC on two root ports of one host bridge: PHB.
FactsBuilder phb() {
    return FactsBuilder{}
        .bridge("0000:16:01.0")
        .gpu("0000:17:00.0", "0000:16:01.0", 0x26b9)
        .bridge("0000:16:02.0")
        .nic("mlx5_0", "0000:18:00.0", "0000:16:02.0");
}

std::vector<std::string> slugs(const Verdict& verdict) {
    std::vector<std::string> found;
    for (const auto& finding : verdict.findings) found.push_back(finding.slug);
    return found;
}

std::vector<std::string> failing(const Verdict& verdict) {
    std::vector<std::string> found;
    for (const auto& finding : verdict.findings) {
        if (finding.outcome == Outcome::fail) found.push_back(finding.slug);
    }
    return found;
}

Verdict judged(const FactsBuilder& builder, const Policy& policy = {}, const JudgeOptions& options = {}) {
    auto verdict = judge(builder.facts(), policy, options);
    // What every verdict promises, whatever the node
    CHECK(verdict.drain == !verdict.drain_reason.empty());
    CHECK(verdict.drain_reason.size() <= 200);
    CHECK_FALSE(verdict.why.empty());
    if (verdict.verdict == NodeVerdict::fail || verdict.verdict == NodeVerdict::degraded) {
        std::set<std::size_t> explained;
        for (const auto& finding : verdict.findings) explained.insert(finding.gpus.begin(), finding.gpus.end());
        for (const auto& gpu : verdict.answers.at(0).gpus) {
            const bool lacks = gpu.status == nccl::GpuStatus::staged || gpu.status == nccl::GpuStatus::no_nic;
            if (lacks && policy.checks.empty()) CHECK(explained.contains(gpu.gpu));
        }
    }
    std::size_t peermem_fails = 0;
    for (const auto& slug : failing(verdict)) peermem_fails += slug.starts_with("peermem-") ? 1U : 0U;
    CHECK(peermem_fails <= 1);
    return verdict;
}

JudgeOptions assuming(std::vector<nccl::Version> versions) {
    return {.versions = std::move(versions)};
}

constexpr nccl::Version current{2, 28, 9};
constexpr nccl::Version old{2, 21, 5};

using Slugs = std::vector<std::string>;

}  // namespace

TEST_CASE("a healthy node is ok without a finding") {
    const auto verdict = judged(healthy());
    CHECK(verdict.verdict == NodeVerdict::ok);
    CHECK(verdict.findings.empty());
    CHECK(verdict.why == "2 of 2 GPUs with GDR");
    CHECK_FALSE(verdict.drain);
}

TEST_CASE("exit codes are those of the contract") {
    CHECK(exit_code(NodeVerdict::ok) == 0);
    CHECK(exit_code(NodeVerdict::degraded) == 0);
    CHECK(exit_code(NodeVerdict::not_applicable) == 0);
    CHECK(exit_code(NodeVerdict::fail) == 1);
    CHECK(exit_code(NodeVerdict::unknown) == 3);
}

TEST_CASE("no peermem and no DMA-BUF fails, drains, and names one cause") {
    const auto verdict = judged(healthy().driver("550.135", false));
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(slugs(verdict) == Slugs{"peermem-missing"});
    CHECK(verdict.drain);
    CHECK(verdict.drain_reason.starts_with("gdr: peermem-missing nvidia_peermem: "));
    CHECK(verdict.drain_reason.ends_with("; modprobe nvidia-peermem"));
    CHECK(verdict.why == "2 of 2 GPUs without GDR: peermem-missing");
}

TEST_CASE("peermem alone is GDR, degraded for the DMA-BUF it lacks") {
    const auto verdict = judged(healthy().driver("550.135", false).peermem());
    CHECK(verdict.verdict == NodeVerdict::degraded);
    CHECK(slugs(verdict) == Slugs{"dmabuf-off"});
}

TEST_CASE("a loaded peermem without sysfs warns of old NCCL as well") {
    const auto verdict = judged(healthy().driver("550.135", false).peermem(false));
    CHECK(verdict.verdict == NodeVerdict::degraded);
    CHECK(slugs(verdict) == Slugs{"dmabuf-off", "nccl-too-old"});
    CHECK(judged(healthy().peermem(false)).verdict == NodeVerdict::ok);
}

TEST_CASE("an assumed NCCL that does not see peermem fails as nccl-too-old") {
    const auto verdict = judged(healthy().driver("550.135", false).peermem(false), {}, assuming({old}));
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(failing(verdict) == Slugs{"nccl-too-old"});
    CHECK(verdict.drain);
}

TEST_CASE("with a list of versions the first judges and all must stage before a drain") {
    const auto node = healthy().driver("550.135", false).peermem(false);
    const auto old_first = judged(node, {}, assuming({old, current}));
    CHECK(old_first.verdict == NodeVerdict::fail);
    CHECK_FALSE(old_first.drain);
    CHECK(old_first.answers.size() == 2);
    const auto current_first = judged(node, {}, assuming({current, old}));
    CHECK(current_first.verdict == NodeVerdict::degraded);
    CHECK(judged(healthy().driver("550.135", false), {}, assuming({old, current})).drain);
}

TEST_CASE("distance fails the verdict and does not drain, unless the site expects GDR") {
    auto verdict = judged(phb());
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(failing(verdict) == Slugs{"path-far"});
    CHECK_FALSE(verdict.drain);
    Policy policy;
    policy.expect.gdr = true;
    verdict = judged(phb(), policy);
    CHECK(verdict.drain);
    CHECK(verdict.drain_reason.starts_with("gdr: path-far 0000:17:00.0: mlx5_0 is PHB"));
}

TEST_CASE("a missing transport on a node that distance stages anyway fails and does not drain") {
    const auto verdict = judged(phb().driver("550.135", false));
    CHECK(failing(verdict) == Slugs{"path-far", "peermem-missing"});
    CHECK_FALSE(verdict.drain);
}

TEST_CASE("a GPU whose near port is down is staged by port-down, and the node drains") {
    const auto verdict = judged(healthy().port_state("mlx5_1", PortState::down).with([](NodeFacts& facts) {
        for (auto& gpu : facts.gpus) facts.pci.at(gpu.pci).device = 0x26b9;  // L40S: no NVLink, no relay
    }));
    CHECK(failing(verdict) == Slugs{"port-down"});
    CHECK(verdict.findings.at(0).gpus == std::vector<std::size_t>{1});
    CHECK(verdict.drain);
    CHECK(verdict.why == "1 of 2 GPUs without GDR: port-down");
}

TEST_CASE("a relay over NVLink mends a port that is down: degraded") {
    const auto verdict = judged(healthy().port_state("mlx5_1", PortState::down));
    CHECK(verdict.verdict == NodeVerdict::degraded);
    CHECK(slugs(verdict) == Slugs{"port-down"});
    CHECK(verdict.answers[0].gpus[1].status == nccl::GpuStatus::relay);
}

TEST_CASE("no ACTIVE port at all fails by port-down for each port") {
    const auto verdict = judged(healthy().port_state("mlx5_0", PortState::init).port_state("mlx5_1", PortState::init));
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(failing(verdict) == Slugs{"port-down", "port-down"});
    CHECK(verdict.drain);
    CHECK(verdict.drain_reason.ends_with("(+1 more)"));
}

TEST_CASE("ports whose state cannot be read make the GPUs unknown, not staged") {
    const auto node = healthy().with([](NodeFacts& facts) {
        for (auto& device : facts.rdma) {
            device.ports[0].state = std::nullopt;
            device.ports[0].state_why = "state: Permission denied";
        }
    });
    auto verdict = judged(node);
    CHECK(verdict.verdict == NodeVerdict::unknown);
    CHECK(failing(verdict).empty());
    CHECK_FALSE(verdict.drain);
    Policy policy;
    policy.policy.on_unknown_drain = true;
    verdict = judged(node, policy);
    CHECK(verdict.drain);
    CHECK(verdict.drain_reason.starts_with("gdr: port-down mlx5_0/1, mlx5_1/1: state: Permission denied"));
}

TEST_CASE("a transport that cannot be told is unknown and drains only by policy") {
    const auto node = healthy().with([](NodeFacts& facts) { facts.nvidia_open = std::nullopt; });
    CHECK(judged(node).verdict == NodeVerdict::unknown);
    CHECK_FALSE(judged(node).drain);
    Policy policy;
    policy.policy.on_unknown_drain = true;
    CHECK(judged(node, policy).drain);
}

TEST_CASE("a check that could not look leaves the verdict as it is") {
    auto builder = healthy();
    builder.function("0000:18:00.0").acs = {std::nullopt, "config: 64 bytes"};
    const auto verdict = judged(builder);
    CHECK(verdict.verdict == NodeVerdict::ok);
    CHECK(slugs(verdict) == Slugs{"acs-redirect"});
    CHECK(verdict.findings[0].outcome == Outcome::unknown);
}

TEST_CASE("a warning degrades, and severity in policy turns it into a fail that drains, or into nothing") {
    const auto node = healthy().acs_control("0000:18:00.0", acs::request_redirect);
    CHECK(judged(node).verdict == NodeVerdict::degraded);
    Policy policy;
    policy.checks["acs-redirect"] = Severity::fail;
    CHECK(judged(node, policy).verdict == NodeVerdict::fail);
    CHECK(judged(node, policy).drain);
    policy.checks["acs-redirect"] = Severity::ignore;
    CHECK(judged(node, policy).verdict == NodeVerdict::ok);
}

TEST_CASE("staged GPUs whose cause policy takes below fail degrade, and are never ok") {
    Policy policy;
    policy.checks["path-far"] = Severity::warn;
    auto verdict = judged(phb(), policy);
    CHECK(verdict.verdict == NodeVerdict::degraded);
    CHECK_FALSE(verdict.drain);
    policy.checks["path-far"] = Severity::ignore;
    verdict = judged(phb(), policy);
    CHECK(verdict.verdict == NodeVerdict::degraded);
    CHECK(verdict.findings.empty());
    CHECK(verdict.why == "1 of 1 GPU without GDR, which [checks] accepts");
}

TEST_CASE("ignoring another slug excuses nobody") {
    Policy policy;
    policy.checks["port-down"] = Severity::ignore;
    const auto verdict = judged(phb(), policy);
    CHECK(verdict.verdict == NodeVerdict::fail);
}

TEST_CASE("a node without GPUs is not applicable, unless GPUs are expected") {
    const auto node = FactsBuilder{}.nic("mlx5_0", "0000:18:00.0").port_state("mlx5_0", PortState::down);
    auto verdict = judged(node);
    CHECK(verdict.verdict == NodeVerdict::not_applicable);
    CHECK(verdict.findings.empty());
    CHECK(verdict.why == "no NVIDIA GPU");
    Policy policy;
    policy.expect.gpus = 8;
    verdict = judged(node, policy);
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(slugs(verdict) == Slugs{"gpu-missing"});
    CHECK(verdict.drain);
}

TEST_CASE("a node without RDMA devices is not applicable, unless NICs are expected") {
    const auto node = FactsBuilder{}.bridge("0000:16:01.0").gpu("0000:17:00.0", "0000:16:01.0");
    CHECK(judged(node).verdict == NodeVerdict::not_applicable);
    Policy policy;
    policy.expect.nics = 1;
    auto verdict = judged(node, policy);
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(failing(verdict) == Slugs{"rdma-missing"});
    CHECK(verdict.drain);
    policy = {};
    policy.nics.compute = {"mlx5_0"};
    CHECK(failing(judged(node, policy)) == Slugs{"rdma-missing"});
    policy.nics.compute = {"mlx5_*"};
    CHECK(judged(node, policy).verdict == NodeVerdict::not_applicable);
}

TEST_CASE("a node whose NICs policy excludes one and all is not applicable") {
    Policy policy;
    policy.nics.exclude = {"mlx5_*"};
    const auto verdict = judged(healthy(), policy);
    CHECK(verdict.verdict == NodeVerdict::not_applicable);
    CHECK(verdict.why == "no RDMA device left by [nics] compute and exclude");
}

TEST_CASE("a network plugin is not applicable and says why") {
    Policy policy;
    policy.nccl.net = "plugin";
    const auto verdict = judged(healthy().driver("550.135", false), policy);
    CHECK(verdict.verdict == NodeVerdict::not_applicable);
    CHECK(slugs(verdict) == Slugs{"net-plugin"});
    CHECK_FALSE(verdict.drain);
}

TEST_CASE("a bus or an RDMA class that cannot be listed is unknown, not not-applicable") {
    CHECK(judged(FactsBuilder{}.with([](NodeFacts& facts) {
              facts.pci_readable = {std::nullopt, "/sys/bus/pci/devices: Permission denied"};
          })).verdict == NodeVerdict::unknown);
    CHECK(judged(FactsBuilder{}.bridge("0000:16:01.0").gpu("0000:17:00.0", "0000:16:01.0").with([](NodeFacts& facts) {
              facts.rdma_readable = {std::nullopt, "/sys/class/infiniband: Permission denied"};
          })).verdict == NodeVerdict::unknown);
    CHECK(judge(NodeFacts{}, {}, {}).verdict == NodeVerdict::unknown);
}

TEST_CASE("only the job's GPUs count") {
    auto node = healthy().port_state("mlx5_1", PortState::down).with([](NodeFacts& facts) {
        for (auto& gpu : facts.gpus) facts.pci.at(gpu.pci).device = 0x26b9;
    });
    CHECK(judged(node, {}, {.scope = std::vector<std::size_t>{1}}).verdict == NodeVerdict::fail);
    const auto first = judged(node, {}, {.scope = std::vector<std::size_t>{0}});
    CHECK(first.verdict == NodeVerdict::degraded);
    CHECK(first.answers[0].gpus.size() == 1);
}

TEST_CASE("a job's list that names no GPU of this node is not applicable, one that names a GPU twice counts it once") {
    CHECK(judged(healthy(), {}, {.scope = std::vector<std::size_t>{}}).verdict == NodeVerdict::not_applicable);
    CHECK(judged(healthy(), {}, {.scope = std::vector<std::size_t>{99}}).verdict == NodeVerdict::not_applicable);
    const auto twice = judged(healthy(), {}, {.scope = std::vector<std::size_t>{1, 1, 7}});
    CHECK(twice.verdict == NodeVerdict::ok);
    CHECK(twice.why == "1 of 1 GPU with GDR");
}

TEST_CASE("an unknown node that drains has a reason though the slug that says why is ignored") {
    Policy policy;
    policy.policy.on_unknown_drain = true;
    policy.checks["peermem-missing"] = Severity::ignore;
    const auto verdict = judged(healthy().with([](NodeFacts& facts) { facts.nvidia_open = std::nullopt; }), policy);
    CHECK(verdict.verdict == NodeVerdict::unknown);
    CHECK(verdict.drain_reason == "gdr: unknown: 2 of 2 GPUs could not be judged; gdrcheck node");
}

TEST_CASE("on_fail does not change what draining would answer") {
    Policy policy;
    policy.policy.on_fail = OnFail::off;
    CHECK(judged(healthy().driver("550.135", false), policy).drain);
}

TEST_CASE("policy that requires one transport fails a node that has the other") {
    Policy policy;
    policy.policy.require = Require::peermem;
    CHECK(failing(judged(healthy(), policy)) == Slugs{"peermem-missing"});
    policy.policy.require = Require::dmabuf;
    CHECK(failing(judged(healthy().driver("550.135", false).peermem(), policy)) == Slugs{"dmabuf-off"});
    CHECK(judged(healthy(), policy).verdict == NodeVerdict::ok);
}

TEST_CASE("a driver without the peer-memory API under a registered peermem is peermem-no-nic") {
    const auto node = healthy().driver("550.135", false).peermem().with([](NodeFacts& facts) {
        for (auto& device : facts.rdma) device.driver = "bnxt_en";
    });
    const auto verdict = judged(node);
    CHECK(failing(verdict) == Slugs{"peermem-no-nic"});
    CHECK(verdict.drain);
}

TEST_CASE("the legacy module without sysfs is peermem-clash") {
    const auto node =
        healthy().driver("550.135", false).with([](NodeFacts& facts) { facts.modules["nv_peer_mem"].state = "live"; });
    CHECK(failing(judged(node)) == Slugs{"peermem-clash"});
}

TEST_CASE("a GeForce is gpu-no-gdr, structural") {
    const auto node = healthy().with([](NodeFacts& facts) {
        for (auto& gpu : facts.gpus) facts.pci.at(gpu.pci).device = 0x2684;  // RTX 4090
    });
    const auto verdict = judged(node);
    CHECK(failing(verdict) == Slugs{"gpu-no-gdr", "gpu-no-gdr"});
    CHECK_FALSE(verdict.drain);
}

TEST_CASE("a NIC that NCCL mistakes for a GPU fails by path-far, structural") {
    const auto node = FactsBuilder{}
                          .bridge("0000:16:01.0")
                          .bridge("0000:17:00.0", "0000:16:01.0")
                          .bridge("0000:18:00.0", "0000:17:00.0")
                          .gpu("0000:19:00.0", "0000:18:00.0")
                          .nic("mlx5_0", "0000:19:01.0", "0000:18:00.0");
    const auto verdict = judged(node);
    CHECK(verdict.verdict == NodeVerdict::fail);
    CHECK(failing(verdict) == Slugs{"path-far"});
    CHECK(verdict.findings[0].subject == "mlx5_0");
    CHECK_FALSE(verdict.drain);
}

TEST_CASE("NCCL_IB_HCA that leaves a NIC out is told, and its port is not port-down") {
    const auto node = healthy().port_state("mlx5_1", PortState::down).with([](NodeFacts& facts) {
        facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_IB_HCA", "=mlx5_0"});
    });
    CHECK(judged(node).findings.empty());
    const auto nothing = healthy().with([](NodeFacts& facts) {
        facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_IB_HCA", "=mlx5_9"});
    });
    const auto verdict = judged(nothing);
    CHECK(verdict.verdict == NodeVerdict::fail);
    REQUIRE_FALSE(verdict.findings.empty());
    CHECK(verdict.findings[0].seen.find("NCCL_IB_HCA") != std::string::npos);
}

TEST_CASE("an empty list of versions is the default version") {
    const auto verdict = judged(healthy(), {}, assuming({}));
    REQUIRE(verdict.answers.size() == 1);
    CHECK(verdict.answers[0].version == nccl::default_version);
}

TEST_CASE("verdicts of the same node are equal") {
    const auto node = phb().driver("550.135", false).facts();
    const auto first = judge(node, {}, {});
    const auto second = judge(node, {}, {});
    CHECK(first.findings == second.findings);
    CHECK(first.drain_reason == second.drain_reason);
}
