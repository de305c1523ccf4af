// The decision table: what carries GDR, from what the kernel shows.
#include "common/nccl/transport.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/facts_builder.hpp"

using namespace gdrcheck;
using namespace gdrcheck::nccl;
using gdrcheck::test::FactsBuilder;

namespace {

struct Read {
    Transport node;
    NicTransport nic;
};

Read read(const NodeFacts& facts, Version version = default_version, const char* require = "any") {
    const auto& rules = rules_for(version);
    const auto settings = read_settings(facts, rules);
    Read result;
    result.node = read_transport(facts, rules, settings);
    result.nic = nic_transport(facts, facts.rdma.front(), result.node, require, std::nullopt);
    return result;
}

FactsBuilder proprietary() {
    return FactsBuilder{}.driver("550.127.08", false).nic("mlx5_0", "0000:19:00.0");
}

FactsBuilder open_modules() {
    return FactsBuilder{}.nic("mlx5_0", "0000:19:00.0");
}

}  // namespace

TEST_CASE("a client under memory_peers proves that peermem is registered") {
    const auto facts = proprietary().peermem().facts();
    CHECK(read(facts).node.peermem == PeermemState::registered);
    CHECK(read(facts, {2, 18, 6}).nic.via == Via::peermem);
}

TEST_CASE("a live nvidia_peermem that holds ib_uverbs or ib_core is registered, without memory_peers") {
    auto facts = proprietary().peermem(false).facts();
    CHECK(read(facts).node.peermem == PeermemState::registered);
    facts.modules["ib_uverbs"].holders.clear();
    facts.modules["ib_core"].holders = {"nvidia_peermem"};
    CHECK(read(facts).node.peermem == PeermemState::registered);
}

TEST_CASE("a live nvidia_peermem under a built-in RDMA core is loaded, and works") {
    auto facts = proprietary().peermem(false).facts();
    facts.modules.erase("ib_core");
    facts.modules.erase("ib_uverbs");
    facts.ib_core_builtin = true;
    CHECK(read(facts).node.peermem == PeermemState::loaded);
    CHECK(read(facts).nic.via == Via::peermem);
}

TEST_CASE("nvidia_peermem without memory_peers is invisible to NCCL 2.22 and older") {
    const auto facts = proprietary().peermem(false).facts();
    CHECK(read(facts, {2, 22, 3}).nic.via == Via::none);
    CHECK_FALSE(read(facts, {2, 22, 3}).node.peermem_visible);
    CHECK(read(facts, {2, 23, 4}).nic.via == Via::peermem);
}

TEST_CASE("the legacy nv_peer_mem counts by its client, not by its module") {
    auto facts = proprietary().facts();
    facts.modules["nv_peer_mem"] = KernelModule{.state = "live", .version = "1.3-0"};
    CHECK(read(facts).nic.via == Via::none);
    facts.memory_peers["nv_mem"] = "1.3-0";
    CHECK(read(facts).nic.via == Via::peermem);
    CHECK(read(facts, {2, 18, 6}).nic.via == Via::peermem);
}

TEST_CASE("a module that is still coming is not registered") {
    auto facts = proprietary().facts();
    facts.modules["nvidia_peermem"] = KernelModule{.state = "coming"};
    const auto result = read(facts);
    CHECK(result.node.peermem == PeermemState::absent);
    CHECK(result.node.peermem_why.find("coming") != std::string::npos);
    CHECK(result.nic.via == Via::none);
    CHECK(result.nic.nccl_tries);  // NCCL only looks whether the directory is there
}

TEST_CASE("open kernel modules, kernel 5.12 and mlx5 give DMA-BUF without any peermem") {
    const auto result = read(open_modules().facts());
    CHECK(result.node.dmabuf == Tristate::yes);
    CHECK(result.nic.via == Via::dmabuf);
}

TEST_CASE("DMA-BUF is preferred where both work") {
    CHECK(read(open_modules().peermem().facts()).nic.via == Via::dmabuf);
}

