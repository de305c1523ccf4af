#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/snapshot/archive_library.hpp"
#include "common/snapshot/snapshot.hpp"
#include "tests/unit/snapshot/tar_bytes.hpp"
#include "tests/unit/snapshot/temporary_directory.hpp"

#ifdef GDRCHECK_LIBARCHIVE_HEADERS

namespace {

using namespace gdrcheck;
using Catch::Matchers::ContainsSubstring;
using Kind = MemoryTree::Entry::Kind;
using test::TarEntry;
using test::TemporaryDirectory;

Result<MemoryTree> unpack(const std::vector<TarEntry>& entries, const ArchiveLimits& limits = {}) {
    const TemporaryDirectory directory;
    return read_archive(directory.write("x.tar", test::tar_bytes(entries)), limits);
}

std::string why(const Result<MemoryTree>& tree) {
    REQUIRE_FALSE(tree.has_value());
    CHECK_THAT(tree.error().what, ContainsSubstring("x.tar"));
    return tree.error().what;
}

std::string content(const Result<MemoryTree>& tree, const std::string& path) {
    INFO((tree ? path : tree.error().what));
    REQUIRE(tree.has_value());
    const auto found = tree->entries.find(path);
    REQUIRE(found != tree->entries.end());
    CHECK(found->second.kind == Kind::file);
    return found->second.data;
}

MemoryTree small_tree() {
    MemoryTree tree;
    tree.entries["/sys"] = {Kind::directory, {}};
    tree.entries["/sys/a"] = {Kind::file, std::string("binary\0data\n", 12)};
    tree.entries["/sys/a-b"] = {Kind::file, {}};
    tree.entries["/sys/class"] = {Kind::directory, {}};
    tree.entries["/sys/class/link"] = {Kind::link, "../../sys/a"};
    tree.entries["/sys/" + std::string(180, 'l') + "/" + std::string(120, 'm')] = {Kind::file, "long name"};
    return tree;
}

}  // namespace

TEST_CASE("a tree that is written reads back the same") {
    const TemporaryDirectory directory;
    const std::string file = directory.path("node.tar.gz");
    const MemoryTree tree = small_tree();
    const auto written = write_archive(file, tree);
    INFO((written ? "" : written.error().what));
    REQUIRE(written.has_value());
    const auto read = read_archive(file);
    INFO((read ? "" : read.error().what));
    REQUIRE(read.has_value());
    for (const auto& [path, entry] : tree.entries) {
        CAPTURE(path);
        REQUIRE(read->entries.contains(path));
        CHECK(read->entries.at(path).kind == entry.kind);
        CHECK(read->entries.at(path).data == entry.data);
    }
    CHECK(read->entries.size() == tree.entries.size() + 1);  // and the directory that the long name implies
}

