#include <catch2/catch_test_macros.hpp>

#include "tests/unit/checks/scene.hpp"

using namespace gdrcheck;
using gdrcheck::test::mentions;
using gdrcheck::test::Scene;
using gdrcheck::test::two_switches;

namespace {

/// mlx5_1 is down; its GPU would have GDR with it and is staged over mlx5_0, far away.
Scene second_port_down(PortState state = PortState::down, const char* phys_state = "Polling") {
    Scene scene(two_switches().port_state("mlx5_1", state, phys_state));
    scene.answer.nics[1].used = false;
    scene.answer.nics[1].used_ports.clear();
    scene.answer.gpus[1] = {
        .gpu = 1, .status = nccl::GpuStatus::staged, .nic = "mlx5_0", .selected = {"mlx5_0"}, .path = nccl::Path::PHB};
    scene.with_transport = scene.answer;
    return scene;
}

}  // namespace

TEST_CASE("a port that is down and leaves a GPU staged fails and names the GPU") {
    const auto findings = second_port_down().run("check_port_down");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "mlx5_1/1");
    CHECK(findings[0].outcome == Outcome::fail);
    CHECK(findings[0].gpus == std::vector<std::size_t>{1});
    CHECK(mentions(findings[0].seen, "/sys/class/infiniband/mlx5_1/ports/1/state is DOWN"));
    CHECK(mentions(findings[0].why, "0000:39:00.0"));
}

TEST_CASE("a GPU that a port leaves staged is not also too far") {
    CHECK(second_port_down().run("check_path_far").empty());
}

TEST_CASE("a port that is down and costs no GPU its GDR warns") {
    Scene scene(two_switches().nic("mlx5_2", "0000:50:00.0").port_state("mlx5_2", PortState::down));
    const auto findings = scene.run("check_port_down");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::warn);
    CHECK(findings[0].gpus.empty());
}

TEST_CASE("a port named in [nics] compute fails, one that a wildcard covers warns") {
    Scene scene(two_switches().nic("mlx5_2", "0000:50:00.0").port_state("mlx5_2", PortState::down));
    scene.policy.nics.compute = {"mlx5_0", "mlx5_1", "mlx5_2"};
    CHECK(scene.run("check_port_down").at(0).outcome == Outcome::fail);
    scene.policy.nics.compute = {"mlx5_*"};
    CHECK(scene.run("check_port_down").at(0).outcome == Outcome::warn);
    scene.policy.nics.compute = {"mlx5_[0-2]"};
    CHECK(scene.run("check_port_down").at(0).outcome == Outcome::warn);
}

TEST_CASE("an excluded device is never port-down, nor is one outside [nics] compute") {
    Scene scene(two_switches().nic("mlx5_2", "0000:50:00.0").port_state("mlx5_2", PortState::down));
    scene.policy.nics.exclude = {"mlx5_2"};
    CHECK(scene.run("check_port_down").empty());
    scene.policy.nics = {.compute = {"mlx5_0", "mlx5_1"}, .exclude = {}};
    CHECK(scene.run("check_port_down").empty());
}

TEST_CASE("INIT with the link up on InfiniBand points to the subnet manager") {
    const auto findings = second_port_down(PortState::init, "LinkUp").run("check_port_down");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].seen, "INIT"));
    CHECK(mentions(findings[0].remedy, "sminfo"));
}

TEST_CASE("a down Ethernet port points to its network interface") {
    auto scene = second_port_down();
    scene.facts.rdma[1].ports[0].link_layer = "Ethernet";
    scene.facts.rdma[1].ports[0].netdevs = {"ens1f1np1"};
    CHECK(mentions(scene.run("check_port_down").at(0).remedy, "ip link set ens1f1np1 up"));
}

TEST_CASE("no port left at all is port-down for every GPU") {
    Scene scene(two_switches().port_state("mlx5_0", PortState::init).port_state("mlx5_1", PortState::init));
    scene.settle();
    for (auto& gpu : scene.answer.gpus) gpu = {.gpu = gpu.gpu, .status = nccl::GpuStatus::no_nic};
    for (auto& nic : scene.answer.nics) nic.used = false;
    scene.with_transport = scene.answer;
    const auto findings = scene.run("check_port_down");
    REQUIRE(findings.size() == 2);
    for (const auto& finding : findings) {
        CHECK(finding.outcome == Outcome::fail);
        CHECK(finding.gpus.size() == 2);
    }
    CHECK(scene.run("check_rdma_missing").empty());
    CHECK(scene.run("check_path_far").empty());
}

TEST_CASE("a missing transport behind a port that is down is told beside it, for the same GPU") {
    auto scene = second_port_down();
    for (auto& nic : scene.answer.nics) nic.transport.via = nccl::Via::none;
    const auto findings = scene.run("check_peermem");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].slug == "peermem-missing");
    CHECK(findings[0].gpus == std::vector<std::size_t>{1});
    CHECK_FALSE(findings[0].structural);
}

