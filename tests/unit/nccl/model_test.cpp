// Nodes in miniature, each with the answer NCCL gives.
#include "common/nccl/model.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/facts_builder.hpp"

using namespace gdrcheck;
using namespace gdrcheck::nccl;
using gdrcheck::test::FactsBuilder;

namespace {

Answer judge(const NodeFacts& facts, Options options = {}) {
    return judge_like_nccl(facts, options);
}

const Pair& pair_of(const Answer& answer, std::size_t gpu, const std::string& nic) {
    for (const auto& pair : answer.pairs) {
        if (pair.gpu == gpu && pair.nic == nic) return pair;
    }
    throw std::out_of_range("no pair with " + nic);
}

/// Root port, switch (upstream and two downstream ports), GPU and NIC below it.
FactsBuilder one_switch(std::uint16_t gpu_id = 0x2331) {
    return FactsBuilder{}
        .bridge("0000:15:01.0")
        .bridge("0000:16:00.0", "0000:15:01.0")
        .bridge("0000:17:00.0", "0000:16:00.0")
        .bridge("0000:17:01.0", "0000:16:00.0")
        .gpu("0000:18:00.0", "0000:17:00.0", gpu_id)
        .nic("mlx5_0", "0000:19:00.0", "0000:17:01.0");
}

/// A second root port on another NUMA node with a GPU below it.
FactsBuilder& far_gpu(FactsBuilder& node, std::uint16_t gpu_id = 0x2331) {
    node.bridge("0000:85:01.0").gpu("0000:86:00.0", "0000:85:01.0", gpu_id);
    node.function("0000:85:01.0").numa_node = 1;
    node.function("0000:86:00.0").numa_node = 1;
    return node;
}

}  // namespace

TEST_CASE("GPU and NIC behind one switch are PIX and have GDR both ways") {
    const auto answer = judge(one_switch().facts());
    const auto& pair = pair_of(answer, 0, "mlx5_0");
    CHECK(pair.path == Path::PIX);
    CHECK(pair.gdr_recv);
    CHECK(pair.gdr_send);
    CHECK(pair.via == Via::dmabuf);
    CHECK(answer.gpus.front().status == GpuStatus::gdr);
    CHECK(answer.gpus.front().nic == "mlx5_0");
}

TEST_CASE("two root ports of one host bridge are PHB, beyond NCCL's default") {
    const auto facts = FactsBuilder{}
                           .bridge("0000:40:01.0")
                           .gpu("0000:41:00.0", "0000:40:01.0", 0x26b9)
                           .bridge("0000:40:02.0")
                           .nic("mlx5_0", "0000:42:00.0", "0000:40:02.0")
                           .facts();
    const auto answer = judge(facts);
    CHECK(pair_of(answer, 0, "mlx5_0").path == Path::PHB);
    CHECK(answer.gpus.front().status == GpuStatus::staged);
    CHECK(answer.gpus.front().via == Via::none);
}

TEST_CASE("another NUMA node is SYS, on whichever socket") {
    auto node = one_switch();
    const auto answer = judge(far_gpu(node).facts());
    CHECK(pair_of(answer, 1, "mlx5_0").path == Path::SYS);
    CHECK(answer.gpus[1].status == GpuStatus::staged);
}

TEST_CASE("one bridge between root port and devices makes the root port the switch") {
    const auto facts = FactsBuilder{}
                           .bridge("0000:15:01.0")
                           .bridge("0000:16:00.0", "0000:15:01.0")
                           .gpu("0000:18:00.0", "0000:16:00.0", 0x2331)
                           .nic("mlx5_0", "0000:18:01.0", "0000:16:00.0")
                           .facts();
    Options options;
    auto no_vf_merging = facts;
    no_vf_merging.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_IB_MERGE_VFS", "0"});
    CHECK(pair_of(judge(no_vf_merging, options), 0, "mlx5_0").path == Path::PIX);
}

