#include <catch2/catch_test_macros.hpp>

#include "tests/unit/checks/scene.hpp"

using namespace gdrcheck;
using gdrcheck::test::mentions;
using gdrcheck::test::Scene;
using gdrcheck::test::two_switches;

namespace {

constexpr std::uint16_t set_by_kernel =
    acs::source_validation | acs::request_redirect | acs::completion_redirect | acs::upstream_forwarding;

}  // namespace

TEST_CASE("redirect on the port above a GPU or a NIC warns by bridge and bits") {
    const auto findings = Scene(two_switches().acs_control("0000:18:00.0", set_by_kernel)).run("check_acs_redirect");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "0000:18:00.0");
    CHECK(mentions(findings[0].seen, "ReqRedir+ CmpltRedir+"));
    CHECK(mentions(findings[0].remedy, "setpci -s 0000:18:00.0 ECAP_ACS+0x6.w=0000"));
    CHECK(Scene(two_switches().acs_control("0000:18:01.0", set_by_kernel)).run("check_acs_redirect").size() == 1);
}

TEST_CASE("the bridge above both counts, the root port above it does not") {
    CHECK(Scene(two_switches().acs_control("0000:17:00.0", acs::egress_control)).run("check_acs_redirect").size() == 1);
    CHECK(Scene(two_switches().acs_control("0000:16:01.0", set_by_kernel)).run("check_acs_redirect").empty());
}

TEST_CASE("source validation alone redirects nothing") {
    const auto control = acs::source_validation | acs::translation_blocking | acs::upstream_forwarding;
    CHECK(Scene(two_switches().acs_control("0000:18:00.0", control)).run("check_acs_redirect").empty());
}

TEST_CASE("many bridges with the same bits are one finding") {
    auto builder = two_switches();
    for (const auto* bridge : {"0000:18:00.0", "0000:18:01.0", "0000:38:00.0", "0000:38:01.0"}) {
        builder.acs_control(bridge, set_by_kernel);
    }
    const auto findings = Scene(builder).run("check_acs_redirect");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].seen, "4 bridges"));
    CHECK(mentions(findings[0].seen, "0000:38:01.0"));
}

TEST_CASE("redirect on a bridge of no selected path is not looked at") {
    auto builder = two_switches().bridge("0000:58:00.0").acs_control("0000:58:00.0", set_by_kernel);
    CHECK(Scene(builder).run("check_acs_redirect").empty());
    Scene scene(two_switches().acs_control("0000:38:00.0", set_by_kernel));
    scene.answer.gpus.pop_back();  // the job has the first GPU alone
    CHECK(scene.run("check_acs_redirect").empty());
}

TEST_CASE("a pair without a common bridge goes through the host and redirects nothing") {
    Scene scene(two_switches().acs_control("0000:18:00.0", set_by_kernel));
    scene.answer.gpus[0].nic = "mlx5_1";
    scene.answer.gpus[0].selected = {"mlx5_1"};
    CHECK(scene.run("check_acs_redirect").empty());
}

TEST_CASE("a guest with DirectTrans may redirect, one without may not") {
    auto builder = two_switches().with([](NodeFacts& facts) { facts.cpu.hypervisor = true; });
    builder.acs_control("0000:18:00.0", set_by_kernel | acs::direct_translated);
    CHECK(Scene(builder).run("check_acs_redirect").empty());
    builder.acs_control("0000:18:00.0", set_by_kernel);
    CHECK(Scene(builder).run("check_acs_redirect").size() == 1);
}

TEST_CASE("the Data Direct pattern is right, its mirror image is not") {
    const auto requests = static_cast<std::uint16_t>(acs::source_validation | acs::request_redirect);
    const auto completions = static_cast<std::uint16_t>(acs::source_validation | acs::completion_redirect);
    auto builder = two_switches().acs_control("0000:18:00.0", requests).acs_control("0000:18:01.0", completions);
    Scene scene(builder);
    scene.answer.nics[0].data_direct = true;
    CHECK(scene.run("check_acs_redirect").empty());
    Scene mirrored(two_switches().acs_control("0000:18:00.0", completions).acs_control("0000:18:01.0", requests));
    mirrored.answer.nics[0].data_direct = true;
    CHECK(mirrored.run("check_acs_redirect").size() == 2);
}

