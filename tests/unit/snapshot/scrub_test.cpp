#include "common/snapshot/scrub.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "common/base/rootfs.hpp"
#include "common/probe/probe.hpp"
#include "common/snapshot/snapshot.hpp"

namespace {

using namespace gdrcheck;
using Kind = MemoryTree::Entry::Kind;

const std::string pci = "/sys/devices/pci0000:00/0000:00:01.0/";

void add_file(MemoryTree& tree, const std::string& path, std::string data) {
    tree.entries[path] = {Kind::file, std::move(data)};
}

/// The file of this content in a scrubbed tree that has only it and what `others` says.
std::string scrubbed(const std::string& path, const std::string& data,
                     const std::string& host = "gpu7.cluster.example.com") {
    MemoryTree tree;
    add_file(tree, path, data);
    const auto result = snapshot::scrub(tree, host);
    REQUIRE(result.withheld.empty());
    REQUIRE(result.tree.entries.size() == 1);
    return result.tree.entries.begin()->second.data;
}

std::string vpd_field(std::string_view keyword, std::string_view value) {
    return std::string(keyword) + static_cast<char>(value.size()) + std::string(value);
}

std::string vpd_of(const std::string& serial, const std::string& vuid) {
    std::string fields = vpd_field("PN", "MCX75310AAS-NEAT") + vpd_field("SN", serial) +
                         vpd_field("V3", "2a5c6e7f8091a2b3") + vpd_field("VU", vuid) +
                         vpd_field("VA", "MLX:MN=MLNX:CSKU=V2");
    fields += vpd_field("RV", std::string_view("\0", 1));
    const std::string name = "NVIDIA ConnectX-7";
    std::string vpd = std::string("\x82") + static_cast<char>(name.size()) + '\0' + name + "\x90" +
                      static_cast<char>(fields.size()) + '\0' + fields;
    unsigned sum = 0;
    for (const char c : vpd) sum += static_cast<unsigned char>(c);
    vpd.back() = static_cast<char>((0x100 - (sum & 0xff)) & 0xff);
    return vpd + '\x78';
}

/// Two ports of one card at one switch with a GPU, and their Data Direct function.
MemoryTree node() {
    MemoryTree tree;
    const auto function = [&](const std::string& path, const std::string& id, const std::string& vendor,
                              const std::string& device, const std::string& class_code) {
        for (const auto& [name, value] : {std::pair{"vendor", vendor}, {"device", device}, {"class", class_code}})
            add_file(tree, path + id + "/" + name, value + "\n");
        add_file(tree, path + id + "/numa_node", "0\n");
        tree.entries["/sys/bus/pci/devices/" + id] = {Kind::link, "../../.." + (path + id).substr(4)};
        tree.entries[path + id + "/subsystem"] = {Kind::link, "../../../../bus/pci"};
    };
    tree.entries["/sys/bus/pci/devices/0000:00:01.0"] = {Kind::link, "../../../devices/pci0000:00/0000:00:01.0"};
    for (const auto& [name, value] : {std::pair{"vendor", "0x8086\n"}, {"device", "0x352a\n"}, {"class", "0x060400\n"}})
        add_file(tree, pci + name, value);
    function(pci, "0000:01:00.0", "0x10de", "0x2330", "0x030200");
    function(pci, "0000:02:00.0", "0x15b3", "0x1021", "0x020700");
    function(pci, "0000:02:00.1", "0x15b3", "0x1021", "0x020700");
    for (int i = 0; i < 2; ++i) {
        const std::string device = pci + "0000:02:00." + std::to_string(i);
        const std::string name = "mlx5_" + std::to_string(i);
        std::string rdma = device + "/infiniband/";
        rdma += name;
        tree.entries["/sys/class/infiniband/" + name] = {Kind::link, "../.." + rdma.substr(4)};
        tree.entries[rdma + "/device"] = {Kind::link, "../../../0000:02:00." + std::to_string(i)};
        tree.entries[device + "/driver"] = {Kind::link, "../../../../bus/pci/drivers/mlx5_core"};
        add_file(tree, rdma + "/node_guid", "946d:ae03:00a7:c10" + std::to_string(8 + i) + "\n");
        add_file(tree, rdma + "/sys_image_guid", "946d:ae03:00a7:c108\n");
        add_file(tree, rdma + "/node_type", "1: CA\n");
        add_file(tree, rdma + "/node_desc", "gpu7 " + name + "\n");
        add_file(tree, rdma + "/fw_ver", "28.39.1002\n");
        add_file(tree, rdma + "/hca_type", "MT4129\n");
        add_file(tree, rdma + "/board_id", "MT_0000000838\n");
        const std::string port = rdma + "/ports/1";
        add_file(tree, port + "/state", "4: ACTIVE\n");
        add_file(tree, port + "/phys_state", "5: LinkUp\n");
        add_file(tree, port + "/link_layer", "InfiniBand\n");
        add_file(tree, port + "/rate", "400 Gb/sec (4X NDR)\n");
        add_file(tree, port + "/lid", "0x1a\n");
        add_file(tree, port + "/gids/0", "fe80:0000:0000:0000:946d:ae03:00a7:c10" + std::to_string(8 + i) + "\n");
        add_file(tree, device + "/vpd", vpd_of("MT2413XZ0ABC", "MT2413XZ0ABCMLNXS0D0F" + std::to_string(i)));
    }
    add_file(tree, "/proc/driver/nvidia/gpus/0000:01:00.0/information",
             "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-5fd1a9c2-1b3c-7e2f-9a00-0123456789ab\nDevice Minor: "
             "\t 0\n");
    add_file(tree, "/proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (root@gpu7)  Tue Mar  "
             "5 2024\n");
    add_file(tree, "/proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
    add_file(tree, "/proc/cmdline",
             "BOOT_IMAGE=/vmlinuz root=UUID=0f3b2a10-1111-2222-3333-444455556666 iommu=pt ip=10.1.2.3\n");
    add_file(tree, "/etc/nccl.conf", "# ask alice\nNCCL_IB_HCA=mlx5_0\nNCCL_COMM_ID=gpu7:5000\n");
    tree.errors[pci + "0000:01:00.0/config"] = EACCES;
    return tree;
}

NodeFacts facts_of(MemoryTree tree) {
    return probe::read_node(RootFs::from_tree(std::move(tree)), {});
}

bool mentions(const MemoryTree& tree, std::string_view text) {
    return std::ranges::any_of(tree.entries, [&](const auto& item) {
        return item.first.find(text) != std::string::npos || item.second.data.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("a scrubbed node has none of its identifiers") {
    const MemoryTree tree = finish(node(), {.scrub = true, .host = "gpu7.cluster.example.com"});
    REQUIRE(mentions(node(), "c108"));
    for (const char* identifier : {"c108", "c109", "946d", "MT2413", "2a5c6e7f", "5fd1a9c2", "0123456789ab", "gpu7",
                                   "alice", "0f3b2a10", "10.1.2.3", "5000", "cluster.example"}) {
        CAPTURE(identifier);
        CHECK_FALSE(mentions(tree, identifier));
    }
    const auto facts = read_facts(tree);
    REQUIRE(facts.has_value());
    CHECK(facts->scrubbed);
    CHECK(facts->host == "host-1");
    CHECK(facts->withheld.empty());
    CHECK(tree.entries.begin()->first.starts_with("/gdrcheck-host-1/"));
}

TEST_CASE("a scrubbed node gives the same facts but for the identifiers, and those are equal where they were") {
    NodeFacts before = facts_of(node());
    NodeFacts after = facts_of(finish(node(), {.scrub = true, .host = "gpu7"}));
    REQUIRE(before.rdma.size() == 2);
    REQUIRE(after.rdma.size() == 2);
    CHECK(after.rdma[0].sys_image_guid == after.rdma[1].sys_image_guid);
    CHECK(after.rdma[0].sys_image_guid == "0200:0000:0000:0001");
    CHECK(after.gpus.at(0).uuid == "GPU-00000000-0000-4000-8000-000000000001");

    for (NodeFacts* facts : {&before, &after}) {
        for (auto& device : facts->rdma) device.sys_image_guid = {};
        for (auto& gpu : facts->gpus) gpu.uuid = {};
        for (auto& [address, function] : facts->pci) function.vuid = {};
        facts->nvidia_driver = facts->kernel_command_line = {};
        std::erase_if(facts->nccl_conf, [](const NcclConfEntry& entry) { return entry.key == "NCCL_COMM_ID"; });
    }
    CHECK(before == after);
}

TEST_CASE("one identifier has one replacement wherever it stands, and replacements sort as the originals did") {
    MemoryTree tree;
    add_file(tree, "/sys/z/node_guid", "0000:0000:0000:0009\n");
    add_file(tree, "/sys/a/node_guid", "ffff:0000:0000:0001\n");
    add_file(tree, "/sys/b/node_guid", "0000:0000:0000:0000\n");
    add_file(tree, "/etc/t.xml", "<system><net guid=\"0x0000000000000009\"/></system>\n");
    add_file(tree, "/sys/p/gids/0", "fe80:0000:0000:0000:ffff:0000:0000:0001\n");
    add_file(tree, "/sys/p/gids/1", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
    add_file(tree, "/sys/p/gids/2", "fe80:0000:0000:0001:0000:0000:0000:0009\n");
    const auto result = snapshot::scrub(tree, "").tree.entries;
    CHECK(result.at("/sys/z/node_guid").data == "0200:0000:0000:0001\n");
    CHECK(result.at("/sys/a/node_guid").data == "0200:0000:0000:0002\n");
    CHECK(result.at("/sys/b/node_guid").data == "0000:0000:0000:0000\n");
    CHECK(result.at("/etc/t.xml").data == "<system><net guid=\"0x0200000000000001\"/></system>\n");
    CHECK(result.at("/sys/p/gids/0").data == "fe80:0000:0000:0000:0200:0000:0000:0002\n");
    CHECK(result.at("/sys/p/gids/1").data == "0000:0000:0000:0000:0000:ffff:c612:0001\n");
    CHECK(result.at("/sys/p/gids/2").data == "fd00:0000:0000:0001:0200:0000:0000:0001\n");
}

TEST_CASE("addresses are found by their form") {
    const std::string net = "/sys/devices/x/net/eth0/address";
    CHECK(scrubbed(net, "0c:42:a1:b2:c3:d4\n") == "02:00:00:00:00:01\n");
    CHECK(scrubbed(net, "ff:ff:ff:ff:ff:ff\n") == "ff:ff:ff:ff:ff:ff\n");
    CHECK(scrubbed(net, "00:00:10:87:fe:80:00:00:00:00:00:00:94:6d:ae:03:00:a7:c1:08\n") ==
          "00:00:00:00:fe:80:00:00:00:00:00:00:02:00:00:00:00:00:00:01\n");
    CHECK(scrubbed("/dev/kmsg.txt",
                   "mlx5_core 0000:18:00.0: mac 0C:42:A1:B2:C3:D4, ip 10.0.0.7:80 2001:db8:7::5 v1.2.3.4.5\n") ==
          "mlx5_core 0000:18:00.0: mac 02:00:00:00:00:01, ip 198.18.0.1:80 2001:db8::1 v1.2.3.4.5\n");
    CHECK(scrubbed("/dev/kmsg.txt", "usb 1-1: SerialNumber: 4C530001\nnvidia on GPU7 at /home/bob/x, gpu70\n") ==
          "nvidia on host-1 at /home/user1/x, gpu70\n");
    CHECK(scrubbed("/etc/nccl.conf", "NCCL_IB_X=::ffff:10.0.0.1\n") == "NCCL_IB_X=2001:db8::1\n");
    CHECK(scrubbed("/dev/kmsg.txt", "pcieport: serial 94-6d-ae-03-00-a7-c1-08, 2024-01-02\n") ==
          "pcieport: serial 00-00-00-00-00-00-00-01, 2024-01-02\n");
}

TEST_CASE("a path and a link are scrubbed alike, so that the link still leads there") {
    MemoryTree tree;
    const std::string vmbus = "/sys/devices/VMBUS:00/a1b2c3d4-0001-0000-3130-444531304235/pci0001:00/";
    add_file(tree, vmbus + "numa_node", "0\n");
    add_file(tree, "/sys/devices/net/enx0c42a1b2c3d4/mtu", "1500\n");
    tree.entries["/sys/class/net/enx0c42a1b2c3d4"] = {Kind::link, "../../devices/net/enx0c42a1b2c3d4"};
    tree.entries["/sys/class/x"] = {Kind::link, ".." + vmbus.substr(4)};
    tree.errors[vmbus + "config"] = EIO;
    auto result = snapshot::scrub(tree, "").tree;
    CHECK_FALSE(mentions(result, "a1b2c3d4"));
    CHECK_FALSE(mentions(result, "0c42a1b2c3d4"));
    const RootFs root = RootFs::from_tree(std::move(result));
    CHECK(root.read_line("/sys/class/x/numa_node").value() == "0");
    CHECK(root.read("/sys/class/x/config").error().code == EIO);
    CHECK(root.read_line("/sys/class/net/enx020000000001/mtu").value() == "1500");
}

TEST_CASE("who built a driver here is replaced, NVIDIA's own builders are not") {
    const std::string file = "/proc/driver/nvidia/version";
    CHECK(scrubbed(file, "Release Build  (alice@gpu7.example.com)\n") == "Release Build  (user@host)\n");
    CHECK(scrubbed(file, "550.54.15  (dvs-builder@U16-I3-B15-2-2)\n") == "550.54.15  (dvs-builder@U16-I3-B15-2-2)\n");
}

TEST_CASE("a PCI address, a mask and a version are no identifiers") {
    const std::string text = "0000:18:00.0 00000000:18:00.0 0xffffffff 1,2,ffffffff 5.15.0-91 550.54.15 4X 12:34:56\n";
    CHECK(scrubbed("/proc/driver/nvidia/params", text) == text);
}

TEST_CASE("vital product data keeps layout, product and checksum, and loses every serial number") {
    MemoryTree tree;
    add_file(tree, "/sys/devices/a/vpd", vpd_of("MT2413XZ0ABC", "MT2413XZ0ABCMLNXS0D0F0"));
    add_file(tree, "/sys/devices/b/vpd", vpd_of("MT2413XZ0ABD", "MT2413XZ0ABCMLNXS0D0F0"));
    const auto result = snapshot::scrub(tree, "").tree.entries;
    const std::string& a = result.at("/sys/devices/a/vpd").data;
    const std::string& b = result.at("/sys/devices/b/vpd").data;
    CHECK(a.size() == vpd_of("MT2413XZ0ABC", "MT2413XZ0ABCMLNXS0D0F0").size());
    CHECK(a.find("MCX75310AAS-NEAT") != std::string::npos);
    CHECK(a.find("MT2413") == std::string::npos);
    CHECK(a.find("2a5c6e7f") == std::string::npos);
    unsigned sum = 0;
    for (const char c : std::string_view(a).substr(0, a.size() - 1)) sum += static_cast<unsigned char>(c);
    CHECK((sum & 0xff) == 0);
    const auto vuid = [](const std::string& vpd) { return vpd.substr(vpd.find("VU") + 3, 22); };
    CHECK(vuid(a) == vuid(b));
    CHECK(a != b);
}

TEST_CASE("vital product data that does not parse is cut where it stops to") {
    const std::string vpd = vpd_of("MT2413XZ0ABC", "MT2413XZ0ABCMLNXS0D0F0");
    for (std::size_t length = 1; length < vpd.size() - 1; ++length) {
        CAPTURE(length);
        CHECK(scrubbed("/sys/devices/a/vpd", vpd.substr(0, length)).find("MT2413") == std::string::npos);
    }
    CHECK(scrubbed("/sys/devices/a/vpd", "\x90\x05" + std::string(1, '\0') + "SN\x09" + "ABC").empty());
}

TEST_CASE("config space keeps everything but the device serial number and the VPD window") {
    std::string config(4096, '\0');
    config[0x34] = 0x48;
    config.replace(0x48, 8, std::string("\x03\x00\x10\x80MT24", 8));
    config.replace(0x100, 4, std::string("\x0d\x00\x01\x15", 4));  // ACS, next at 0x150
    config.replace(0x106, 2, std::string("\x1d\x00", 2));
    config.replace(0x150, 12, std::string("\x03\x00\x01\x00\x08\xc1\xa7\x00\x03\xae\x6d\x94", 12));
    const std::string result = scrubbed("/sys/devices/a/config", config);
    CHECK(result.size() == config.size());
    CHECK(result.substr(0x154, 8) == std::string("\x01\0\0\0\0\0\0\x02", 8));
    CHECK(result.substr(0x4a, 6) == std::string(6, '\0'));
    CHECK(result.substr(0x100, 0x50) == config.substr(0x100, 0x50));
    for (const std::size_t length : {0x35U, 0x40U, 0x49U, 0x101U, 0x103U, 0x155U})
        CHECK(scrubbed("/sys/devices/a/config", config.substr(0, length)).size() == length);
    config[0x152] = '\x01';
    config[0x153] = '\x15';  // points at itself
    CHECK(scrubbed("/sys/devices/a/config", config).size() == config.size());
}

TEST_CASE("kernel addresses become zero, symbol checksums stay") {
    CHECK(scrubbed("/proc/modules",
                   "mlx5_ib 397312 0 - Live 0xffffffffc0a1b000 (OE)\nnvidia 9 1 a,b, Live 0xffffffffc0000000\n") ==
          "mlx5_ib 397312 0 - Live 0x0000000000000000 (OE)\nnvidia 9 1 a,b, Live 0x0000000000000000\n");
    CHECK(scrubbed("/proc/kallsyms", "ffffffffc0a1b000 t query\t[mlx5_ib]\n00000000a1b2c3d4 A __crc_ib_reg\n") ==
          "0000000000000000 t query\t[mlx5_ib]\n00000000a1b2c3d4 A __crc_ib_reg\n");
}

TEST_CASE("settings keep what NCCL's paths depend on, and their lines") {
    CHECK(
        scrubbed("/etc/nccl.conf",
                 "# gpu7 by alice\nNCCL_IB_HCA=^=mlx5_9\n\nNCCL_HOSTID=rack7\nNCCL_BUFFSIZE=4\nNCCL_DEBUG_FILE=/x\n") ==
        "#\nNCCL_IB_HCA=^=mlx5_9\n\nNCCL_HOSTID=removed\nNCCL_BUFFSIZE=4\nNCCL_DEBUG_FILE=removed\n");
    CHECK(scrubbed("/opt/topo",
                   "<!-- rack 7,\nalice --><system version=\"1\"><cpu host_hash=\"0x1234567890abcdef\"/></system>") ==
          "            \n         <system version=\"1\"><cpu host_hash=\"0x0200000000000001\"/></system>");
    CHECK(scrubbed("/etc/modprobe.d/nvidia.conf", "# by alice\noptions nvidia x=1\n") == "#\noptions nvidia x=1\n");
}

TEST_CASE("serial numbers of the machine keep their length") {
    CHECK(scrubbed("/sys/devices/virtual/dmi/id/product_serial", "1660224100023\n") == "X000000000001\n");
    CHECK(scrubbed("/sys/devices/virtual/dmi/id/product_name", "DGXH100\n") == "DGXH100\n");
    CHECK(scrubbed("/sys/devices/virtual/dmi/id/chassis_asset_tag", "7\n") == "X\n");
    CHECK(scrubbed("/proc/cpuinfo", "processor\t: 0\nSerial\t\t: 00000000a1b2c3d4\n") == "processor\t: 0\n\n");
}

TEST_CASE("the host's name in a kernel module is overwritten, a compressed module is left out") {
    const std::string module = std::string(
                                   "\x7f"
                                   "ELF\0",
                                   5) +
                               "gpu7 Secure Boot Module Signature key";
    CHECK(scrubbed("/lib/modules/5.15/updates/dkms/nvidia-peermem.ko", module, "gpu7") ==
          std::string("\x7f"
                      "ELF\0",
                      5) +
              "xxxx Secure Boot Module Signature key");
    MemoryTree tree;
    add_file(tree, "/lib/modules/5.15/updates/dkms/nvidia-peermem.ko.xz",
             "\xfd"
             "7zXZ");
    CHECK(snapshot::scrub(tree, "gpu7").withheld.size() == 1);
}

TEST_CASE("a file that no rule knows is left out, named, and unreadable on replay") {
    MemoryTree tree;
    add_file(tree, "/sys/devices/x/secret", "badge MT1234X5\n");
    add_file(tree, "/sys/devices/x/empty", "");
    add_file(tree, "/sys/devices/x/number", "128\n");
    add_file(tree, "/sys/devices/x/serial", "1320221053217\n");
    const MemoryTree finished = finish(tree, {.scrub = true, .host = "n1"});
    const auto facts = read_facts(finished);
    REQUIRE(facts.has_value());
    CHECK(facts->withheld == std::vector<std::string>{"/sys/devices/x/secret", "/sys/devices/x/serial"});
    const RootFs root = RootFs::from_tree(finished);
    CHECK(root.read("/sys/devices/x/secret").error().code == EACCES);
    CHECK(root.read("/sys/devices/x/empty").value().empty());
    CHECK(root.read_line("/sys/devices/x/number").value() == "128");
}

TEST_CASE("scrubbing twice changes nothing more") {
    const auto once = snapshot::scrub(node(), "gpu7");
    const auto twice = snapshot::scrub(once.tree, once.host);
    for (const auto& [path, entry] : once.tree.entries) {
        CAPTURE(path);
        REQUIRE(twice.tree.entries.contains(path));
        CHECK(twice.tree.entries.at(path).data == entry.data);
    }
}

TEST_CASE("long text without identifiers is scrubbed in linear time") {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "aa:a.a@:aaaa:";
    CHECK_FALSE(scrubbed("/dev/kmsg.txt", "nvidia " + text).empty());
}
