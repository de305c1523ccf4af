#include <catch2/catch_test_macros.hpp>

#include "tests/unit/checks/scene.hpp"

using namespace gdrcheck;
using gdrcheck::test::mentions;
using gdrcheck::test::Scene;
using gdrcheck::test::two_switches;

namespace {

Finding only(const std::vector<Finding>& findings) {
    REQUIRE(findings.size() == 1);
    return findings.front();
}

}  // namespace

TEST_CASE("neither peermem nor DMA-BUF is one peermem-missing with the evidence for both") {
    Scene scene(two_switches());
    scene.starve();
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-missing");
    CHECK(finding.subject == "nvidia_peermem");
    CHECK(mentions(finding.seen, "no /sys/module/nvidia_peermem"));
    CHECK(mentions(finding.seen, "proprietary NVIDIA kernel module"));
    CHECK(finding.remedy == "modprobe nvidia-peermem");
    CHECK(finding.gpus == std::vector<std::size_t>{0, 1});
    CHECK_FALSE(finding.structural);
}

TEST_CASE("with a working transport no peermem finding") {
    Scene scene(two_switches());
    CHECK(scene.run("check_peermem").empty());
    scene.by_peermem();
    CHECK(scene.run("check_peermem").empty());
}

TEST_CASE("a missing transport that would help no GPU is structural") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::PHB);
    const auto far = scene.answer;
    scene.starve();
    scene.with_transport = scene.with_ports_up = far;
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-missing");
    CHECK(finding.structural);
    CHECK(finding.gpus.empty());
}

TEST_CASE("distance alone is no peermem finding") {
    Scene scene(two_switches());
    scene.move_away(nccl::Path::SYS);
    CHECK(scene.run("check_peermem").empty());
}

TEST_CASE("a NIC whose driver lacks the peer-memory API makes peermem-no-nic of a registered peermem") {
    Scene scene(two_switches());
    scene.starve("driver bnxt_en imports DMA-BUF from kernel 6.7 on");
    scene.answer.transport.peermem = nccl::PeermemState::registered;
    scene.answer.transport.peermem_visible = true;
    for (auto& nic : scene.answer.nics) nic.transport.peermem_api = false;
    scene.facts.rdma[0].driver = "bnxt_en";
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-no-nic");
    CHECK(finding.subject == "mlx5_0, mlx5_1");
    CHECK(mentions(finding.seen, "bnxt_en"));
}

TEST_CASE("without any peermem a driver that lacks its API is still peermem-missing, and modprobe is not the remedy") {
    Scene scene(two_switches());
    scene.starve();
    for (auto& nic : scene.answer.nics) nic.transport.peermem_api = false;
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-missing");
    CHECK_FALSE(mentions(finding.remedy, "modprobe"));
}

TEST_CASE("the legacy module without a transport is peermem-clash, and its remedy unloads it first") {
    Scene scene(two_switches());
    scene.starve();
    scene.facts.modules["nv_peer_mem"].state = "live";
    auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-clash");
    CHECK(finding.remedy == "modprobe -r nv_peer_mem && modprobe nvidia-peermem");
    scene.facts.modules["nvidia_peermem"].state = "coming";
    finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-clash");
    CHECK(mentions(finding.seen, "nvidia_peermem is coming"));
}

TEST_CASE("the legacy module that serves NCCL is no finding") {
    Scene scene(two_switches());
    scene.facts.modules["nv_peer_mem"].state = "live";
    scene.by_peermem();
    CHECK(scene.run("check_peermem").empty());
}

TEST_CASE("a peermem that the assumed NCCL does not look for fails as nccl-too-old") {
    Scene scene(two_switches());
    scene.starve();
    scene.answer.version = {2, 21, 5};
    scene.answer.transport.peermem = nccl::PeermemState::loaded;
    scene.answer.transport.peermem_visible = false;
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "nccl-too-old");
    CHECK(finding.outcome == Outcome::fail);
    CHECK(finding.severity_fixed);
    CHECK(mentions(finding.seen, "2.21.5"));
    CHECK(finding.gpus.size() == 2);
    CHECK(scene.run("check_nccl_too_old").empty());
}

