#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

TEST_CASE("a whole node is read") {
    const auto facts = probe::read_node(small_machine().root(), {.host = "n1"});
    CHECK(facts.host == "n1");
    CHECK(facts.gpus.size() == 1);
    CHECK(facts.rdma.size() == 1);
    CHECK(facts.pci.size() == 6);
    CHECK(facts.modules.size() == 5);
    CHECK(facts.cpu.vendor == "AuthenticAMD");
    CHECK(facts.dmabuf_config.value == true);
    CHECK_FALSE(facts.memlock_bytes.has_value());
}

TEST_CASE("a node is the same from memory, from disk, and from its own recording") {
    const auto from_memory = probe::read_node(small_machine().root(), {.host = "n1"});
    const auto resolution = GENERATE(RootFs::Resolution::kernel, RootFs::Resolution::own);
    TemporaryDirectory directory;
    directory.write(small_machine().memory());
    auto root = RootFs::open(directory.path(), resolution).value();
    CHECK(probe::read_node(root, {.host = "n1"}) == from_memory);

    MemoryTree recording;
    root.record_into(&recording);
    CHECK(probe::read_node(root, {.host = "n1"}) == from_memory);
    CHECK(probe::read_node(RootFs::from_tree(recording), {.host = "n1"}) == from_memory);
}

TEST_CASE("this very system is the same from its own recording") {
    auto root = RootFs::open("/").value();
    MemoryTree recording;
    root.record_into(&recording);
    const auto live = probe::read_node(root, {.host = "here"});
    CHECK(probe::read_node(RootFs::from_tree(recording), {.host = "here"}) == live);
}

TEST_CASE("an empty root is a node of which nothing is known, and every reason is told") {
    const auto facts = probe::read_node(RootFs::from_tree({}), {});
    CHECK(facts.pci_readable.why == "/sys/bus/pci/devices: No such file or directory");
    CHECK(facts.rdma_readable.why == "/sys/class/infiniband: No such file or directory");
    CHECK(facts.kernel_release.why == "/proc/sys/kernel/osrelease: No such file or directory");
    CHECK(facts.nvidia_why == "/proc/driver/nvidia/version: No such file or directory");
    CHECK_FALSE(facts.modules_readable);
    CHECK(facts.gpus.empty());
    CHECK(facts.rdma.empty());
}

TEST_CASE("any file of a node may be missing, empty, garbage, unreadable or a loop") {
    const auto machine = small_machine();
    for (const auto& [path, entry] : machine.memory().entries) {
        CAPTURE(path);
        const auto survives = [&, &place = path](auto break_it) {
            auto tree = machine;
            const auto facts = probe::read_node(break_it(tree, place).root(), {.host = "n1"});
            return facts.host == "n1" && facts.gpus.size() <= 1 && facts.rdma.size() <= 1;
        };
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.without(at); }));
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.file(at, ""); }));
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.file(at, "\xff\xfe\x01:=/\n"); }));
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.error(at, EACCES); }));
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.link(at, at); }));
        CHECK(survives([](Tree& tree, const auto& at) -> Tree& { return tree.link(at, "/"); }));
    }
}