TEST_CASE("a GPU without GDR never has it, however close") {
    const auto answer = judge(one_switch(0x2684).facts());
    CHECK(pair_of(answer, 0, "mlx5_0").path == Path::PIX);
    CHECK_FALSE(pair_of(answer, 0, "mlx5_0").gdr_recv);
    CHECK(answer.gpus.front().status == GpuStatus::staged);
}

TEST_CASE("before Ampere, sends need NVLink or a single GPU") {
    auto one = one_switch(0x1db6);
    CHECK(pair_of(judge(one.facts()), 0, "mlx5_0").gdr_send);
    auto two = one_switch(0x1db6);
    const auto answer = judge(far_gpu(two, 0x1db6).facts());
    CHECK(pair_of(answer, 0, "mlx5_0").gdr_recv);
    CHECK_FALSE(pair_of(answer, 0, "mlx5_0").gdr_send);
    CHECK(answer.gpus.front().status == GpuStatus::staged);  // one direction only
}

TEST_CASE("NCCL 2.18 asks every GPU for NVLink before it sends") {
    auto node = one_switch();
    const auto facts = far_gpu(node).facts();
    CHECK_FALSE(pair_of(judge(facts, {.version = {2, 18, 6}}), 0, "mlx5_0").gdr_send);
    CHECK(pair_of(judge(facts, {.version = {2, 19, 4}}), 0, "mlx5_0").gdr_send);
}

TEST_CASE("bandwidth comes before distance: a faster NIC far away is selected, and GDR is lost") {
    auto node = one_switch().port_gbps("mlx5_0", 100);
    node.bridge("0000:15:02.0").nic("mlx5_1", "0000:1a:00.0", "0000:15:02.0");
    const auto answer = judge(node.facts());
    CHECK(pair_of(answer, 0, "mlx5_0").gdr_recv);
    CHECK(answer.gpus.front().nic == "mlx5_1");
    CHECK(answer.gpus.front().status == GpuStatus::staged);
}

TEST_CASE("a GPU relays through the NVLink peer that is close to the NIC") {
    auto node = one_switch(0x2330);
    const auto answer = judge(far_gpu(node, 0x2330).facts());
    CHECK(answer.gpus[1].status == GpuStatus::relay);
    CHECK(answer.gpus[1].relay == std::size_t{0});
    CHECK(answer.gpus[1].path == Path::SYS);
    CHECK_FALSE(pair_of(answer, 1, "mlx5_0").gdr_recv);  // pairs are plain
}

TEST_CASE("no relay without NVLink, by policy, or with PXN disabled") {
    auto node = one_switch(0x2330);
    auto facts = far_gpu(node, 0x2330).facts();
    CHECK(judge(facts, {.nvlink = NvlinkMode::no}).gpus[1].status == GpuStatus::staged);
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_PXN_DISABLE", "1"});
    CHECK(judge(facts).gpus[1].status == GpuStatus::staged);
}

TEST_CASE("a relay must be a GPU of the job") {
    auto node = one_switch(0x2330);
    const auto facts = far_gpu(node, 0x2330).facts();
    const auto answer = judge(facts, {.scope = std::vector<std::size_t>{1}});
    REQUIRE(answer.gpus.size() == 1);
    CHECK(answer.gpus.front().gpu == 1);
    CHECK(answer.gpus.front().status == GpuStatus::staged);
    CHECK(answer.pairs.size() == 1);
}

TEST_CASE("only an ACTIVE port of InfiniBand or Ethernet is used") {
    for (const auto state : {PortState::down, PortState::init, PortState::armed}) {
        const auto answer = judge(one_switch().port_state("mlx5_0", state).facts());
        CHECK(answer.gpus.front().status == GpuStatus::no_nic);
        CHECK_FALSE(answer.nics.front().used);
        CHECK(answer.pairs.empty());
    }
}

