#include <set>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/checks/scene.hpp"

using namespace gdrcheck;
using gdrcheck::test::Scene;
using gdrcheck::test::two_switches;

TEST_CASE("the catalogue holds every slug of the contract in its order") {
    const std::vector<std::string_view> contract{"peermem-missing", "peermem-stub",   "peermem-crc",  "peermem-absent",
                                                 "peermem-clash",   "peermem-no-nic", "nccl-too-old", "peermem-order",
                                                 "dkms-next-boot",  "dmabuf-off",     "rdma-missing", "port-down",
                                                 "port-slow",       "uverbs-missing", "gpu-missing",  "gpu-no-gdr",
                                                 "path-far",        "vm-topology",    "net-plugin",   "acs-redirect",
                                                 "iommu-translate", "link-width",     "memlock",      "probe-failed",
                                                 "bandwidth-low",   "gdr-unused",     "self"};
    std::vector<std::string_view> slugs;
    for (const auto& entry : catalogue()) slugs.push_back(entry.slug);
    CHECK(slugs == contract);
}

TEST_CASE("a slug fits the columns of sinfo and every entry explains itself") {
    for (const auto& entry : catalogue()) {
        CAPTURE(entry.slug);
        CHECK(entry.slug.size() <= 15);
        CHECK(entry.severity != Outcome::unknown);
        CHECK_FALSE(entry.says.empty());
        CHECK(entry.meaning.size() > 100);
        CHECK_FALSE(entry.evidence.empty());
        CHECK_FALSE(entry.fix.empty());
        CHECK(find_catalogue_entry(entry.slug) == &entry);
    }
    CHECK(find_catalogue_entry("no-such-slug") == nullptr);
}

TEST_CASE("severities, structural facts and what never drains are those of the contract") {
    const std::set<std::string_view> fails{"peermem-missing", "peermem-stub",   "peermem-crc",  "peermem-absent",
                                           "peermem-clash",   "peermem-no-nic", "rdma-missing", "uverbs-missing",
                                           "gpu-missing",     "gpu-no-gdr",     "path-far",     "probe-failed"};
    const std::set<std::string_view> structural{"gpu-no-gdr", "path-far", "vm-topology"};
    const std::set<std::string_view> never_drain{"gdr-unused", "self"};
    const std::set<std::string_view> planned{"peermem-stub",   "peermem-crc",  "peermem-absent", "peermem-order",
                                             "dkms-next-boot", "probe-failed", "bandwidth-low",  "gdr-unused"};
    for (const auto& entry : catalogue()) {
        CAPTURE(entry.slug);
        CHECK((entry.severity == Outcome::fail) == fails.contains(entry.slug));
        CHECK(entry.structural == structural.contains(entry.slug));
        CHECK(entry.drains != never_drain.contains(entry.slug));
        CHECK(entry.planned == planned.contains(entry.slug));
    }
}

TEST_CASE("a healthy node has no finding") {
    CHECK(Scene(two_switches()).run_all().empty());
}

TEST_CASE("a node with nothing on it crashes no check") {
    CHECK(Scene(test::FactsBuilder{}).run_all().empty());
    const NodeFacts nothing;
    const Policy policy;
    const nccl::Answer answer;
    const std::vector<nccl::Answer> all{answer};
    const CheckInput input{nothing, policy, answer, all, answer, answer};
    for (const auto* check : all_checks()) {
        CAPTURE(check->name);
        for (const auto& finding : check->run(input)) CHECK(finding.outcome == Outcome::unknown);
    }
}

TEST_CASE("an answer that names GPUs and NICs which the facts lack crashes no check") {
    Scene scene(two_switches());
    scene.answer.gpus.push_back({.gpu = 77, .status = nccl::GpuStatus::staged, .nic = "ghost", .selected = {"ghost"}});
    scene.answer.nics.push_back(
        {.name = "ghost", .pci = test::address("0000:ff:00.0"), .used = true, .used_ports = {9}});
    scene.settle();
    const auto findings = scene.run_all();
    REQUIRE(findings.size() >= 1);
    for (const auto& finding : findings) CHECK_FALSE(finding.seen.empty());
}

TEST_CASE("every finding names a subject, what was seen, why it matters and what to type") {
    Scene scene(two_switches());
    scene.starve();
    scene.facts.rdma[0].uverbs_node.value = false;
    scene.facts.rdma[1].ports[0].state = PortState::down;
    scene.facts.gpus[0].excluded = true;
    scene.facts.memlock_bytes = 65536;
    scene.policy.expect.gpus = 8;
    scene.policy.expect.nics = 8;
    const auto findings = scene.run_all();
    CHECK(findings.size() >= 7);
    for (const auto& finding : findings) {
        CAPTURE(finding.slug);
        CHECK(find_catalogue_entry(finding.slug) != nullptr);
        CHECK_FALSE(finding.subject.empty());
        CHECK_FALSE(finding.seen.empty());
        CHECK_FALSE(finding.why.empty());
        CHECK_FALSE(finding.remedy.empty());
    }
}
