#include <cerrno>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/base/rootfs.hpp"
#include "common/snapshot/snapshot.hpp"
#include "tests/unit/snapshot/temporary_directory.hpp"

namespace {

using namespace gdrcheck;
using Catch::Matchers::ContainsSubstring;
using Kind = MemoryTree::Entry::Kind;

MemoryTree recorded_node() {
    MemoryTree tree;
    tree.entries["/sys/class/infiniband"] = {Kind::directory, {}};
    tree.entries["/proc/sys/kernel/osrelease"] = {Kind::file, "6.1.0\n"};
    tree.errors["/sys/devices/pci0000:00/config"] = EACCES;
    tree.errors["/sys/devices/broken"] = EIO;
    tree.errors["/sys/devices/odd"] = 4000;
    return tree;
}

const SnapshotOptions options{.host = "n1.example.com", .time_utc = "2025-01-31T12:00:00Z", .version = "0.1.0"};

Result<SnapshotFacts> facts_of(const std::string& json) {
    MemoryTree tree;
    tree.entries["/gdrcheck/facts.json"] = {Kind::file, json};
    return read_facts(tree);
}

}  // namespace

TEST_CASE("a snapshot is one directory, named after the host, with its facts beside what was read") {
    const MemoryTree tree = finish(recorded_node(), options);
    CHECK(tree.entries.contains("/gdrcheck-n1.example.com/sys/class/infiniband"));
    CHECK(tree.entries.contains("/gdrcheck-n1.example.com/proc/sys/kernel/osrelease"));
    CHECK(tree.entries.contains("/gdrcheck-n1.example.com/gdrcheck/facts.json"));
    CHECK(tree.entries.size() == 3);
}

TEST_CASE("host, time, version and errors come back") {
    const auto facts = read_facts(finish(recorded_node(), options));
    REQUIRE(facts.has_value());
    CHECK(facts->host == "n1.example.com");
    CHECK(facts->time_utc == "2025-01-31T12:00:00Z");
    CHECK(facts->version == "0.1.0");
    CHECK_FALSE(facts->scrubbed);
    CHECK(facts->errors == recorded_node().errors);
}

#ifdef GDRCHECK_LIBARCHIVE_HEADERS
TEST_CASE("what could not be read on the node cannot be read in the replay, and for the same reason") {
    const test::TemporaryDirectory directory;
    REQUIRE(write_archive(directory.path("x.tar.gz"), finish(recorded_node(), options)).has_value());
    auto tree = read_archive(directory.path("x.tar.gz"));
    REQUIRE(tree.has_value());
    CHECK(tree->errors == recorded_node().errors);

    const RootFs root = RootFs::from_tree(*std::move(tree));
    CHECK(root.read_line("/proc/sys/kernel/osrelease").value() == "6.1.0");
    CHECK(root.read("/sys/devices/pci0000:00/config").error().code == EACCES);
    CHECK(root.read("/sys/devices/broken").error().code == EIO);
    CHECK(root.read("/sys/devices/absent").error().code == ENOENT);
}

TEST_CASE("a snapshot with broken facts is refused") {
    const test::TemporaryDirectory directory;
    MemoryTree tree = recorded_node();
    tree.entries["/gdrcheck/facts.json"] = {Kind::file, "{"};
    REQUIRE(write_archive(directory.path("x.tar.gz"), tree).has_value());
    const auto read = read_archive(directory.path("x.tar.gz"));
    REQUIRE_FALSE(read.has_value());
    CHECK_THAT(read.error().what, ContainsSubstring("x.tar.gz") && ContainsSubstring("gdrcheck/facts.json"));
}
#endif

TEST_CASE("a host name cannot lead the snapshot elsewhere") {
    const MemoryTree tree = finish({}, {.host = "../../etc\n"});
    REQUIRE(tree.entries.size() == 1);
    CHECK(tree.entries.begin()->first == "/gdrcheck-.._.._etc_/gdrcheck/facts.json");
    CHECK(finish({}, {}).entries.begin()->first == "/gdrcheck-node/gdrcheck/facts.json");
}

TEST_CASE("facts that are not ours are an error that says what is wrong") {
    CHECK_THAT(facts_of("").error().what, ContainsSubstring("no JSON object"));
    CHECK_THAT(facts_of("[1]").error().what, ContainsSubstring("no JSON object"));
    CHECK_THAT(facts_of("{}").error().what, ContainsSubstring("schema"));
    CHECK_THAT(facts_of(R"({"schema": 2})").error().what, ContainsSubstring("schema 2"));
    CHECK_THAT(facts_of(R"({"schema": 1e99})").error().what, ContainsSubstring("schema"));
    CHECK_THAT(facts_of(R"({"schema": 1, "host": 7})").error().what, ContainsSubstring("\"host\""));
    CHECK_THAT(facts_of(R"({"schema": 1, "errors": []})").error().what, ContainsSubstring("\"errors\""));
    CHECK_THAT(facts_of(R"({"schema": 1, "errors": {"sys/a": "EIO"}})").error().what, ContainsSubstring("\"errors\""));
    CHECK_THAT(facts_of(R"({"schema": 1, "errors": {"/sys/a": 5}})").error().what, ContainsSubstring("\"errors\""));
    CHECK_THAT(facts_of(R"({"schema": 1, "scrubbed": 1})").error().what, ContainsSubstring("\"scrubbed\""));
    CHECK_THAT(facts_of(R"({"schema": 1, "withheld": [1]})").error().what, ContainsSubstring("\"withheld\""));
    CHECK_FALSE(facts_of("{\"schema\": 1, \"host\": \"\xff\"}").has_value());
    CHECK_FALSE(facts_of(std::string(100'000, '[')).has_value());
    CHECK(read_facts({}).error().code == ENOENT);
}

TEST_CASE(
    "an error name that this version does not know still means unreadable; fields of later versions are ignored") {
    const auto facts = facts_of(R"({"schema": 1, "errors": {"/sys/a": "EFUTURE", "/sys/b": "errno 0"}, "new": {}})");
    REQUIRE(facts.has_value());
    CHECK(facts->errors.at("/sys/a") == EIO);
    CHECK(facts->errors.at("/sys/b") == EIO);
}
