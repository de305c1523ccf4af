#include <cerrno>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "common/probe/probe.hpp"
#include "tests/unit/probe/small_machine.hpp"

using namespace gdrcheck;
using namespace gdrcheck::test;

namespace {

NodeFacts rdma_of(const Tree& tree) {
    NodeFacts facts;
    const auto root = tree.root();
    probe::read_modules(root, facts);
    probe::read_pci(root, facts);
    probe::read_rdma(root, facts);
    return facts;
}

const RdmaDevice& only_device(const NodeFacts& facts) {
    REQUIRE(facts.rdma.size() == 1);
    return facts.rdma.front();
}

RdmaPort only_port(const Tree& tree) {
    const auto facts = rdma_of(tree);
    REQUIRE(only_device(facts).ports.size() == 1);
    return only_device(facts).ports.front();
}

std::string vpd_with(const std::string& vuid) {
    const auto field = std::string("VU") + static_cast<char>(vuid.size()) + vuid;
    return std::string{'\x90', static_cast<char>(field.size()), '\0'} + field + "\x78";
}

}  // namespace

TEST_CASE("a NIC is read with its port, its function and the bridges above it") {
    const auto facts = rdma_of(small_machine());
    CHECK(facts.rdma_readable.value == true);
    const auto& device = only_device(facts);
    CHECK(device.name == "mlx5_0");
    CHECK(device.device_path == nic_path);
    CHECK(device.device_is_pci);
    CHECK(device.pci == bdf("0000:19:00.0"));
    CHECK_FALSE(device.is_vf);
    CHECK_FALSE(device.is_sf);
    CHECK(device.driver == "mlx5_core");
    CHECK(device.sys_image_guid == "a088:c203:0090:1000");
    CHECK(device.hca_type == "MT4129");
    CHECK(device.board_id == "MT_0000000838");
    CHECK(device.uverbs == "uverbs0");
    CHECK(device.uverbs_node.value == true);
    CHECK(device.ports == std::vector<RdmaPort>{{.number = 1,
                                                 .state = PortState::active,
                                                 .phys_state = "LinkUp",
                                                 .link_layer = "InfiniBand",
                                                 .gbps = 400,
                                                 .rate = "400 Gb/sec (4X NDR)"}});
    CHECK(facts.function(bdf("0000:19:00.0")) != nullptr);
    CHECK(facts.function(bdf("0000:17:01.0")) != nullptr);
    CHECK_FALSE(facts.ib_core_builtin);
}

TEST_CASE("an Ethernet port names its network interfaces") {
    auto tree = small_machine();
    tree.file(nic_class + "/ports/1/link_layer", "Ethernet\n");
    CHECK(only_device(rdma_of(tree)).ports.front().netdevs == std::vector<std::string>{"ib0"});
}

