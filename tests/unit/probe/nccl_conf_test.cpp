#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/probe/probe.hpp"
#include "common/probe/topology_file.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string system_file =
    "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\"><pci busid=\"0000:18:00.0\"/></cpu><!-- c --></system>\n";
const std::string default_topology = "/var/run/nvidia-topologyd/virtualTopology.xml";

NodeFacts conf_of(const Tree& tree, const probe::Options& options = {}) {
    NodeFacts facts;
    probe::read_nccl_conf(tree.root(), options, facts);
    return facts;
}

}  // namespace

TEST_CASE("nccl.conf is read in NCCL's own syntax") {
    const auto facts =
        conf_of(Tree{}.file("/etc/nccl.conf",
                            "# comment\nNCCL_DEBUG=WARN\nno assignment\n\n NCCL_IB_HCA = =mlx5 \n"
                            " # not a comment: it has a key=value\n=nameless\nNCCL_DEBUG=INFO\nNCCL_LAST=1"));
    const std::string file = "/etc/nccl.conf";
    CHECK(facts.nccl_conf == std::vector<NcclConfEntry>{{file, 2, "NCCL_DEBUG", "WARN"},
                                                        {file, 5, " NCCL_IB_HCA ", " =mlx5 "},
                                                        {file, 6, " # not a comment: it has a key", "value"},
                                                        {file, 8, "NCCL_DEBUG", "INFO"},
                                                        {file, 9, "NCCL_LAST", "1"}});
    CHECK(*facts.nccl_setting("NCCL_DEBUG") == "WARN");
    CHECK(facts.nccl_conf_why.empty());
    CHECK_FALSE(facts.topology.has_value());
}

TEST_CASE("an absent nccl.conf is none, one that cannot be read says why") {
    CHECK(conf_of(Tree{}).nccl_conf_why.empty());
    CHECK(conf_of(Tree{}.file("/etc/nccl.conf")).nccl_conf.empty());
    CHECK(conf_of(Tree{}.error("/etc/nccl.conf", EACCES)).nccl_conf_why == "/etc/nccl.conf: Permission denied");
    CHECK(conf_of(Tree{}.directory("/etc/nccl.conf")).nccl_conf_why == "/etc/nccl.conf: Is a directory");
    CHECK(conf_of(Tree{}.link("/etc/nccl.conf", "nccl.conf")).nccl_conf_why.starts_with("/etc/nccl.conf: "));
    CHECK(conf_of(Tree{}.file("/etc/nccl.conf", std::string(3'000'000, 'x'))).nccl_conf_why ==
          "/etc/nccl.conf: File too large");
}

TEST_CASE("a value is cut where NCCL cuts it") {
    const auto facts =
        conf_of(Tree{}.file("/etc/nccl.conf", "K=" + std::string(5000, 'v') + std::string("\nA=b\0c\n", 7)));
    REQUIRE(facts.nccl_conf.size() == 2);
    CHECK(facts.nccl_conf[0].value.size() == 1023);
    CHECK(facts.nccl_conf[1].value == "b");
}

TEST_CASE("the topology file of the policy comes before that of nccl.conf, that before the default") {
    auto tree = Tree{}.file(default_topology, system_file);
    CHECK(conf_of(tree).topology->source == "default path");
    CHECK(conf_of(tree).topology->system.value->children.size() == 1);
    tree.file("/etc/nccl.conf", "#\nNCCL_TOPO_FILE=/opt/topo.xml\n").file("/opt/topo.xml", system_file);
    CHECK(conf_of(tree).topology->path == "/opt/topo.xml");
    CHECK(conf_of(tree).topology->source == "/etc/nccl.conf:2");
    const auto policy = conf_of(tree, {.topology_file_text = system_file, .topology_file_path = "/host/topo.xml"});
    CHECK(policy.topology->path == "/host/topo.xml");
    CHECK(policy.topology->source == "policy [nccl] topo_file");
    CHECK(policy.topology->system.known());
}

