#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

namespace {

NodeFacts pci_of(const Tree& tree) {
    NodeFacts facts;
    probe::read_pci(tree.root(), facts);
    return facts;
}

}  // namespace

TEST_CASE("a GPU and the bridges above it are read, other functions only counted") {
    const auto facts = pci_of(small_machine());
    CHECK(facts.pci_readable.value == true);
    CHECK(facts.pci_classes.size() == 7);
    CHECK(facts.pci.size() == 4);
    const auto* const gpu = facts.function(bdf("0000:18:00.0"));
    REQUIRE(gpu != nullptr);
    CHECK(gpu->sysfs_path == gpu_path);
    CHECK(gpu->class_code == 0x030200);
    CHECK(gpu->vendor == 0x10de);
    CHECK(gpu->device == 0x2330);
    CHECK(gpu->numa_node == 0);
    CHECK(gpu->driver == "nvidia");
    CHECK(gpu->max_link_speed == "32.0 GT/s PCIe");
    CHECK(gpu->current_link_speed == "2.5 GT/s PCIe");
    CHECK(gpu->max_link_width == 16);
    CHECK(gpu->current_link_width == 8);
    CHECK_FALSE(gpu->physical_function.has_value());
    CHECK(gpu->iommu_group_type.empty());
    for (const auto& bridge : upstream_bridges(*gpu)) CHECK(facts.function(bridge) != nullptr);
    CHECK(facts.function(bdf("0000:00:1f.0")) == nullptr);
}

TEST_CASE("NVSwitches and Data Direct functions matter, other functions of their vendors do not") {
    auto tree = small_machine();
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:00.0", "0x068000", "0x10de", "0x22a3");
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:01.0", "0x040300", "0x10de", "0x22ba");
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:02.0", "0x080100", "0x15b3", "0x2100");
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:03.0", "0x088000", "0x8086", "0x0b00");
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:04.0", "0x030000", "0x1a03", "0x2000");
    const auto facts = pci_of(tree);
    CHECK(facts.function(bdf("0000:20:00.0")) != nullptr);
    CHECK(facts.function(bdf("0000:20:01.0")) == nullptr);
    CHECK(facts.function(bdf("0000:20:02.0")) != nullptr);
    CHECK(facts.function(bdf("0000:20:03.0")) == nullptr);
    CHECK(facts.function(bdf("0000:20:04.0")) == nullptr);
}

TEST_CASE("a virtual function knows its physical one") {
    const auto facts = pci_of(small_machine().link(gpu_path + "/physfn", "../0000:18:00.4"));
    CHECK(facts.function(bdf("0000:18:00.0"))->physical_function == bdf("0000:18:00.4"));
}