TEST_CASE("the proprietary module has no DMA-BUF, whatever the kernel") {
    const auto result = read(proprietary().facts());
    CHECK(result.node.dmabuf == Tristate::no);
    CHECK(result.node.dmabuf_why.find("proprietary") != std::string::npos);
    CHECK(result.nic.via == Via::none);
    CHECK(result.nic.known);
}

TEST_CASE("a kernel older than 5.12 has no DMA-BUF, unless its vendor may have carried it back") {
    auto facts = open_modules().facts();
    facts.kernel_release.value = "5.10.0-30-amd64";
    CHECK(read(facts).node.dmabuf == Tristate::no);
    facts.kernel_release.value = "4.18.0-553.el8_10.x86_64";
    CHECK(read(facts).node.dmabuf == Tristate::unknown);
    CHECK_FALSE(read(facts).nic.known);
}

TEST_CASE("each RDMA driver imports DMA-BUF from its own kernel on") {
    auto facts = open_modules().facts();
    facts.kernel_release.value = "6.1.0-28-amd64";
    facts.rdma.front().driver = "bnxt_en";
    CHECK(read(facts).nic.dmabuf == Tristate::no);
    facts.kernel_release.value = "6.8.0-45-generic";
    CHECK(read(facts).nic.dmabuf == Tristate::yes);
    facts.rdma.front().driver = "rdma_rxe";
    CHECK(read(facts).nic.dmabuf == Tristate::no);
}

TEST_CASE("registered peermem is of no use to a driver without the peer-memory API") {
    auto facts = proprietary().peermem().facts();
    facts.rdma.front().driver = "irdma";
    const auto result = read(facts);
    CHECK(result.nic.via == Via::none);
    CHECK(result.nic.nccl_tries);
}

TEST_CASE("what cannot be read is unknown, not absent") {
    auto facts = open_modules().facts();
    facts.nvidia_open.reset();
    facts.nvidia_why = "/proc/driver/nvidia/version: No such file or directory";
    CHECK(read(facts).node.dmabuf == Tristate::unknown);
    CHECK_FALSE(read(facts).nic.known);

    auto no_modules = proprietary().facts();
    no_modules.modules.clear();
    no_modules.modules_readable = false;
    CHECK_FALSE(read(no_modules).nic.known);
}

TEST_CASE("NCCL_DMABUF_ENABLE=0 in /etc/nccl.conf switches DMA-BUF off") {
    auto facts = open_modules().facts();
    facts.nccl_conf.push_back({"/etc/nccl.conf", 1, "NCCL_DMABUF_ENABLE", "0"});
    CHECK(read(facts).node.dmabuf == Tristate::no);
}

TEST_CASE("policy may count only one of the transports") {
    const auto both = open_modules().peermem().facts();
    CHECK(read(both, default_version, "peermem").nic.via == Via::peermem);
    CHECK(read(both, default_version, "dmabuf").nic.via == Via::dmabuf);
    CHECK(read(open_modules().facts(), default_version, "peermem").nic.via == Via::none);
    CHECK(read(proprietary().peermem().facts(), default_version, "dmabuf").nic.via == Via::none);
}

TEST_CASE("the verbs probe confirms or refutes what was inferred") {
    const auto facts = open_modules().facts();
    const auto& rules = rules_for(default_version);
    const auto node = read_transport(facts, rules, read_settings(facts, rules));
    CHECK(nic_transport(facts, facts.rdma.front(), node, "any", true).via == Via::dmabuf);
    CHECK(nic_transport(facts, facts.rdma.front(), node, "any", false).via == Via::none);
}

TEST_CASE("kernel releases of every distribution are understood") {
    CHECK(parse_kernel_version("5.14.0-427.el9.aarch64+64k") == KernelVersion{5, 14});
    CHECK(parse_kernel_version("6.1.0-28-amd64") == KernelVersion{6, 1});
    CHECK_FALSE(parse_kernel_version("").has_value());
    CHECK_FALSE(parse_kernel_version("linux").has_value());
    CHECK_FALSE(parse_kernel_version("6").has_value());
}