TEST_CASE("a loaded peermem without sysfs and without DMA-BUF warns of old NCCL, with DMA-BUF it does not") {
    Scene scene(two_switches());
    CHECK(scene.run("check_nccl_too_old").empty());
    scene.by_peermem();
    auto finding = only(scene.run("check_nccl_too_old"));
    CHECK(finding.slug == "nccl-too-old");
    CHECK_FALSE(finding.severity_fixed);
    CHECK(finding.gpus.empty());
    auto old = scene.answer;
    old.version = {2, 20, 5};
    old.transport.peermem_visible = false;
    scene.others = {old};
    finding = only(scene.run("check_nccl_too_old"));
    CHECK(mentions(finding.why, "2.20.5"));
}

TEST_CASE("a client under memory_peers is seen by every NCCL") {
    Scene scene(two_switches());
    scene.by_peermem();
    scene.facts.memory_peers["nv_mem"] = "580.95.05";
    CHECK(scene.run("check_nccl_too_old").empty());
}

TEST_CASE("an unreadable memory_peers claims nothing about old NCCL") {
    Scene scene(two_switches());
    scene.by_peermem();
    scene.facts.memory_peers_readable = {std::nullopt, "/sys/kernel/mm/memory_peers: Permission denied"};
    CHECK(scene.run("check_nccl_too_old").empty());
}

TEST_CASE("a transport that cannot be told is unknown, once for all NICs") {
    Scene scene(two_switches());
    for (auto& nic : scene.answer.nics) {
        nic.transport = {
            .dmabuf = nccl::Tristate::unknown, .dmabuf_why = "kernel release not readable", .known = false};
    }
    for (auto& gpu : scene.answer.gpus) gpu.status = nccl::GpuStatus::unknown;
    scene.settle();
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.outcome == Outcome::unknown);
    CHECK(finding.subject == "mlx5_0, mlx5_1");
    CHECK(mentions(finding.seen, "kernel release not readable"));
}

TEST_CASE("policy that requires peermem names itself in peermem-missing") {
    Scene scene(two_switches());
    scene.starve();
    scene.policy.policy.require = Require::peermem;
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "peermem-missing");
    CHECK(mentions(finding.seen, "require"));
    CHECK(scene.run("check_dmabuf_off").empty());
}

TEST_CASE("policy that requires DMA-BUF makes dmabuf-off the failing cause") {
    Scene scene(two_switches());
    scene.starve();
    scene.answer.transport.peermem = nccl::PeermemState::registered;
    scene.policy.policy.require = Require::dmabuf;
    const auto finding = only(scene.run("check_peermem"));
    CHECK(finding.slug == "dmabuf-off");
    CHECK(finding.outcome == Outcome::fail);
    CHECK(finding.gpus.size() == 2);
}

TEST_CASE("peermem alone is dmabuf-off, by the driver where the driver is the reason") {
    Scene scene(two_switches());
    scene.by_peermem("kernel 5.4 is older than 5.12");
    auto finding = only(scene.run("check_dmabuf_off"));
    CHECK(finding.slug == "dmabuf-off");
    CHECK(finding.subject == "mlx5_0, mlx5_1");
    CHECK(mentions(finding.seen, "5.4"));
    scene.facts.nvidia_open = false;
    finding = only(scene.run("check_dmabuf_off"));
    CHECK(finding.subject == "nvidia");
}

TEST_CASE("DMA-BUF that is unknown is not off") {
    Scene scene(two_switches());
    scene.by_peermem();
    for (auto& nic : scene.answer.nics) nic.transport.dmabuf = nccl::Tristate::unknown;
    CHECK(scene.run("check_dmabuf_off").empty());
}
