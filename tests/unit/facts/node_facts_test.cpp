#include "common/facts/node_facts.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck;

namespace {

std::vector<std::string> bridges_of(std::string path) {
    PciFunction function;
    function.sysfs_path = std::move(path);
    std::vector<std::string> names;
    for (const auto& bridge : upstream_bridges(function)) names.push_back(to_string(bridge));
    return names;
}

}  // namespace

TEST_CASE("bridges are read off the path, nearest first, up to the host bridge") {
    using Names = std::vector<std::string>;
    CHECK(bridges_of("/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0") ==
          Names{"0000:17:00.0", "0000:16:00.0", "0000:15:01.0"});
    CHECK(bridges_of("/sys/devices/pci0000:00/0000:00:05.0").empty());
    CHECK(bridges_of("/sys/devices/LNXSYSTM:00/VMBUS:00/47505500-0001-0000-3130-444532304235/pci0001:00/0001:00:00.0")
              .empty());
    CHECK(bridges_of("").empty());
    CHECK(bridges_of("/").empty());
}

TEST_CASE("names sort by the numbers in them") {
    std::vector<std::string> names{"mlx5_10", "mlx5_2", "mlx5_bond_0", "ibp24s0", "mlx5_1", "mlx5_01", "mlx5_"};
    std::sort(names.begin(), names.end(), natural_less);
    CHECK(names ==
          std::vector<std::string>{"ibp24s0", "mlx5_", "mlx5_01", "mlx5_1", "mlx5_2", "mlx5_10", "mlx5_bond_0"});
    CHECK_FALSE(natural_less("mlx5_1", "mlx5_1"));
    CHECK(natural_less("a99999999999999999999998", "a99999999999999999999999"));
    CHECK(natural_less("", "a"));
}

TEST_CASE("the first setting of an NCCL variable counts") {
    NodeFacts facts;
    facts.nccl_conf = {{"/etc/nccl.conf", 1, "NCCL_DEBUG", "WARN"}, {"/etc/nccl.conf", 2, "NCCL_DEBUG", "INFO"}};
    REQUIRE(facts.nccl_setting("NCCL_DEBUG") != nullptr);
    CHECK(*facts.nccl_setting("NCCL_DEBUG") == "WARN");
    CHECK(facts.nccl_setting("NCCL_TOPO_FILE") == nullptr);
}

TEST_CASE("what is not there is not found") {
    const NodeFacts facts;
    CHECK(facts.module("nvidia") == nullptr);
    CHECK(facts.function({}) == nullptr);
    CHECK(TopologyElement{}.attribute("busid") == nullptr);
}