TEST_CASE("ACS that cannot be read is unknown once, and asks for root") {
    auto builder = two_switches();
    for (const auto* bridge : {"0000:17:00.0", "0000:18:00.0", "0000:18:01.0"}) {
        builder.function(bridge).acs = {std::nullopt, "/sys/bus/pci/devices/x/config: 64 bytes, run as root"};
    }
    const auto findings = Scene(builder).run("check_acs_redirect");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].outcome == Outcome::unknown);
    CHECK(mentions(findings[0].seen, "2 other bridges"));
    CHECK(mentions(findings[0].remedy, "root"));
}

TEST_CASE("DMA translation on bare metal warns once, in a guest and in passthrough it does not") {
    auto builder = two_switches();
    builder.function("0000:19:00.0").iommu_group_type = "DMA-FQ";
    builder.function("0000:1a:00.0").iommu_group_type = "DMA";
    const auto findings = Scene(builder).run("check_iommu_translate");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "0000:19:00.0");
    CHECK(mentions(findings[0].seen, "DMA-FQ"));
    CHECK(mentions(findings[0].remedy, "iommu=pt"));
    builder.with([](NodeFacts& facts) { facts.cpu.hypervisor = true; });
    CHECK(Scene(builder).run("check_iommu_translate").empty());
    auto passthrough = two_switches();
    passthrough.function("0000:19:00.0").iommu_group_type = "identity";
    CHECK(Scene(passthrough).run("check_iommu_translate").empty());
}

TEST_CASE("a GPU, a used NIC or a bridge of the path that lost lanes warns") {
    auto builder = two_switches();
    builder.function("0000:19:00.0").current_link_width = 8;
    builder.function("0000:18:00.0").current_link_width = 8;  // the other end of the same link
    auto findings = Scene(builder).run("check_link_width");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "0000:19:00.0");
    CHECK(mentions(findings[0].seen, "current_link_width 8, max_link_width 16"));
}

TEST_CASE("the uplink of a switch that lost lanes is told once, where the path crosses it") {
    auto builder = two_switches();
    builder.function("0000:17:00.0").current_link_width = 4;
    builder.function("0000:16:01.0").current_link_width = 4;
    Scene scene(builder);
    CHECK(scene.run("check_link_width").empty());  // GPU and NIC meet below it
    scene.answer.gpus[0].nic = "mlx5_1";
    scene.answer.gpus[0].selected = {"mlx5_1"};
    const auto findings = scene.run("check_link_width");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "0000:17:00.0");
}

TEST_CASE("a wide port over a narrow card is as wide as it can be") {
    auto builder = two_switches();
    builder.function("0000:1a:00.0").max_link_width = builder.function("0000:1a:00.0").current_link_width = 8;
    builder.function("0000:18:01.0").current_link_width = 8;
    CHECK(Scene(builder).run("check_link_width").empty());
}

TEST_CASE("a port narrower than the card below it claims is told") {
    auto builder = two_switches();
    builder.function("0000:18:01.0").current_link_width = 8;
    const auto findings = Scene(builder).run("check_link_width");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "0000:18:01.0");
}

TEST_CASE("widths that say nothing are ignored") {
    auto builder = two_switches();
    builder.function("0000:19:00.0").current_link_width = 0;
    builder.function("0000:1a:00.0").max_link_width = 255;
    builder.function("0000:39:00.0").current_link_width = std::nullopt;
    CHECK(Scene(builder).run("check_link_width").empty());
}

TEST_CASE("a memory lock limit is judged only where it is known") {
    Scene scene(two_switches());
    CHECK(scene.run("check_memlock").empty());
    scene.facts.memlock_bytes = 8 << 20;
    const auto findings = scene.run("check_memlock");
    REQUIRE(findings.size() == 1);
    CHECK(mentions(findings[0].seen, "8192 KiB"));
    scene.facts.memlock_bytes = UINT64_MAX;
    CHECK(scene.run("check_memlock").empty());
}