TEST_CASE("policy leaves NICs out, and /etc/nccl.conf does") {
    auto node = one_switch();
    node.bridge("0000:15:02.0").nic("mlx5_1", "0000:1a:00.0", "0000:15:02.0");
    CHECK(judge(node.facts(), {.exclude = {"mlx5_1"}}).pairs.size() == 1);
    CHECK(judge(node.facts(), {.compute = {"mlx5_0"}}).pairs.size() == 1);
    auto facts = node.facts();
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_IB_HCA", "^=mlx5_1"});
    const auto answer = judge(facts);
    CHECK(answer.pairs.size() == 1);
    CHECK(answer.nics[1].unused_why.find("NCCL_IB_HCA") != std::string::npos);
}

TEST_CASE("both ports of a card are merged, each keeps its pair") {
    auto node = one_switch();
    node.nic("mlx5_1", "0000:19:00.1", "0000:17:01.0");
    node.rdma("mlx5_1").sys_image_guid = node.rdma("mlx5_0").sys_image_guid;
    for (const auto version : {Version{2, 21, 5}, Version{2, 28, 9}}) {
        const auto answer = judge(node.facts(), {.version = version});
        CHECK(answer.nics[0].merged_into == "mlx5_0+mlx5_1");
        CHECK(answer.nics[1].merged_into == "mlx5_0+mlx5_1");
        CHECK(answer.pairs.size() == 2);
        CHECK(answer.misreadings.empty());
    }
    CHECK(judge(node.facts(), {.version = {2, 19, 4}}).nics[0].merged_into.empty());
}

TEST_CASE("ports of different link layers are not merged") {
    auto node = one_switch();
    node.nic("mlx5_1", "0000:19:00.1", "0000:17:01.0");
    node.rdma("mlx5_1").sys_image_guid = node.rdma("mlx5_0").sys_image_guid;
    node.rdma("mlx5_1").ports.front().link_layer = "Ethernet";
    CHECK(judge(node.facts()).nics[0].merged_into.empty());
}

TEST_CASE("different cards on one bus are merged by mistake, and we say so") {
    auto node = FactsBuilder{}.gpu("0000:00:05.0").nic("mlx5_0", "0000:00:07.0").nic("mlx5_1", "0000:00:08.0");
    node.with([](NodeFacts& facts) {
        PciFunction host{
            .address = {0, 0, 0, 0}, .sysfs_path = "/sys/devices/pci0000:00/0000:00:00.0", .class_code = 0x060000};
        host.numa_node = -1;
        facts.pci[host.address] = host;
    });
    const auto answer = judge(node.facts());
    CHECK(answer.nics[0].merged_into == "mlx5_0+mlx5_1");
    REQUIRE(answer.misreadings.size() == 1);
    CHECK(answer.misreadings.front().kind == Misreading::Kind::merged_cards);
    CHECK(judge(node.facts(), {.version = {2, 21, 5}}).nics[0].merged_into.empty());  // their GUIDs differ
}

TEST_CASE("a NIC whose slot 00 is empty is attached to the first CPU, and we say so") {
    const auto facts = FactsBuilder{}
                           .bridge("0000:15:01.0")
                           .bridge("0000:16:00.0", "0000:15:01.0")
                           .bridge("0000:17:00.0", "0000:16:00.0")
                           .bridge("0000:17:01.0", "0000:16:00.0")
                           .gpu("0000:18:00.0", "0000:17:00.0")
                           .nic("mlx5_0", "0000:19:00.2", "0000:17:01.0")
                           .facts();
    const auto answer = judge(facts);
    CHECK(pair_of(answer, 0, "mlx5_0").path == Path::PHB);
    REQUIRE(answer.misreadings.size() == 1);
    CHECK(answer.misreadings.front().kind == Misreading::Kind::misattached);
    CHECK(answer.misreadings.front().text.find("0000:19:00.0") != std::string::npos);
}

