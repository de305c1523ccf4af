#include <catch2/catch_test_macros.hpp>

#include "tests/unit/checks/scene.hpp"

using namespace gdrcheck;
using gdrcheck::test::FactsBuilder;
using gdrcheck::test::mentions;
using gdrcheck::test::Scene;
using gdrcheck::test::two_switches;

TEST_CASE("a GPU that every NIC is too far from is path-far, structural, with its distance") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::PHB);
    const auto findings = scene.run("check_path_far");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].subject == "0000:19:00.0");
    CHECK(findings[0].structural);
    CHECK(findings[0].gpus == std::vector<std::size_t>{0});
    CHECK(mentions(findings[0].seen, "mlx5_0 is PHB"));
}

TEST_CASE("the remedy for a distance fits its reason") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::PHB);
    CHECK(mentions(scene.run("check_path_far").at(0).remedy, "gdrcheck topo"));
    for (auto& gpu : scene.answer.gpus) gpu.model.c2c = true;
    scene.answer.version = {2, 21, 5};
    CHECK(mentions(scene.run("check_path_far").at(0).remedy, "NCCL 2.27"));
    Scene flat(FactsBuilder{}.gpu("0000:00:05.0").nic("mlx5_0", "0000:00:06.0"));
    flat.move_away(nccl::Path::PHB);
    CHECK(mentions(flat.run("check_path_far").at(0).remedy, "NCCL_TOPO_FILE"));
}

TEST_CASE("a near NIC that loses to a faster far one is named") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::PHB);
    for (auto& pair : scene.answer.pairs) {
        if (pair.gpu == 0 && pair.nic == "mlx5_1") {
            pair.path = nccl::Path::PIX;
            pair.gdr_recv = pair.gdr_send = true;
        }
    }
    scene.settle();
    const auto findings = scene.run("check_path_far");
    REQUIRE(findings.size() == 2);
    CHECK(mentions(findings[0].seen, "mlx5_1 is nearer (PIX)"));
    CHECK(mentions(findings[0].remedy, "mlx5_0"));
}

TEST_CASE("a relay is no finding") {
    Scene scene(two_switches());
    scene.answer.gpus[1].status = nccl::GpuStatus::relay;
    scene.answer.gpus[1].path = nccl::Path::SYS;
    scene.answer.gpus[1].relay = 0;
    scene.settle();
    CHECK(scene.run_all().empty());
}

TEST_CASE("channels over NICs with different answers warn") {
    Scene scene(two_switches());
    scene.answer.gpus[0].mixed = true;
    scene.answer.gpus[0].selected = {"mlx5_0", "mlx5_1"};
    scene.answer.pairs[1].path = nccl::Path::SYS;
    scene.answer.pairs[1].gdr_recv = scene.answer.pairs[1].gdr_send = false;
    const auto findings = scene.run("check_path_far");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::warn);
    CHECK(findings[0].severity_fixed);
    CHECK(mentions(findings[0].seen, "mlx5_0 PIX (GDR), mlx5_1 SYS (staged)"));
}

TEST_CASE("a NIC that NCCL misreads fails where it stages a GPU, and is then the only finding for it") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::PHB);
    scene.answer.misreadings = {{.kind = nccl::Misreading::Kind::misattached,
                                 .nic = "mlx5_0",
                                 .text = "NCCL looks for 0000:1a:00.0",
                                 .remedy = "move it",
                                 .gpus = {0}}};
    scene.settle();
    const auto findings = scene.run("check_path_far");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].subject == "mlx5_0");
    CHECK(findings[0].outcome == Outcome::fail);
    CHECK(findings[0].gpus == std::vector<std::size_t>{0});
    CHECK(findings[1].subject == "0000:39:00.0");
}

TEST_CASE("a misreading that costs no GPU its GDR warns, and so does one beside a missing transport") {
    Scene scene(two_switches());
    scene.answer.misreadings = {{.kind = nccl::Misreading::Kind::merged_cards,
                                 .nic = "mlx5_0",
                                 .text = "two cards",
                                 .remedy = "NCCL_IB_MERGE_VFS=0",
                                 .gpus = {0, 1}}};
    scene.settle();
    CHECK(scene.run("check_path_far").at(0).outcome == Outcome::warn);
    scene.starve();
    REQUIRE(scene.run("check_path_far").size() == 1);
    CHECK(scene.run("check_path_far").at(0).outcome == Outcome::warn);
}

TEST_CASE("a GPU model without GDR is gpu-no-gdr and nothing else") {
    Scene scene(two_switches());
    for (auto& gpu : scene.answer.gpus) {
        gpu.model.gdr = false;
        gpu.model.name = "GeForce RTX 4090";
        gpu.status = nccl::GpuStatus::staged;
    }
    scene.settle();
    const auto findings = scene.run_all();
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].slug == "gpu-no-gdr");
    CHECK(findings[0].structural);
    scene.by_peermem();
    CHECK(scene.run_all().size() == 2);
    CHECK(mentions(findings[0].seen, "GeForce RTX 4090"));
}