TEST_CASE("the same tree gives the same bytes, readable by all, and nothing else is left in the directory") {
    const TemporaryDirectory directory;
    REQUIRE(write_archive(directory.path("a.tar.gz"), small_tree()).has_value());
    REQUIRE(write_archive(directory.path("b.tar.gz"), small_tree()).has_value());
    CHECK(test::read_bytes(directory.path("a.tar.gz")) == test::read_bytes(directory.path("b.tar.gz")));
    CHECK(directory.names().size() == 2);
    struct stat status {};
    REQUIRE(::stat(directory.path("a.tar.gz").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0644);
}

TEST_CASE("an old snapshot is replaced whole, or stays as it was") {
    const TemporaryDirectory directory;
    const std::string file = directory.write("node.tar.gz", "old");

    SECTION("replaced") {
        REQUIRE(write_archive(file, small_tree()).has_value());
        CHECK(read_archive(file).has_value());
    }
    SECTION("the disk is full") {
        MemoryTree tree = small_tree();
        std::string noise;
        for (unsigned i = 0, x = 1; i < 200'000; ++i)
            noise += static_cast<char>((x = x * 1664525U + 1013904223U) >> 24);
        tree.entries["/sys/noise"] = {Kind::file, noise};
        const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
        rlimit old_limit{};
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
        rlimit limit = old_limit;
        limit.rlim_cur = 50'000;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
        const auto written = write_archive(file, tree);
        ::setrlimit(RLIMIT_FSIZE, &old_limit);
        std::signal(SIGXFSZ, old_handler);
        REQUIRE_FALSE(written.has_value());
        CHECK_THAT(written.error().what, ContainsSubstring(file) && ContainsSubstring("File too large"));
        CHECK(test::read_bytes(file) == "old");
        CHECK(directory.names().size() == 1);
    }
}

TEST_CASE("a place that cannot be written is named") {
    const TemporaryDirectory directory;
    const auto missing = write_archive(directory.path("no/such/x.tar.gz"), small_tree());
    REQUIRE_FALSE(missing.has_value());
    CHECK_THAT(missing.error().what, ContainsSubstring("no/such") && ContainsSubstring("No such file"));

    const auto device = write_archive("/dev/null", small_tree());
    REQUIRE_FALSE(device.has_value());
    CHECK_THAT(device.error().what, ContainsSubstring("/dev/null") && ContainsSubstring("no regular file"));
    CHECK_FALSE(write_archive(directory.path("."), small_tree()).has_value());
}

TEST_CASE("names in an archive are made canonical and its one top directory is taken off") {
    const auto tree = unpack({{.name = "./node1/", .type = '5'},
                              {.name = "/node1//sys/./a", .data = "1"},
                              {.name = "pax_global_header", .data = "x"},
                              {.name = "node1/proc/version", .data = "2"}});
    CHECK(content(tree, "/sys/a") == "1");
    CHECK(content(tree, "/proc/version") == "2");
    CHECK(tree->entries.at("/sys").kind == Kind::directory);
    CHECK_FALSE(tree->entries.contains("/node1"));
    CHECK_FALSE(tree->entries.contains("/pax_global_header"));
}

TEST_CASE("an archive that leads out of itself is refused") {
    CHECK_THAT(why(unpack({{.name = "sys/../../etc/passwd", .data = "x"}})), ContainsSubstring("leads out"));
    CHECK_THAT(why(unpack({{.name = "..", .type = '5'}})), ContainsSubstring("leads out"));
    CHECK_THAT(why(unpack({{.name = "sys/a", .type = '1', .target = "../../etc/shadow"}})),
               ContainsSubstring("leads out"));
}

TEST_CASE("a file, link or device used as a directory is refused") {
    CHECK_THAT(why(unpack({{.name = "sys/a", .data = "x"}, {.name = "sys/a/b", .data = "y"}})),
               ContainsSubstring("/sys/a/b lies in /sys/a, which is no directory"));
    CHECK_THAT(why(unpack({{.name = "sys/a", .type = '2', .target = "/etc"}, {.name = "sys/a/b", .data = "y"}})),
               ContainsSubstring("no directory"));
    CHECK_THAT(why(unpack({{.name = "sys/a/b", .data = "y"}, {.name = "sys/a", .data = "x"}})),
               ContainsSubstring("is a directory and later something else"));
}

TEST_CASE("of several entries of one name the last holds") {
    CHECK(content(unpack({{.name = "sys/a", .data = "1"}, {.name = "./sys/a", .data = "2"}}), "/sys/a") == "2");
    const auto tree = unpack({{.name = "sys/a", .data = "1"}, {.name = "sys/a/", .type = '5'}, {.name = "sys/a/b"}});
    CHECK(content(tree, "/sys/a/b").empty());
}

TEST_CASE("links keep their text, hard links are copies of what came before") {
    const auto tree = unpack({{.name = "sys/a", .data = "1"},
                              {.name = "sys/out", .type = '2', .target = "../../../etc/passwd"},
                              {.name = "sys/copy", .type = '1', .target = "sys/a"}});
    CHECK(content(tree, "/sys/copy") == "1");
    CHECK(tree->entries.at("/sys/out").kind == Kind::link);
    CHECK(tree->entries.at("/sys/out").data == "../../../etc/passwd");
    CHECK_THAT(why(unpack({{.name = "sys/b", .type = '1', .target = "sys/a"}})),
               ContainsSubstring("no earlier entry holds"));
}

TEST_CASE("a character device is there and empty; block devices, FIFOs and unknown kinds are left out") {
    const auto tree = unpack({{.name = "sys/x", .data = "1"},
                              {.name = "dev/infiniband/uverbs0", .type = '3'},
                              {.name = "dev/sda", .type = '4'},
                              {.name = "dev/pipe", .type = '6'}});
    CHECK(content(tree, "/dev/infiniband/uverbs0").empty());
    CHECK_FALSE(tree->entries.contains("/dev/sda"));
    CHECK_FALSE(tree->entries.contains("/dev/pipe"));
}

TEST_CASE("an archive beyond a limit is refused by name of the limit") {
    const std::vector<TarEntry> three = {{.name = "sys/a", .data = "12345"}, {.name = "sys/b", .data = "12345"}};
    CHECK_THAT(why(unpack(three, {.entries = 2})), ContainsSubstring("more than 2 entries"));
    CHECK_THAT(why(unpack(three, {.total_bytes = 12})), ContainsSubstring("unpacks to more than"));
    CHECK_THAT(why(unpack(three, {.file_bytes = 4})), ContainsSubstring("/sys/a is larger than"));
    CHECK_THAT(why(unpack(three, {.path_bytes = 4})), ContainsSubstring("longer than 4 bytes"));
    CHECK_THAT(why(unpack({{.name = "sys/b/c/d/e"}}, {.depth = 3})), ContainsSubstring("deeper than 3"));
    CHECK_THAT(why(unpack(three, {.packed_bytes = 100})), ContainsSubstring("larger than"));
    CHECK_THAT(why(unpack({{.name = "sys/l", .type = '2', .target = std::string(90, 'x')}}, {.path_bytes = 20})),
               ContainsSubstring("too long a target"));
    CHECK(unpack(three, {.entries = 3, .total_bytes = 26, .file_bytes = 5}).has_value());
}

TEST_CASE("copies by hard link count as bytes") {
    std::vector<TarEntry> entries = {{.name = "sys/a", .data = std::string(10'000, 'x')}};
    for (int i = 0; i < 100; ++i)
        entries.push_back({.name = "sys/h" + std::to_string(i), .type = '1', .target = "sys/a"});
    CHECK_THAT(why(unpack(entries, {.total_bytes = 100'000})), ContainsSubstring("unpacks to more than"));
}

TEST_CASE("a file that claims more than it has, or more than is allowed, is refused") {
    CHECK_THAT(why(unpack({{.name = "sys/a", .data = "x", .claimed_size = 1'000'000}})), ContainsSubstring("/sys/a"));
    CHECK_THAT(why(unpack({{.name = "sys/a", .data = "x", .claimed_size = 07777777777}})),
               ContainsSubstring("larger than"));
    CHECK_THAT(why(unpack({{.name = "dev/p", .type = '7', .data = "x", .claimed_size = 07777777777}})),
               ContainsSubstring("larger than"));
}

TEST_CASE("a bomb is stopped while it unpacks") {
    const TemporaryDirectory directory;
    MemoryTree tree;
    for (int i = 0; i < 8; ++i)
        tree.entries["/sys/zero" + std::to_string(i)] = {Kind::file, std::string(4'000'000, '\0')};
    const std::string file = directory.path("x.tar.gz");
    REQUIRE(write_archive(file, tree).has_value());
    CHECK(std::filesystem::file_size(file) < 100'000);
    CHECK_THAT(why(read_archive(file, {.total_bytes = 10'000'000})), ContainsSubstring("unpacks to more than 9 MiB"));
}

TEST_CASE("an archive cut off anywhere is an error or a shorter tree, never a crash") {
    const TemporaryDirectory directory;
    const std::string whole_file = directory.path("whole.tar.gz");
    REQUIRE(write_archive(whole_file, small_tree()).has_value());
    const std::string whole = test::read_bytes(whole_file);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        const auto tree = read_archive(directory.write("x.tar.gz", whole.substr(0, length)));
        if (!tree) CHECK_THAT(tree.error().what, ContainsSubstring("x.tar.gz: "));
    }
    CHECK_THAT(why(read_archive(directory.write("x.tar.gz", whole.substr(0, whole.size() / 2)))),
               ContainsSubstring("truncated"));
}

TEST_CASE("an archive with a flipped byte never crashes") {
    const TemporaryDirectory directory;
    const std::string whole =
        test::tar_bytes({{.name = "sys/a", .data = "x"}, {.name = "sys/b", .type = '2', .target = "a"}});
    for (std::size_t at = 0; at < whole.size(); at += 3) {
        std::string broken = whole;
        broken[at] = static_cast<char>(broken[at] ^ 0x41);
        const auto tree = read_archive(directory.write("x.tar", broken));
        if (!tree) CHECK_THAT(tree.error().what, ContainsSubstring("x.tar: "));
    }
}

TEST_CASE("what is no archive is named with its cause") {
    const TemporaryDirectory directory;
    CHECK_THAT(why(read_archive(directory.path("x.tar"))), ContainsSubstring("No such file"));
    CHECK(read_archive(directory.path("x.tar")).error().code == ENOENT);
    CHECK_THAT(why(read_archive(directory.write("x.tar", ""))), ContainsSubstring("x.tar: "));
    CHECK_THAT(why(read_archive(directory.write("x.tar", std::string(5000, 'g')))), ContainsSubstring("Unrecognized"));
    CHECK_THAT(why(read_archive(directory.write("x.tar", std::string(20480, '\0')))), ContainsSubstring("no snapshot"));
    REQUIRE(::mkfifo(directory.path("fifo-x.tar").c_str(), 0600) == 0);
    CHECK_THAT(why(read_archive(directory.path("fifo-x.tar"))), ContainsSubstring("no regular file"));
    CHECK_FALSE(read_archive(directory.path(".")).has_value());
}

TEST_CASE("an archive without a node, or with several, is refused") {
    CHECK_THAT(why(unpack({{.name = "photos/1.jpg", .data = "x"}})), ContainsSubstring("no snapshot"));
    CHECK_THAT(why(unpack({{.name = "n1/sys/a"}, {.name = "n2/sys/a"}})), ContainsSubstring("several nodes (n1, n2"));
}

TEST_CASE("control characters of an archive do not reach the terminal") {
    const std::string text = why(unpack({{.name = "sys/\x1b[2J/../x"}}));
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("an archive compressed twice is refused") {
    const TemporaryDirectory directory;
    const std::string inner = directory.path("x.tar.gz");
    REQUIRE(write_archive(inner, small_tree()).has_value());
    const std::string command = "gzip -c '" + inner + "' > '" + directory.path("twice-x.tar.gz") + "'";
    REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(cert-env33-c)
    CHECK_THAT(why(read_archive(directory.path("twice-x.tar.gz"))), ContainsSubstring("compressed more than once"));
}

TEST_CASE("a missing library is named, with what to install") {
    const auto missing = snapshot::open_archive_library(std::to_array({"libgdrcheck-no-such.so.1"}));
    REQUIRE_FALSE(missing.has_value());
    CHECK_THAT(missing.error().what,
               ContainsSubstring("libgdrcheck-no-such.so.1") && ContainsSubstring("libarchive13"));
    const auto other = snapshot::open_archive_library(std::to_array({"libc.so.6"}));
    REQUIRE_FALSE(other.has_value());
    CHECK_THAT(other.error().what, ContainsSubstring("libc.so.6 has no archive_read_new"));
}

#endif