TEST_CASE("a NIC that takes a GPU's address is reported, not followed") {
    const auto facts = FactsBuilder{}
                           .bridge("0000:51:00.0")
                           .gpu("0000:52:00.0", "0000:51:00.0")
                           .nic("mlx5_0", "0000:52:01.0", "0000:51:00.0")
                           .facts();
    const auto answer = judge(facts);
    REQUIRE(answer.misreadings.size() == 1);
    CHECK(answer.misreadings.front().kind == Misreading::Kind::collides_with_gpu);
    CHECK(answer.gpus.front().status == GpuStatus::unknown);
    auto cured = facts;
    cured.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_IB_MERGE_VFS", "0"});
    CHECK(judge(cured).misreadings.empty());
    CHECK(judge(cured).gpus.front().status != GpuStatus::unknown);
}

TEST_CASE("a NIC at the CPU of a C2C GPU is P2C from 2.27 on, PHB before") {
    auto node = FactsBuilder{}
                    .bridge("0009:00:00.0")
                    .gpu("0009:01:00.0", "0009:00:00.0", 0x2342)
                    .bridge("0002:00:00.0")
                    .nic("mlx5_0", "0002:01:00.0", "0002:00:00.0");
    const auto pair_at = [&](Version version) {
        return pair_of(judge(node.facts(), {.version = version}), 0, "mlx5_0");
    };
    CHECK(pair_at({2, 28, 9}).path == Path::P2C);
    CHECK(pair_at({2, 28, 9}).gdr_recv);
    CHECK(pair_at({2, 26, 5}).path == Path::PHB);
    CHECK_FALSE(pair_at({2, 26, 5}).gdr_recv);  // NCCL_NET_GDR_C2C is 0 by default there
    CHECK_FALSE(pair_at({2, 21, 5}).gdr_recv);
    auto facts = node.facts();
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_NET_GDR_C2C", "1"});
    CHECK(pair_of(judge(facts, {.version = {2, 26, 5}}), 0, "mlx5_0").gdr_recv);
    facts.nccl_conf.front().value = "0";
    CHECK_FALSE(pair_of(judge(facts), 0, "mlx5_0").gdr_recv);
}

TEST_CASE("with Data Direct the path is the DMA function's") {
    auto node = FactsBuilder{}
                    .bridge("0008:00:00.0")
                    .bridge("0008:01:00.0", "0008:00:00.0")
                    .bridge("0008:02:00.0", "0008:01:00.0")
                    .bridge("0008:02:01.0", "0008:01:00.0")
                    .gpu("0008:03:00.0", "0008:02:00.0", 0x31c2)
                    .bridge("0000:00:00.0")
                    .nic("mlx5_0", "0000:01:00.0", "0000:00:00.0");
    node.with([](NodeFacts& facts) {
        PciFunction dma{
            .address = test::address("0008:04:00.0"), .class_code = 0x080100, .vendor = 0x15b3, .device = 0x2100};
        dma.sysfs_path = facts.pci.at(test::address("0008:02:01.0")).sysfs_path + "/0008:04:00.0";
        facts.pci[dma.address] = dma;
        facts.rdma.front().data_direct = dma.address;
    });
    const auto direct = judge(node.facts());
    CHECK(pair_of(direct, 0, "mlx5_0").path == Path::PIX);
    CHECK(direct.nics.front().data_direct);
    CHECK(pair_of(judge(node.facts(), {.version = {2, 26, 5}}), 0, "mlx5_0").path == Path::PHB);
    const auto peermem = node.driver("550.1", false).peermem().facts();
    CHECK(pair_of(judge(peermem), 0, "mlx5_0").path == Path::P2C);  // Data Direct needs DMA-BUF
}

