// A topology file is part of the node: NCCL believes it before sysfs.
#include <catch2/catch_test_macros.hpp>

#include "common/nccl/model.hpp"
#include "tests/support/facts_builder.hpp"

using namespace gdrcheck;
using namespace gdrcheck::nccl;
using gdrcheck::test::FactsBuilder;

namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

TopologyElement element(std::string tag, Attributes attributes, std::vector<TopologyElement> children = {}) {
    return {std::move(tag), std::move(attributes), std::move(children)};
}

/// GPU and NIC alone in their own domains, as a cloud's VM shows them.
NodeFacts scattered() {
    return FactsBuilder{}.gpu("0001:00:00.0", {}, 0x2331).nic("mlx5_0", "0101:00:00.0").facts();
}

void load(NodeFacts& facts, std::vector<TopologyElement> children) {
    TopologyFile file{.path = "/opt/topo.xml", .source = "/etc/nccl.conf:1"};
    file.system.value = element("system", {{"version", "1"}}, std::move(children));
    facts.topology = std::move(file);
}

TopologyElement virtual_switch(std::vector<TopologyElement> below) {
    return element(
        "cpu", {{"numaid", "0"}, {"arch", "x86_64"}, {"vendor", "AuthenticAMD"}},
        {element("pci",
                 {{"busid", "ffff:ff:01.0"}, {"class", "0x060400"}, {"link_speed", "16 GT/s"}, {"link_width", "16"}},
                 std::move(below))});
}

}  // namespace

TEST_CASE("without a file, GPU and NIC of different domains are PHB") {
    const auto answer = judge_like_nccl(scattered(), {});
    CHECK(answer.pairs.front().path == Path::PHB);
    CHECK(answer.topology_used.empty());
}

TEST_CASE("a file that puts them below one switch makes them PIX") {
    auto facts = scattered();
    load(facts, {virtual_switch({element("pci", {{"busid", "0001:00:00.0"}, {"class", "0x030200"}}),
                                 element("pci", {{"busid", "0101:00:00.0"}, {"class", "0x020700"}})})});
    const auto answer = judge_like_nccl(facts, {});
    CHECK(answer.pairs.front().path == Path::PIX);
    CHECK(answer.gpus.front().status == GpuStatus::gdr);
    CHECK(answer.topology_used == "/opt/topo.xml");
}

TEST_CASE("addresses in the file may be upper case") {
    auto facts = FactsBuilder{}.gpu("000a:00:00.0", {}, 0x2331).nic("mlx5_0", "010b:00:00.0").facts();
    load(facts,
         {virtual_switch({element("pci", {{"busid", "000A:00:00.0"}}), element("pci", {{"busid", "010B:00:00.0"}})})});
    CHECK(judge_like_nccl(facts, {}).pairs.front().path == Path::PIX);
}

TEST_CASE("a gdr attribute in the file wins") {
    auto facts = scattered();
    load(facts,
         {virtual_switch({element("pci", {{"busid", "0001:00:00.0"}}, {element("gpu", {{"dev", "0"}, {"gdr", "0"}})}),
                          element("pci", {{"busid", "0101:00:00.0"}})})});
    CHECK_FALSE(judge_like_nccl(facts, {}).pairs.front().gdr_recv);
}

TEST_CASE("a file of another machine changes nothing for devices it does not name") {
    auto facts = scattered();
    load(facts, {virtual_switch({element("pci", {{"busid", "0042:00:00.0"}}, {element("gpu", {})})})});
    const auto answer = judge_like_nccl(facts, {});
    REQUIRE(answer.pairs.size() == 1);
    CHECK(answer.pairs.front().path == Path::PHB);
}

TEST_CASE("an unreadable or empty file is as good as none") {
    auto facts = scattered();
    facts.topology = TopologyFile{.path = "/opt/topo.xml", .source = "default path"};
    facts.topology->system.why = "/opt/topo.xml: not XML at byte 12";
    CHECK(judge_like_nccl(facts, {}).pairs.front().path == Path::PHB);
    load(facts, {});
    CHECK(judge_like_nccl(facts, {}).pairs.front().path == Path::PHB);
}
