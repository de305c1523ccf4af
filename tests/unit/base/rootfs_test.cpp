#include "common/base/rootfs.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/tree.hpp"

using Catch::Matchers::ContainsSubstring;
using gdrcheck::MemoryTree;
using gdrcheck::RootFs;
using gdrcheck::test::TemporaryDirectory;
using gdrcheck::test::Tree;
using Names = std::vector<std::string>;

namespace {

enum class Backend { memory, kernel, own };

/// The same tree in memory, and on disk behind both ways of resolving links: all three must answer alike.
class Node {
  public:
    explicit Node(const Tree& tree, Backend backend) : root_(make(tree, backend)) {}
    RootFs* operator->() { return &root_; }
    RootFs& operator*() { return root_; }

  private:
    RootFs make(const Tree& tree, Backend backend) {
        if (backend == Backend::memory) return tree.root();
        directory_.write(tree.memory());
        const auto resolution = backend == Backend::kernel ? RootFs::Resolution::kernel : RootFs::Resolution::own;
        auto root = RootFs::open(directory_.path(), resolution);
        REQUIRE(root.has_value());
        return *std::move(root);
    }

    TemporaryDirectory directory_;
    RootFs root_;
};

Backend any_backend() {
    return GENERATE(Backend::memory, Backend::kernel, Backend::own);
}

Tree sysfs() {
    return Tree{}
        .file("/sys/devices/pci0000:15/0000:15:01.0/class", "0x060400\n")
        .file("/sys/devices/pci0000:15/0000:15:01.0/empty", "")
        .link("/sys/bus/pci/devices/0000:15:01.0", "../../../devices/pci0000:15/0000:15:01.0")
        .link("/sys/devices/pci0000:15/0000:15:01.0/driver", "../../../bus/pci/drivers/pcieport")
        .directory("/sys/bus/pci/drivers/pcieport")
        .file("/etc/passwd", "inside\n")
        .directory("/proc");
}

template <class T>
int code_of(const gdrcheck::Result<T>& result) {
    return result ? 0 : result.error().code;
}

}  // namespace

TEST_CASE("a file is read whole, and its first line without blanks") {
    Node node(sysfs().file("/sys/x", "  one two \t\nthree\n"), any_backend());
    CHECK(node->read("/sys/x").value() == "  one two \t\nthree\n");
    CHECK(node->read_line("/sys/x").value() == "one two");
    CHECK(node->read_line("/sys/devices/pci0000:15/0000:15:01.0/empty").value().empty());
    CHECK(node->read("sys/x").value() == node->read("/sys//./x").value());
}

TEST_CASE("what is missing says its path and that it is missing") {
    Node node(sysfs(), any_backend());
    const auto missing = node->read("/sys/class/infiniband/mlx5_0/state");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ENOENT);
    CHECK(missing.error().what == "/sys/class/infiniband/mlx5_0/state: No such file or directory");
    CHECK_FALSE(node->exists("/sys/class"));
    CHECK(node->exists("/sys/bus/pci/devices/0000:15:01.0/class"));
    CHECK(code_of(node->list("/nowhere")) == ENOENT);
    CHECK(code_of(node->resolve("/nowhere")) == ENOENT);
    CHECK(code_of(node->read_link("/nowhere")) == ENOENT);
    CHECK(code_of(node->directory("/nowhere")) == ENOENT);
    CHECK(code_of(node->open_file("/nowhere")) == ENOENT);
}

TEST_CASE("a directory is no file and a file is no directory") {
    Node node(sysfs(), any_backend());
    CHECK(code_of(node->read("/sys/bus")) == EISDIR);
    CHECK(code_of(node->list("/etc/passwd")) == ENOTDIR);
    CHECK(code_of(node->directory("/etc/passwd")) == ENOTDIR);
    CHECK(code_of(node->read("/etc/passwd/more")) == ENOTDIR);
    CHECK(code_of(node->read("/etc/passwd/")) == ENOTDIR);
    CHECK(code_of(node->read_link("/etc/passwd")) == EINVAL);
}