TEST_CASE("a missing transport is not told of GPUs that could not use one") {
    Scene scene(two_switches());
    for (auto& gpu : scene.answer.gpus) gpu.model.gdr = false;
    scene.starve();
    for (auto& gpu : scene.with_transport.gpus) gpu.status = nccl::GpuStatus::staged;
    scene.with_ports_up = scene.with_transport;
    CHECK(scene.run("check_peermem").empty());
}

TEST_CASE("a GPU that NICs may write and not read is gpu-no-gdr with the switch that turns sends on") {
    Scene scene(two_switches());
    scene.answer.gpus[0].status = nccl::GpuStatus::staged;
    scene.answer.pairs[0].gdr_send = false;
    scene.settle();
    const auto findings = scene.run("check_gpu_no_gdr");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].remedy, "NCCL_NET_GDR_READ=1"));
    CHECK(scene.run("check_path_far").empty());
}

TEST_CASE("fewer GPUs than expected are missing") {
    Scene scene(two_switches());
    scene.policy.expect.gpus = 2;
    CHECK(scene.run("check_gpu_missing").empty());
    scene.policy.expect.gpus = 8;
    const auto findings = scene.run("check_gpu_missing");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].seen, "2 GPUs, [expect] gpus = 8"));
}

TEST_CASE("a GPU the driver knows and the bus does not is missing by its address") {
    Scene scene(two_switches());
    scene.facts.nvidia_why =
        "/proc/driver/nvidia/version: Permission denied; 0000:4a:00.0: known to the driver, not on the "
        "PCI bus; 0000:5a:00.0: known to the driver, not on the PCI bus";
    const auto findings = scene.run("check_gpu_missing");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].subject == "0000:4a:00.0");
    CHECK(findings[1].subject == "0000:5a:00.0");
}

TEST_CASE("an excluded GPU warns, and fails when the job was given it or the count falls short") {
    Scene scene(two_switches());
    scene.facts.gpus[0].excluded = true;
    CHECK(scene.run("check_gpu_missing").at(0).outcome == Outcome::warn);
    scene.policy.expect.gpus = 2;
    CHECK(scene.run("check_gpu_missing").size() == 2);
    CHECK(scene.run("check_gpu_missing").at(1).outcome == Outcome::fail);
    scene.policy.expect.gpus = std::nullopt;
    scene.answer.gpus.pop_back();  // the job has the first GPU alone
    CHECK(scene.run("check_gpu_missing").at(0).outcome == Outcome::fail);
}

TEST_CASE("a PCI bus that cannot be listed is unknown") {
    Scene scene(FactsBuilder{}.with([](NodeFacts& facts) {
        facts.pci_readable = {std::nullopt, "/sys/bus/pci/devices: Permission denied"};
    }));
    const auto findings = scene.run("check_gpu_missing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
}

TEST_CASE("GPUs and NICs without a bridge above them and without a topology file are vm-topology") {
    Scene scene(FactsBuilder{}.gpu("0000:00:05.0").nic("mlx5_0", "0000:00:06.0"));
    const auto findings = scene.run("check_vm_topology");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].structural);
    scene.answer.topology_used = "/opt/microsoft/ndv5-topo.xml";
    CHECK(scene.run("check_vm_topology").empty());
}

TEST_CASE("a virtual machine with a root port for each device is as flat, bare metal with one is not") {
    auto builder = FactsBuilder{}.bridge("0000:00:02.0").gpu("0000:01:00.0", "0000:00:02.0").bridge("0000:00:03.0");
    builder.nic("mlx5_0", "0000:02:00.0", "0000:00:03.0");
    CHECK(Scene(builder).run("check_vm_topology").empty());
    builder.with([](NodeFacts& facts) { facts.cpu.hypervisor = true; });
    CHECK(Scene(builder).run("check_vm_topology").size() == 1);
    builder.with([](NodeFacts& facts) {
        facts.cpu.hypervisor = false;
        facts.dmi_product = "Standard PC (Q35 + ICH9, 2009)";
    });
    CHECK(Scene(builder).run("check_vm_topology").size() == 1);
}

TEST_CASE("a virtual machine that shows its switches is no finding") {
    auto builder = two_switches().with([](NodeFacts& facts) { facts.cpu.hypervisor = true; });
    CHECK(Scene(builder).run("check_vm_topology").empty());
}

TEST_CASE("a network plugin is told with its evidence") {
    Scene scene(two_switches());
    CHECK(scene.run("check_net_plugin").empty());
    scene.answer.net_plugin = true;
    scene.answer.net_plugin_why = "every RDMA device is driven by efa";
    CHECK(scene.run("check_net_plugin").at(0).seen == "every RDMA device is driven by efa");
}