TEST_CASE("devices come in natural order and ports by number") {
    auto tree = small_machine();
    for (int i : {10, 2, 1}) {
        const auto path = "/sys/devices/pci0000:40/0000:4" + std::to_string(i % 10) + ":00.0";
        add_pci(tree, path, "0x020000", "0x15b3", "0x1021", "mlx5_core");
        add_rdma(tree, path, "mlx5_" + std::to_string(i), i);
    }
    tree.file(nic_class + "/ports/10/state", "1: DOWN\n")
        .file(nic_class + "/ports/2/state", "2: INIT\n")
        .file(nic_class + "/ports/x/state");
    const auto facts = rdma_of(tree);
    std::vector<std::string> names;
    for (const auto& device : facts.rdma) names.push_back(device.name);
    CHECK(names == std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_10"});
    std::vector<int> ports;
    for (const auto& port : facts.rdma.front().ports) ports.push_back(port.number);
    CHECK(ports == std::vector<int>{1, 2, 10});
}

TEST_CASE("every port state of the kernel is known") {
    const auto [text, state] = GENERATE(table<const char*, PortState>({{"0: NOP", PortState::nop},
                                                                       {"1: DOWN", PortState::down},
                                                                       {"2: INIT", PortState::init},
                                                                       {"3: ARMED", PortState::armed},
                                                                       {"4: ACTIVE", PortState::active},
                                                                       {"5: ACTIVE_DEFER", PortState::active_defer}}));
    CHECK(only_port(small_machine().file(nic_class + "/ports/1/state", text)).state == state);
}

TEST_CASE("a port state that is none is unknown, with what was read") {
    const auto* const text = GENERATE("", "6: NEW", "-1: X", "ACTIVE", "4x: ACTIVE", "\xff\xfe");
    const auto port = only_port(small_machine().file(nic_class + "/ports/1/state", text));
    CHECK_FALSE(port.state.has_value());
    CHECK(port.state_why.starts_with(nic_class + "/ports/1/state: \""));
}

TEST_CASE("a port state that cannot be read is unknown, with the reason") {
    const auto port = only_port(small_machine().error(nic_class + "/ports/1/state", EIO));
    CHECK_FALSE(port.state.has_value());
    CHECK(port.state_why == nic_class + "/ports/1/state: Input/output error");
    CHECK(port.link_layer == "InfiniBand");
}

TEST_CASE("rates are numbers or nothing") {
    const auto [text, gbps] = GENERATE(table<const char*, double>({{"2.5 Gb/sec (1X SDR)", 2.5},
                                                                   {"800 Gb/sec (4X XDR)", 800},
                                                                   {"", 0},
                                                                   {"fast", 0},
                                                                   {"-5 Gb/sec", 0},
                                                                   {"1e300 Gb/sec", 0},
                                                                   {" Gb/sec", 0}}));
    CHECK(only_port(small_machine().file(nic_class + "/ports/1/rate", text)).gbps == gbps);
}

TEST_CASE("a virtual function is one, and the functions NCCL takes it for are read") {
    auto tree = small_machine();
    const auto directory = switch_up + "/0000:17:01.0";
    add_pci(tree, directory + "/0000:19:01.2", "0x020700", "0x15b3", "0x101e", "mlx5_core");
    add_pci(tree, directory + "/0000:19:01.0", "0x020700", "0x15b3", "0x101e", "mlx5_core");
    tree.link(directory + "/0000:19:01.2/physfn", "../0000:19:00.0");
    add_rdma(tree, directory + "/0000:19:01.2", "mlx5_1", 1);
    const auto facts = rdma_of(tree);
    REQUIRE(facts.rdma.size() == 2);
    CHECK_FALSE(facts.rdma[0].is_vf);
    CHECK(facts.rdma[1].is_vf);
    CHECK(facts.function(bdf("0000:19:01.2"))->physical_function == bdf("0000:19:00.0"));
    CHECK(facts.function(bdf("0000:19:01.0")) != nullptr);
    CHECK(facts.function(bdf("0000:19:01.1")) == nullptr);
}

TEST_CASE("a sub-function belongs to the PCI function above it") {
    auto tree = small_machine();
    const auto sf = nic_path + "/mlx5_core.sf.4";
    add_rdma(tree, sf, "mlx5_1", 1);
    tree.link(sf + "/subsystem", "/sys/bus/auxiliary");
    const auto facts = rdma_of(tree);
    REQUIRE(facts.rdma.size() == 2);
    const auto& device = facts.rdma[1];
    CHECK(device.is_sf);
    CHECK_FALSE(device.device_is_pci);
    CHECK(device.pci == bdf("0000:19:00.0"));
    CHECK(device.driver == "mlx5_core");
    CHECK(device.device_path == sf);
}

TEST_CASE("a software device has no PCI function") {
    const std::string rxe = "/sys/devices/virtual/infiniband/rxe0";
    const auto facts = rdma_of(Tree{}
                                   .link("/sys/class/infiniband/rxe0", "../../devices/virtual/infiniband/rxe0")
                                   .file(rxe + "/node_type", "1: CA\n"));
    const auto& device = only_device(facts);
    CHECK_FALSE(device.pci.has_value());
    CHECK_FALSE(device.device_is_pci);
    CHECK(device.device_path.empty());
    CHECK(device.ports.empty());
    CHECK(device.uverbs.empty());
}

TEST_CASE("without a subsystem link the name of the device tells whether it is PCI") {
    CHECK(only_device(rdma_of(small_machine().without(nic_path + "/subsystem"))).device_is_pci);
}

TEST_CASE("a character device that is missing is known to be missing only where there are devices") {
    const auto without_node = small_machine().without("/dev/infiniband/uverbs0");
    SECTION("no /dev in the tree: unknown") {
        const auto node = only_device(rdma_of(without_node)).uverbs_node;
        CHECK_FALSE(node.known());
        CHECK(node.why == "/dev/infiniband: No such file or directory");
    }
    SECTION("a /dev that holds only a kernel log: unknown") {
        auto tree = without_node;
        CHECK_FALSE(only_device(rdma_of(tree.file("/dev/kmsg.txt", "x"))).uverbs_node.known());
    }
    SECTION("a /dev without infiniband: missing") {
        auto tree = without_node;
        CHECK(only_device(rdma_of(tree.file("/dev/null").file("/dev/kmsg.txt"))).uverbs_node.value == false);
        CHECK(only_device(rdma_of(tree.without("/dev/null").without("/dev/kmsg.txt").directory("/dev")))
                  .uverbs_node.value == false);
    }
    SECTION("another device's: missing") {
        auto tree = without_node;
        CHECK(only_device(rdma_of(tree.file("/dev/infiniband/uverbs1"))).uverbs_node.value == false);
    }
    SECTION("a directory that cannot be listed: unknown") {
        auto tree = without_node;
        CHECK(only_device(rdma_of(tree.error("/dev/infiniband", EACCES))).uverbs_node.why ==
              "/dev/infiniband: Permission denied");
    }
}

TEST_CASE("a Data Direct function is matched with its NIC by VUID") {
    auto tree = small_machine();
    const std::string direct = "/sys/devices/pci0000:20/0000:20:00.0";
    add_pci(tree, direct, "0x080100", "0x15b3", "0x2100", "mlx5_core");
    tree.file(direct + "/vpd", vpd_with("unique")).file(nic_path + "/vpd", vpd_with("unique"));
    const auto matched = rdma_of(tree);
    CHECK(only_device(matched).data_direct == bdf("0000:20:00.0"));
    CHECK(matched.function(bdf("0000:19:00.0"))->vuid == "unique");

    CHECK_FALSE(only_device(rdma_of(tree.file(nic_path + "/vpd", vpd_with("other")))).data_direct.has_value());
    CHECK_FALSE(only_device(rdma_of(tree.file(direct + "/vpd", "garbage"))).data_direct.has_value());
    CHECK_FALSE(only_device(rdma_of(tree.error(direct + "/vpd", EIO))).data_direct.has_value());
}

TEST_CASE("no RDMA stack is a known fact, a directory that cannot be read is not") {
    CHECK(rdma_of(Tree{}.directory("/sys/class/net")).rdma_readable.value == true);
    CHECK_FALSE(rdma_of(Tree{}.directory("/proc")).rdma_readable.known());
    const auto locked = rdma_of(small_machine().error("/sys/class/infiniband", EACCES));
    CHECK_FALSE(locked.rdma_readable.known());
    CHECK(locked.rdma_readable.why == "/sys/class/infiniband: Permission denied");
    CHECK(locked.rdma.empty());
}

TEST_CASE("a device that cannot be looked at leaves RDMA unknown, with the reason") {
    const auto facts = rdma_of(small_machine().error(nic_class + "/ports", EACCES));
    CHECK_FALSE(facts.rdma_readable.known());
    CHECK(facts.rdma_readable.why == nic_class + "/ports: Permission denied");
    CHECK(only_device(facts).ports.empty());
}

TEST_CASE("a device whose links loop is still a device") {
    const auto looping = rdma_of(Tree{}.link("/sys/class/infiniband/mlx5_0", "mlx5_0"));
    CHECK(only_device(looping).ports.empty());
    const auto facts = rdma_of(small_machine().link(nic_class + "/device", "device"));
    CHECK_FALSE(only_device(facts).pci.has_value());
    CHECK(only_device(facts).ports.size() == 1);
}

TEST_CASE("an RDMA stack without an ib_core module has it built in") {
    auto tree = small_machine();
    tree.without("/sys/module/ib_core/initstate").without("/sys/module/ib_core/refcnt");
    CHECK(rdma_of(tree).ib_core_builtin);
    CHECK(rdma_of(tree.directory("/sys/module/ib_core/parameters")).ib_core_builtin);
    CHECK_FALSE(rdma_of(small_machine().error("/sys/module", EACCES)).ib_core_builtin);
}