TEST_CASE("a file over the limit is an error, its beginning can still be had") {
    Node node(sysfs().file("/sys/big", std::string(100'000, 'x')), any_backend());
    CHECK(code_of(node->read("/sys/big")) == EFBIG);
    CHECK(code_of(node->read("/sys/big", 99'999)) == EFBIG);
    CHECK(node->read("/sys/big", 100'000).value().size() == 100'000);
    CHECK(node->read_prefix("/sys/big", 5000).value() == std::string(5000, 'x'));
    CHECK(node->read_prefix("/etc/passwd", 5000).value() == "inside\n");
    CHECK(node->read_prefix("/etc/passwd", 0).value().empty());
}

TEST_CASE("a directory is listed in order, without dots") {
    Node node(
        sysfs().file("/sys/d/b").file("/sys/d/a-b").file("/sys/d/a/x").link("/sys/d/c", "nowhere").directory("/sys/e"),
        any_backend());
    CHECK(node->list("/sys/d").value() == Names{"a", "a-b", "b", "c"});
    CHECK(node->list("/sys/e").value().empty());
    CHECK(node->list("/").value() == Names{"etc", "proc", "sys"});
}

TEST_CASE("links are followed and canonical paths have none") {
    Node node(sysfs().link("/sys/chain", "/sys/bus/pci/devices/0000:15:01.0"), any_backend());
    const std::string device = "/sys/devices/pci0000:15/0000:15:01.0";
    CHECK(node->resolve("/sys/bus/pci/devices/0000:15:01.0").value() == device);
    CHECK(node->resolve("/sys/chain/driver").value() == "/sys/bus/pci/drivers/pcieport");
    CHECK(node->resolve("/sys/chain/../0000:15:01.0/class").value() == device + "/class");
    CHECK(node->read_line("/sys/chain/class").value() == "0x060400");
    CHECK(node->read_link("/sys/chain/driver").value() == "../../../bus/pci/drivers/pcieport");
    CHECK(node->resolve("/").value() == "/");
    CHECK(node->resolve("").value() == "/");
}

TEST_CASE("no link leads out of the root") {
    const auto* const target = GENERATE("/etc/passwd", "../../../../../../../../etc/passwd", "/../../etc/passwd",
                                        "/sys/../../../etc/passwd", "/etc/../../etc/./passwd");
    Node node(sysfs().link("/sys/out", target).link("/sys/up", "/..").link("/sys/far", "../../.."), any_backend());
    CAPTURE(target);
    CHECK(node->read_line("/sys/out").value() == "inside");
    CHECK(node->resolve("/sys/out").value() == "/etc/passwd");
    CHECK(node->read_line("/sys/up/etc/passwd").value() == "inside");
    CHECK(node->resolve("/sys/far").value() == "/");
    CHECK(node->list("/sys/up").value() == Names{"etc", "proc", "sys"});
    CHECK(node->read_line("/../../../etc/passwd").value() == "inside");
    const auto sys = node->directory("/sys");
    REQUIRE(sys.has_value());
    CHECK(sys->read_line("out").value() == "inside");
    CHECK(sys->read_line("../../../etc/passwd").value() == "inside");
    CHECK(sys->read_line("up/etc/passwd").value() == "inside");
    const auto opened = sys->open("out");
    REQUIRE(opened.has_value());
    CHECK(opened->read_at(2, 3).value() == "sid");
}

TEST_CASE("links that lead in a circle are an error, not a hang") {
    Node node(sysfs().link("/sys/a", "b").link("/sys/b", "/sys/a").link("/sys/self", "self/self").link("/sys/dir", "."),
              any_backend());
    CHECK(code_of(node->read("/sys/a")) == ELOOP);
    CHECK(code_of(node->resolve("/sys/b")) == ELOOP);
    CHECK(code_of(node->list("/sys/self")) == ELOOP);
    CHECK(code_of(node->directory("/sys/a/b")) == ELOOP);
    CHECK(code_of(node->open_file("/sys/a")) == ELOOP);
    CHECK_FALSE(node->exists("/sys/a"));
    CHECK(node->read_link("/sys/a").value() == "b");
    CHECK(node->resolve("/sys/dir/dir/dir").value() == "/sys");
    CHECK(node->directory("/sys").value().read("a").error().code == ELOOP);
    CHECK_THAT(node->read("/sys/a").error().what, ContainsSubstring("/sys/a: "));
}

TEST_CASE("forty links in a row are followed, forty-one are not") {
    auto tree = sysfs();
    for (int i = 0; i <= 40; ++i) tree.link(fmt::format("/sys/l{}", i), fmt::format("l{}", i + 1));
    tree.file("/sys/l41", "end\n");
    Node node(tree, any_backend());
    CHECK(node->read_line("/sys/l1").value() == "end");
    CHECK(code_of(node->read("/sys/l0")) == ELOOP);
}

TEST_CASE("a directory opened once reads its files by name") {
    Node node(sysfs().file("/sys/bus/pci/drivers/pcieport/module/version", "7\n"), any_backend());
    const auto device = node->directory("/sys/bus/pci/devices/0000:15:01.0");
    REQUIRE(device.has_value());
    CHECK(device->path() == "/sys/devices/pci0000:15/0000:15:01.0");
    CHECK(device->read("class").value() == "0x060400\n");
    CHECK(device->read_line("class").value() == "0x060400");
    CHECK(device->read_line("driver/module/version").value() == "7");
    CHECK(device->read_link("driver").value() == "../../../bus/pci/drivers/pcieport");
    CHECK(code_of(device->read_link("class")) == EINVAL);
    CHECK(code_of(device->read_link("physfn")) == ENOENT);
    CHECK(device->read("numa_node").error().what == device->path() + "/numa_node: No such file or directory");
    CHECK(code_of(device->read("driver")) == EISDIR);
    CHECK(code_of(device->read("class", 3)) == EFBIG);
    CHECK(code_of(device->read("iommu_group/type")) == ENOENT);
}

TEST_CASE("some bytes of a file are read without the rest") {
    Node node(sysfs().file("/sys/config", "0123456789"), any_backend());
    const auto file = node->directory("/sys").value().open("config");
    REQUIRE(file.has_value());
    CHECK(file->read_at(0, 4).value() == "0123");
    CHECK(file->read_at(8, 4).value() == "89");
    CHECK(file->read_at(100, 4).value().empty());
    CHECK(code_of(node->directory("/sys").value().open("none")) == ENOENT);
}

TEST_CASE("a library gets a descriptor of a file inside the root") {
    Node node(sysfs(), any_backend());
    const auto fd = node->open_file("/etc/passwd");
    REQUIRE(fd.has_value());
    std::array<char, 16> buffer{};
    CHECK(::read(fd->get(), buffer.data(), buffer.size()) == 7);
    CHECK(std::string(buffer.data()) == "inside\n");
    CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a snapshot under one directory is taken for its inside") {
    const auto backend = any_backend();
    const auto wrapped = GENERATE(true, false);
    auto tree = Tree{}.file("/gdrcheck/facts.json", "{}");
    if (wrapped) {
        tree.file("/n1/sys/x", "1").file("/n1/proc/y", "2");
    } else {
        tree.file("/n1/sys/x", "1").file("/n2/proc/y", "2");
    }
    Node node(tree, backend);
    CHECK(node->exists("/sys/x") == wrapped);
    CHECK(node->exists("/n1/sys/x") == !wrapped);
}

TEST_CASE("a link is not taken for a snapshot's directory") {
    TemporaryDirectory outside;
    outside.write(Tree{}.file("/sys/x", "outside").memory());
    TemporaryDirectory directory;
    directory.write(Tree{}.link("/n1", outside.path()).file("/readme").memory());
    const auto root = RootFs::open(directory.path());
    REQUIRE(root.has_value());
    CHECK_FALSE(root->exists("/sys/x"));
}

TEST_CASE("a root that cannot be opened says why") {
    const auto missing = RootFs::open("/nonexistent/root");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().what == "/nonexistent/root: No such file or directory");
    TemporaryDirectory directory;
    directory.write(Tree{}.file("/file").memory());
    CHECK(RootFs::open(directory.path() + "/file").error().code == ENOTDIR);
}

TEST_CASE("the running system is known as such") {
    CHECK(RootFs::open("/").value().is_live());
    TemporaryDirectory directory;
    CHECK_FALSE(RootFs::open(directory.path()).value().is_live());
    CHECK_FALSE(RootFs::from_tree({}).is_live());
    CHECK(RootFs::open("/").value().read_line("/proc/sys/kernel/osrelease").has_value());
}

TEST_CASE("what is no regular file is refused and never waited for") {
    const auto resolution = GENERATE(RootFs::Resolution::kernel, RootFs::Resolution::own);
    TemporaryDirectory directory;
    directory.write(sysfs().memory());
    REQUIRE(::mkfifo((directory.path() + "/sys/fifo").c_str(), 0600) == 0);
    const auto root = RootFs::open(directory.path(), resolution);
    REQUIRE(root.has_value());
    const auto fifo = root->read("/sys/fifo");
    REQUIRE_FALSE(fifo.has_value());
    CHECK(fifo.error().what == "/sys/fifo: is a FIFO, not a file");
    CHECK_FALSE(root->open_file("/sys/fifo").has_value());
    const auto sys = root->directory("/sys");
    CHECK(sys->read("fifo").error().what == "/sys/fifo: is a FIFO, not a file");
    CHECK_FALSE(sys->open("fifo").has_value());

    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto place = directory.path() + "/sys/socket";
    std::memcpy(address.sun_path, place.c_str(), place.size());
    const gdrcheck::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK_FALSE(root->read("/sys/socket").has_value());
    CHECK(RootFs::open("/").value().read("/dev/null").error().what == "/dev/null: is a character device, not a file");
}

TEST_CASE("errors that were recorded are met again") {
    auto root = sysfs()
                    .error("/sys/kernel/mm/memory_peers", EACCES)
                    .file("/sys/locked", "never seen")
                    .error("/sys/locked", EIO)
                    .error("/sys/only/an/error", EPERM)
                    .root();
    CHECK(code_of(root.list("/sys/kernel/mm/memory_peers")) == EACCES);
    CHECK(code_of(root.read("/sys/kernel/mm/memory_peers/nv_mem/version")) == EACCES);
    CHECK(root.read("/sys/locked").error().what == "/sys/locked: Input/output error");
    CHECK(code_of(root.read("/sys/only/an/error")) == EPERM);
    CHECK(root.list("/sys/only").value() == Names{"an"});
    CHECK(code_of(root.directory("/sys").value().read("locked")) == EIO);
    CHECK(code_of(root.directory("/sys").value().open("locked")) == EIO);
    CHECK(root.exists("/sys/locked"));
}
