#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/base/rootfs.hpp"
#include "tests/support/tree.hpp"

using gdrcheck::MemoryTree;
using gdrcheck::RootFs;
using gdrcheck::test::TemporaryDirectory;
using gdrcheck::test::Tree;
using Names = std::vector<std::string>;
using Kind = MemoryTree::Entry::Kind;

namespace {

Tree machine() {
    return Tree{}
        .file("/sys/devices/pci0/0000:18:00.0/class", "0x030200\n")
        .file("/sys/devices/pci0/0000:18:00.0/config", std::string(300, '\1'))
        .file("/sys/devices/pci0/0000:18:00.0/not_read", "secret\n")
        .link("/sys/bus/pci/devices/0000:18:00.0", "../../../devices/pci0/0000:18:00.0")
        .link("/sys/bus/pci/devices/0000:19:00.0", "../../../devices/pci0/0000:19:00.0")
        .directory("/sys/class/iommu")
        .link("/sys/loop", "loop")
        .file("/proc/cpuinfo", std::string(10'000, 'c'))
        .file("/dev/infiniband/uverbs0", "");
}

/// What a reader asks of a machine, as one text: the same of the machine and of its recording.
std::string visit(const RootFs& root) {
    std::string seen;
    const auto note = [&](const auto& result) { seen += (result ? *result : result.error().what) + '\n'; };
    for (const auto* path :
         {"/sys/bus/pci/devices", "/sys/class/iommu", "/sys/class/infiniband", "/dev/infiniband", "/sys/loop"}) {
        const auto names = root.list(path);
        if (!names) seen += names.error().what + '\n';
        for (const auto& name : names.value_or(Names{})) seen += name + '\n';
    }
    note(root.resolve("/sys/bus/pci/devices/0000:18:00.0"));
    note(root.resolve("/sys/bus/pci/devices/0000:19:00.0"));
    note(root.read_line("/sys/bus/pci/devices/0000:18:00.0/class"));
    note(root.read_link("/sys/bus/pci/devices/0000:18:00.0"));
    note(root.read("/sys/loop"));
    note(root.read("/proc"));
    note(root.read_prefix("/proc/cpuinfo", 100));
    note(root.read("/proc/missing"));
    if (const auto device = root.directory("/sys/bus/pci/devices/0000:18:00.0")) {
        seen += device->path() + '\n';
        note(device->read("class"));
        note(device->read_link("driver"));
        note(device->read("config", 10));
        if (const auto config = device->open("config")) note(config->read_at(256, 4));
    }
    seen += root.exists("/dev") ? "has /dev\n" : "no /dev\n";
    seen += root.exists("/boot") ? "has /boot\n" : "no /boot\n";
    return seen;
}

}  // namespace

TEST_CASE("a recording answers like the machine it was made of") {
    const bool on_disk = GENERATE(true, false);
    TemporaryDirectory directory;
    directory.write(machine().memory());
    auto root = on_disk ? RootFs::open(directory.path()).value() : machine().root();
    const auto unrecorded = visit(root);

    MemoryTree recording;
    root.record_into(&recording);
    CHECK(visit(root) == unrecorded);
    root.record_into(nullptr);
    CHECK(visit(RootFs::from_tree(recording)) == unrecorded);

    SECTION("it holds what was read, under canonical paths") {
        CHECK(recording.entries.at("/sys/devices/pci0/0000:18:00.0/class").data == "0x030200\n");
        CHECK(recording.entries.at("/sys/bus/pci/devices/0000:18:00.0").kind == Kind::link);
        CHECK(recording.entries.at("/proc/cpuinfo").data.size() == 100);
        CHECK_FALSE(recording.entries.contains("/sys/bus/pci/devices/0000:18:00.0/class"));
    }
    SECTION("it holds nothing that was not read") {
        CHECK_FALSE(recording.entries.contains("/sys/devices/pci0/0000:18:00.0/not_read"));
        CHECK(recording.entries.at("/dev/infiniband/uverbs0").data.empty());
    }
    SECTION("nothing is added once it has ended") {
        const auto size = recording.entries.size();
        static_cast<void>(root.read("/sys/devices/pci0/0000:18:00.0/not_read"));
        CHECK(recording.entries.size() == size);
    }
}

TEST_CASE("a recording keeps why a file could not be read, and does not keep absence") {
    auto root = machine().error("/sys/locked", EACCES).error("/sys/dir", EIO).root();
    MemoryTree recording;
    root.record_into(&recording);
    CHECK_FALSE(root.read("/sys/locked").has_value());
    CHECK_FALSE(root.list("/sys/dir").has_value());
    CHECK_FALSE(root.read("/sys/absent").has_value());
    CHECK(recording.errors == std::map<std::string, int, std::less<>>{{"/sys/dir", EIO}, {"/sys/locked", EACCES}});
    const auto replay = RootFs::from_tree(recording);
    CHECK(replay.read("/sys/locked").error().code == EACCES);
    CHECK(replay.list("/sys/dir").error().code == EIO);
}

TEST_CASE("listing a directory does not empty what was read of it before") {
    TemporaryDirectory directory;
    directory.write(Tree{}.file("/sys/a", "kept").file("/sys/b", "unread").memory());
    auto root = RootFs::open(directory.path()).value();
    MemoryTree recording;
    root.record_into(&recording);
    CHECK(root.read("/sys/a").value() == "kept");
    CHECK(root.list("/sys").value() == Names{"a", "b"});
    CHECK(recording.entries.at("/sys/a").data == "kept");
    CHECK(recording.entries.at("/sys/b").data.empty());
}