TEST_CASE("a port state that cannot be read is unknown, not down") {
    auto builder = two_switches();
    builder.rdma("mlx5_0").ports[0].state = std::nullopt;
    builder.rdma("mlx5_0").ports[0].state_why = "/sys/class/infiniband/mlx5_0/ports/1/state: Permission denied";
    const auto findings = Scene(builder).run("check_port_down");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
    CHECK(mentions(findings[0].seen, "Permission denied"));
}

TEST_CASE("a port slower than its siblings warns") {
    const auto findings = Scene(two_switches().port_gbps("mlx5_1", 200)).run("check_port_slow");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "mlx5_1/1");
    CHECK(mentions(findings[0].seen, "400"));
}

TEST_CASE("ports of another card or link layer are no siblings") {
    auto builder = two_switches().port_gbps("mlx5_1", 200);
    builder.rdma("mlx5_1").board_id = "MT_0000000359";
    CHECK(Scene(builder).run("check_port_slow").empty());
    builder.rdma("mlx5_1").board_id = builder.rdma("mlx5_0").board_id;
    builder.rdma("mlx5_1").ports[0].link_layer = "Ethernet";
    CHECK(Scene(builder).run("check_port_slow").empty());
}

TEST_CASE("a port slower than [expect] gbps warns, once, and only where NCCL uses it") {
    Scene scene(two_switches());
    scene.policy.expect.gbps = 800;
    CHECK(scene.run("check_port_slow").size() == 2);
    scene.answer.nics[1].used = false;
    CHECK(scene.run("check_port_slow").size() == 1);
    scene.policy.expect.gbps = 400;
    CHECK(scene.run("check_port_slow").empty());
}

TEST_CASE("a rate that is not told is unknown") {
    auto builder = two_switches();
    builder.rdma("mlx5_0").ports[0].gbps = 0;
    builder.rdma("mlx5_0").ports[0].rate.clear();
    const auto findings = Scene(builder).run("check_port_slow");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
}

TEST_CASE("fewer RDMA devices than expected, with the function on the bus that has none") {
    auto builder = two_switches().nic("mlx5_2", "0000:50:00.0");
    builder.with([](NodeFacts& facts) {
        facts.rdma.pop_back();
        facts.pci.at(test::address("0000:50:00.0")).driver.clear();
    });
    Scene scene(builder);
    CHECK(scene.run("check_rdma_missing").empty());
    scene.policy.expect.nics = 3;
    const auto findings = scene.run("check_rdma_missing");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].seen, "2 RDMA devices, [expect] nics = 3"));
    CHECK(mentions(findings[0].seen, "0000:50:00.0 (no driver)"));
}

TEST_CASE("excluded devices do not count towards [expect] nics") {
    Scene scene(two_switches());
    scene.policy.expect.nics = 2;
    CHECK(scene.run("check_rdma_missing").empty());
    scene.policy.nics.exclude = {"mlx5_1"};
    CHECK(scene.run("check_rdma_missing").size() == 1);
}

TEST_CASE("a device that [nics] compute names in full and that is not there is missing") {
    Scene scene(two_switches());
    scene.policy.nics.compute = {"mlx5_0", "mlx5_7", "ib*"};
    const auto findings = scene.run("check_rdma_missing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "mlx5_7");
}

TEST_CASE("an RDMA class that cannot be listed is unknown") {
    Scene scene(two_switches());
    scene.facts.rdma_readable = {std::nullopt, "/sys/class/infiniband: Input/output error"};
    const auto findings = scene.run("check_rdma_missing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
    CHECK(mentions(findings[0].seen, "Input/output error"));
}

TEST_CASE("a device without its uverbs file is missing for NCCL") {
    auto builder = two_switches();
    builder.rdma("mlx5_1").uverbs_node.value = false;
    const auto findings = Scene(builder).run("check_uverbs_missing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "mlx5_1");
    CHECK(mentions(findings[0].seen, "/dev/infiniband/uverbs1"));
}

TEST_CASE("uverbs files that cannot be told are unknown, once for all devices") {
    auto builder = two_switches();
    for (const auto* name : {"mlx5_0", "mlx5_1"}) {
        builder.rdma(name).uverbs_node = {std::nullopt, "/dev/infiniband: No such file or directory"};
    }
    const auto findings = Scene(builder).run("check_uverbs_missing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
    CHECK(findings[0].subject == "mlx5_0, mlx5_1");
}

TEST_CASE("uverbs of excluded devices and of devices without an ACTIVE port do not matter") {
    auto builder = two_switches().port_state("mlx5_1", PortState::down);
    for (const auto* name : {"mlx5_0", "mlx5_1"}) builder.rdma(name).uverbs_node.value = false;
    Scene scene(builder);
    scene.policy.nics.exclude = {"mlx5_0"};
    CHECK(scene.run("check_uverbs_missing").empty());
}