TEST_CASE("Broadcom switches that show two levels are flattened to one") {
    const auto broadcom = [](std::uint16_t device, std::uint16_t upper, std::uint16_t lower) {
        auto node = FactsBuilder{}
                        .bridge("0000:15:01.0")
                        .bridge("0000:16:00.0", "0000:15:01.0")
                        .bridge("0000:17:00.0", "0000:16:00.0")
                        .bridge("0000:18:00.0", "0000:17:00.0")
                        .bridge("0000:19:00.0", "0000:18:00.0")
                        .gpu("0000:1a:00.0", "0000:19:00.0", 0x20f1)
                        .bridge("0000:17:01.0", "0000:16:00.0")
                        .nic("mlx5_0", "0000:1b:00.0", "0000:17:01.0");
        for (const auto* bdf : {"0000:16:00.0", "0000:18:00.0"}) {
            auto& function = node.function(bdf);
            function.vendor = 0x1000;
            function.device = device;
            function.subsystem_vendor = 0x1000;
            function.subsystem_device = std::string_view(bdf) == "0000:16:00.0" ? upper : lower;
        }
        return node.facts();
    };
    const auto gen4 = broadcom(0xc010, 0xa023, 0xa096);
    CHECK(pair_of(judge(gen4), 0, "mlx5_0").path == Path::PIX);
    const auto gen5 = broadcom(0xc030, 0x0004, 0x1004);
    CHECK(pair_of(judge(gen5), 0, "mlx5_0").path == Path::PIX);
    CHECK(pair_of(judge(gen5, {.version = {2, 19, 4}}), 0, "mlx5_0").path == Path::PXB);
    CHECK(pair_of(judge(broadcom(0xc030, 0x0004, 0x0004)), 0, "mlx5_0").path == Path::PXB);
}

TEST_CASE("NCCL_NET_GDR_LEVEL in /etc/nccl.conf moves the limit") {
    auto node = one_switch();
    auto facts = far_gpu(node).facts();
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_NET_GDR_LEVEL", "SYS"});
    CHECK(judge(facts).gpus[1].status == GpuStatus::gdr);
    facts.nccl_conf.front().value = "LOC";
    CHECK(judge(facts).gpus[0].status == GpuStatus::staged);
}

TEST_CASE("the plugin of another network is not our business") {
    auto facts = one_switch().facts();
    CHECK_FALSE(judge(facts).net_plugin);
    CHECK(judge(facts, {.net = NetMode::plugin}).net_plugin);
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_NET", "AWS Libfabric"});
    CHECK(judge(facts).net_plugin);
    CHECK_FALSE(judge(facts, {.net = NetMode::ib}).net_plugin);
    auto efa = one_switch().facts();
    efa.rdma.front().driver = "efa";
    CHECK(judge(efa).net_plugin);
}

TEST_CASE("a transport that could not be read leaves the GPU unknown, unless distance decides anyway") {
    auto node = one_switch();
    auto facts = far_gpu(node).facts();
    facts.nvidia_open.reset();
    const auto answer = judge(facts);
    CHECK(answer.gpus[0].status == GpuStatus::unknown);
    CHECK(answer.gpus[1].status == GpuStatus::staged);
}

TEST_CASE("no GPU and no NIC is no crash") {
    CHECK(judge(NodeFacts{}).gpus.empty());
    CHECK(judge(FactsBuilder{}.nic("mlx5_0", "0000:19:00.0").facts()).gpus.empty());
    CHECK(judge(FactsBuilder{}.gpu("0000:18:00.0").facts()).gpus.front().status == GpuStatus::no_nic);
}

TEST_CASE("an RDMA device without a PCI function hangs off the first CPU") {
    auto facts = one_switch().facts();
    RdmaDevice rxe{.name = "rxe0", .device_path = "/sys/devices/virtual/net/eth0", .driver = ""};
    rxe.ports.push_back(RdmaPort{.number = 1, .state = PortState::active, .link_layer = "Ethernet", .gbps = 10});
    facts.rdma.push_back(rxe);
    const auto answer = judge(facts);
    CHECK(pair_of(answer, 0, "rxe0").path == Path::PHB);
    CHECK(answer.gpus.front().nic == "mlx5_0");
}