TEST_CASE("where an IOMMU is at work, a function's group tells how its DMA is translated") {
    auto tree = small_machine().link("/sys/class/iommu/dmar0", "../../devices/virtual/iommu/dmar0");
    tree.link(gpu_path + "/iommu_group", "/sys/kernel/iommu_groups/7")
        .file("/sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
    auto facts = pci_of(tree);
    probe::read_iommu(tree.root(), facts);
    CHECK(facts.iommu_active);
    CHECK(facts.function(bdf("0000:18:00.0"))->iommu_group_type == "DMA-FQ");
}

TEST_CASE("missing, empty and garbage attributes leave a function with what it has") {
    const auto* const text =
        GENERATE("", "\n", "garbage", "0xzz\n", "-1\n", "99999999999999999999\n", "0x10000000000\n");
    auto tree = small_machine();
    tree.without(gpu_path + "/numa_node");
    for (const auto* name : {"/device", "/subsystem_vendor", "/max_link_width", "/max_link_speed"})
        tree.file(gpu_path + name, text);
    tree.link(gpu_path + "/driver", "driver").link(gpu_path + "/physfn", "../../nonsense");
    const auto facts = pci_of(tree);
    const auto* const gpu = facts.function(bdf("0000:18:00.0"));
    REQUIRE(gpu != nullptr);
    CHECK_FALSE(gpu->numa_node.has_value());
    CHECK(gpu->device == 0);
    CHECK(gpu->subsystem_vendor == 0);
    CHECK(gpu->max_link_width.value_or(-1) == -1);
    CHECK_FALSE(gpu->physical_function.has_value());
    CHECK(facts.pci_readable.value == true);
}

TEST_CASE("a bus that cannot be listed leaves everything unknown, with the reason") {
    const auto absent = pci_of(Tree{}.directory("/sys"));
    CHECK_FALSE(absent.pci_readable.known());
    CHECK(absent.pci_readable.why == "/sys/bus/pci/devices: No such file or directory");
    const auto locked = pci_of(small_machine().error("/sys/bus/pci/devices", EACCES));
    CHECK_FALSE(locked.pci_readable.known());
    CHECK(locked.pci_readable.why == "/sys/bus/pci/devices: Permission denied");
    CHECK(locked.pci.empty());
}

TEST_CASE("a function whose class cannot be read may be a GPU: the bus is unknown, the rest is read") {
    auto tree = small_machine();
    add_pci(tree, "/sys/devices/pci0000:20/0000:20:00.0", "0x030200", "0x10de", "0x2330");
    const auto facts = pci_of(tree.error("/sys/devices/pci0000:20/0000:20:00.0/class", EIO));
    CHECK_FALSE(facts.pci_readable.known());
    CHECK(facts.pci_readable.why == "/sys/bus/pci/devices/0000:20:00.0/class: Input/output error");
    CHECK(facts.function(bdf("0000:18:00.0")) != nullptr);
}

TEST_CASE("entries of the bus that loop, dangle or lie are left out") {
    auto tree = small_machine()
                    .link("/sys/bus/pci/devices/0000:30:00.0", "0000:30:00.0")
                    .link("/sys/bus/pci/devices/0000:31:00.0", "../../../devices/gone/0000:31:00.0")
                    .link("/sys/bus/pci/devices/0000:32:00.0", "../../../../../../..")
                    .file("/sys/bus/pci/devices/README", "x")
                    .link("/sys/bus/pci/devices/not_an_address", gpu_path);
    const auto facts = pci_of(tree);
    CHECK(facts.pci.size() == 4);
}

TEST_CASE("functions that are each other's bridge end, they do not loop") {
    auto tree = Tree{};
    const std::string a = "/sys/devices/0000:02:00.0/0000:01:00.0";
    const std::string b = "/sys/devices/x/0000:01:00.0/0000:02:00.0";
    for (const auto& path : {a, b}) add_pci(tree, path, "0x030200", "0x10de", "0x2330");
    tree.link("/sys/devices/0000:02:00.0/self", ".").link("/sys/devices/y/0000:03:00.0", b);
    const auto facts = pci_of(tree);
    CHECK(facts.function(bdf("0000:01:00.0")) != nullptr);
    CHECK(facts.function(bdf("0000:02:00.0")) != nullptr);
    CHECK(facts.pci.size() == 2);
}

TEST_CASE("subsystem ids are read of Broadcom switches alone, which NCCL tells apart by them") {
    auto tree = small_machine();
    const auto upstream = gpu_path.substr(0, gpu_path.rfind('/'));
    tree.file(upstream + "/vendor", "0x1000\n");
    const auto facts = pci_of(tree);
    const auto* const bridge = facts.function(*parse_pci_address(upstream.substr(upstream.rfind('/') + 1)));
    REQUIRE(bridge != nullptr);
    CHECK(bridge->subsystem_vendor == 0x15b3);
    CHECK(bridge->subsystem_device == 0x23);
    CHECK(facts.function(bdf("0000:18:00.0"))->subsystem_device == 0);
}

TEST_CASE("links between Broadcom switches are read") {
    auto tree = small_machine();
    const std::string links = "/sys/kernel/pci_switch_link/virtual_switch_links/";
    tree.file(links + "0000:16:00.0/0000:26:00.0", "")
        .file(links + "0000:26:00.0/0000:16:00.0", "")
        .file(links + "junk/x", "");
    const auto facts = pci_of(tree);
    CHECK(facts.broadcom_links ==
          std::vector<std::pair<PciAddress, PciAddress>>{{bdf("0000:16:00.0"), bdf("0000:26:00.0")},
                                                         {bdf("0000:26:00.0"), bdf("0000:16:00.0")}});
}
