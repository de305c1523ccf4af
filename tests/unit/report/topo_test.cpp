#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/report/hand_made.hpp"

using namespace gdrcheck;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A root port, a switch with two ports below it, a GPU and a NIC.
test::HandMade behind_a_switch() {
    auto made = test::healthy();
    made.facts = test::FactsBuilder{}
                     .bridge("0000:15:01.0")
                     .bridge("0000:16:00.0", "0000:15:01.0")
                     .bridge("0000:17:00.0", "0000:16:00.0")
                     .bridge("0000:17:01.0", "0000:16:00.0")
                     .gpu("0000:18:00.0", "0000:17:00.0")
                     .nic("mlx5_0", "0000:19:00.0", "0000:17:01.0")
                     .facts();
    return made;
}

std::string rendered(const test::HandMade& made) {
    return report::topo_text(made.report(), {});
}

}  // namespace

TEST_CASE("the tree shows host bridges, switches, GPUs and NICs") {
    CHECK_THAT(rendered(behind_a_switch()),
               ContainsSubstring("pci0000:15  NUMA 0\n"
                                 "  15:01.0 > 16:00.0\n"
                                 "    17:00.0 > 18:00.0  GPU 0  NVIDIA H100 80GB HBM3\n"
                                 "    17:01.0 > 19:00.0  NIC mlx5_0  ACTIVE InfiniBand 400 Gb/s\n"));
}

TEST_CASE("a bridge that redirects peer traffic has its own line and a mark") {
    auto made = behind_a_switch();
    made.facts.pci.at(test::address("0000:17:00.0")).acs.value =
        AcsCapability{.capability = 0x7f, .control = acs::request_redirect | acs::completion_redirect};
    CHECK_THAT(rendered(made), ContainsSubstring("    17:00.0  [ACS redirect]\n      18:00.0  GPU 0"));
}

TEST_CASE("a link with fewer lanes than both ends have is marked at its lower end") {
    auto made = behind_a_switch();
    made.facts.pci.at(test::address("0000:19:00.0")).current_link_width = 8;
    CHECK_THAT(rendered(made), ContainsSubstring("400 Gb/s  [link x8 of x16]\n"));
}

TEST_CASE("a narrow device in a wide slot is not marked") {
    auto made = behind_a_switch();
    auto& nic = made.facts.pci.at(test::address("0000:19:00.0"));
    nic.current_link_width = nic.max_link_width = 8;
    made.facts.pci.at(test::address("0000:17:01.0")).current_link_width = 8;
    CHECK_THAT(rendered(made), !ContainsSubstring("[link"));
}

TEST_CASE("a slow link is marked for a NIC and not for a GPU, which idles slow") {
    auto made = behind_a_switch();
    made.facts.pci.at(test::address("0000:18:00.0")).current_link_speed = "2.5 GT/s PCIe";
    CHECK_THAT(rendered(made), !ContainsSubstring("[link"));
    made.facts.pci.at(test::address("0000:19:00.0")).current_link_speed = "16.0 GT/s PCIe";
    CHECK_THAT(rendered(made), ContainsSubstring("[link 16 of 32 GT/s]"));
}

TEST_CASE("an RDMA device without a PCI function is still shown") {
    auto made = behind_a_switch();
    made.facts.rdma.push_back(RdmaDevice{.name = "rxe0"});
    CHECK_THAT(rendered(made), ContainsSubstring("not on the PCI tree\n  NIC rxe0\n"));
}

TEST_CASE("a chain too wide for the terminal continues on the next line") {
    auto made = behind_a_switch();
    made.facts.gpus[0].model = "a model whose name is far longer than any that was ever sold";
    const auto text = rendered(made);
    CHECK_THAT(text, ContainsSubstring("    17:00.0 > 18:00.0\n        GPU 0  a model"));
}

TEST_CASE("the JSON of topo has the tree, every function once") {
    const auto json = nlohmann::ordered_json::parse(report::topo_json(behind_a_switch().report()));
    CHECK(json["schema"] == 1);
    CHECK(json["verdict"] == "ok");
    CHECK(json["findings"].empty());
    REQUIRE(json["host_bridges"].size() == 1);
    CHECK(json["host_bridges"][0]["children"] == nlohmann::ordered_json::array({"0000:15:01.0"}));
    CHECK(json["functions"].size() == 6);
    CHECK(json["functions"][1]["children"].size() == 2);
    CHECK(json["functions"][4]["kind"] == "gpu");
    CHECK(json["functions"][5]["rdma"] == nlohmann::ordered_json::array({"mlx5_0"}));
}

TEST_CASE("paths that make no tree are shown as far as they go") {
    auto made = behind_a_switch();
    for (auto& entry : made.facts.pci) entry.second.sysfs_path = "nonsense";
    CHECK_THAT(rendered(made), ContainsSubstring("no host bridge"));
}
