#include <cerrno>

#include <catch2/catch_test_macros.hpp>

#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

namespace {

const std::string peers = "/sys/kernel/mm/memory_peers";

NodeFacts modules_of(const Tree& tree) {
    NodeFacts facts;
    probe::read_modules(tree.root(), facts);
    return facts;
}

}  // namespace

TEST_CASE("a module is read with its state, version, taint and holders") {
    auto tree = small_machine();
    tree.directory("/sys/module/ib_uverbs/holders/mlx5_ib").directory("/sys/module/ib_uverbs/holders/nvidia_peermem");
    const auto facts = modules_of(tree);
    CHECK(facts.modules_readable);
    REQUIRE(facts.module("ib_uverbs") != nullptr);
    CHECK(facts.module("ib_uverbs")->holders == std::vector<std::string>{"mlx5_ib", "nvidia_peermem"});
    CHECK(*facts.module("nvidia") == KernelModule{.state = "live", .version = "580.95.05", .taint = "OE"});
    CHECK(facts.module("ext4") == nullptr);
    CHECK(facts.module("nvidia_peermem") == nullptr);
}

TEST_CASE("a module without initstate is built in, one that cannot be read is unknown") {
    CHECK(modules_of(Tree{}.directory("/sys/module/ib_core/parameters")).module("ib_core")->state == "builtin");
    CHECK(modules_of(Tree{}.file("/sys/module/nvidia/initstate", "going\n")).module("nvidia")->state == "going");
    CHECK(modules_of(small_machine().error("/sys/module/ib_core/initstate", EACCES)).module("ib_core")->state ==
          "unknown");
    CHECK(modules_of(Tree{}.link("/sys/module/nvidia", "nvidia")).module("nvidia")->state == "unknown");
}

TEST_CASE("modules that cannot be listed are unknown, not absent") {
    CHECK_FALSE(modules_of(Tree{}.directory("/sys")).modules_readable);
    CHECK_FALSE(modules_of(small_machine().error("/sys/module", EACCES)).modules_readable);
}

TEST_CASE("without /sys/module the list in /proc tells") {
    const auto facts =
        modules_of(Tree{}.file("/proc/modules",
                               "nvidia_peermem 16384 0 - Live 0x0000000000000000 (POE)\n"
                               "ext4 1 1 - Live 0x0\nib_uverbs 200704 3 nvidia_peermem,mlx5_ib, Live 0x0\n"
                               "mlx5_ib 1 x - Loading 0x0\nnvidia 1 2\nib_core 1 0 - Unloading 0x0 (\n\n"));
    CHECK(facts.modules_readable);
    CHECK(*facts.module("nvidia_peermem") == KernelModule{.state = "live", .taint = "POE"});
    CHECK(*facts.module("ib_uverbs") == KernelModule{.state = "live", .holders = {"mlx5_ib", "nvidia_peermem"}});
    CHECK(*facts.module("mlx5_ib") == KernelModule{.state = "coming"});
    CHECK(*facts.module("ib_core") == KernelModule{.state = "going"});
    CHECK(facts.modules.size() == 4);
}

TEST_CASE("every peer-memory client is read with its version") {
    const auto facts = modules_of(Tree{}.file(peers + "/nv_mem/version", "580.95.05\n").directory(peers + "/other"));
    CHECK(facts.memory_peers_readable.value == true);
    CHECK(facts.memory_peers == std::map<std::string, std::string>{{"nv_mem", "580.95.05"}, {"other", ""}});
}

TEST_CASE("no directory of peer-memory clients says nothing, one that cannot be read says why") {
    CHECK(modules_of(small_machine()).memory_peers_readable == Reading<bool>{.value = false});
    const auto locked = modules_of(Tree{}.error(peers, EACCES)).memory_peers_readable;
    CHECK_FALSE(locked.known());
    CHECK(locked.why == peers + ": Permission denied");
}