TEST_CASE("a topology file that cannot be had says why") {
    const auto why = [](const Tree& tree, const probe::Options& options = {}) {
        return conf_of(tree, options).topology->system.why;
    };
    auto named = Tree{}.file("/etc/nccl.conf", "NCCL_TOPO_FILE=/opt/topo.xml\n");
    CHECK(why(named) == "/opt/topo.xml: No such file or directory");
    CHECK(why(named.error("/opt/topo.xml", EACCES)) == "/opt/topo.xml: Permission denied");
    CHECK(why(Tree{}.error(default_topology, EIO)) == default_topology + ": Input/output error");
    CHECK_THAT(why(Tree{}.file("/etc/nccl.conf", "NCCL_TOPO_FILE=topo.xml\n")), ContainsSubstring("relative path"));
    CHECK(why(Tree{}, {.topology_file_path = "/x", .topology_file_error = "/x: Permission denied"}) ==
          "/x: Permission denied");
}

TEST_CASE("a topology file is looked up inside the root") {
    auto tree =
        Tree{}.file("/etc/nccl.conf", "NCCL_TOPO_FILE=/opt/topo.xml\n").link("/opt/topo.xml", "/../../../real.xml");
    CHECK(conf_of(tree.file("/real.xml", system_file)).topology->system.known());
    auto run = Tree{}.link("/var/run", "/run").file("/run/nvidia-topologyd/virtualTopology.xml", system_file);
    CHECK(conf_of(run).topology->system.known());
}

TEST_CASE("elements keep their attributes in order, and their children") {
    const auto parsed = probe::parse_topology("<?xml version=\"1.0\"?>\n" + system_file, "t.xml");
    REQUIRE(parsed.known());
    const auto& cpu = parsed.value->children.at(0);
    CHECK(cpu.tag == "cpu");
    CHECK(cpu.attributes == std::vector<std::pair<std::string, std::string>>{{"numaid", "0"}, {"arch", "x86_64"}});
    CHECK(*cpu.children.at(0).attribute("busid") == "0000:18:00.0");
}

TEST_CASE("what is no topology is refused with the place and the reason") {
    const auto* const text = GENERATE("", "garbage", "<system version=\"1\"><cpu></system>", "<system version=\"1\"",
                                      "<other/>", "<system/>", "<system version=\"2\"/>",
                                      "<system version=\"1\"><a b=c/></system>", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>");
    CAPTURE(text);
    const auto parsed = probe::parse_topology(text, "t.xml");
    CHECK_FALSE(parsed.known());
    CHECK(parsed.why.starts_with("t.xml: "));
}

TEST_CASE("malformed XML tells the byte") {
    CHECK_THAT(probe::parse_topology("<system version=\"1\"><cpu></system>", "t.xml").why,
               ContainsSubstring("not XML at byte 2"));
}

TEST_CASE("entities are text, not expanded") {
    const auto parsed = probe::parse_topology(
        "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><system version=\"1\"><cpu arch=\"&a;&a;&#120;\"/></system>", "t.xml");
    REQUIRE(parsed.known());
    CHECK(*parsed.value->children.at(0).attribute("arch") == "&a;&a;&#120;");
}

TEST_CASE("a file deeper or longer than any machine is refused") {
    std::string deep = "<system version=\"1\">";
    for (int i = 0; i < 100'000; ++i) deep += "<a>";
    for (int i = 0; i < 100'000; ++i) deep += "</a>";
    CHECK_THAT(probe::parse_topology(deep + "</system>", "t.xml").why, ContainsSubstring("too deep"));
    std::string wide = "<system version=\"1\">";
    for (int i = 0; i < 70'000; ++i) wide += "<a/>";
    CHECK_THAT(probe::parse_topology(wide + "</system>", "t.xml").why, ContainsSubstring("too many"));
}
