// A node with one GPU and one NIC behind a switch, as sysfs and procfs show it: healthy, for tests to break.
#pragma once

#include <string>

#include "common/facts/node_facts.hpp"
#include "tests/support/tree.hpp"

namespace gdrcheck::test {

inline const std::string root_port = "/sys/devices/pci0000:15/0000:15:01.0";
inline const std::string switch_up = root_port + "/0000:16:00.0";
inline const std::string gpu_path = switch_up + "/0000:17:00.0/0000:18:00.0";
inline const std::string nic_path = switch_up + "/0000:17:01.0/0000:19:00.0";
inline const std::string nic_class = nic_path + "/infiniband/mlx5_0";

inline PciAddress bdf(const char* text) {
    return parse_pci_address(text).value();
}

/// A function with its link on the bus.
inline void add_pci(Tree& tree, const std::string& path, const char* class_code, const char* vendor, const char* device,
                    const std::string& driver = {}) {
    const auto name = path.substr(path.rfind('/') + 1);
    tree.link("/sys/bus/pci/devices/" + name, "../../.." + path.substr(4))
        .file(path + "/class", std::string(class_code) + '\n')
        .file(path + "/vendor", std::string(vendor) + '\n')
        .file(path + "/device", std::string(device) + '\n')
        .file(path + "/subsystem_vendor", "0x15b3\n")
        .file(path + "/subsystem_device", "0x0023\n")
        .file(path + "/numa_node", "0\n")
        .file(path + "/max_link_speed", "32.0 GT/s PCIe\n")
        .file(path + "/current_link_speed", "2.5 GT/s PCIe\n")
        .file(path + "/max_link_width", "16\n")
        .file(path + "/current_link_width", "8\n")
        .link(path + "/subsystem", "/sys/bus/pci");
    if (!driver.empty())
        tree.link(path + "/driver", "/sys/bus/pci/drivers/" + driver).directory("/sys/bus/pci/drivers/" + driver);
}

/// An RDMA device with one ACTIVE port, on the function `path`.
inline void add_rdma(Tree& tree, const std::string& path, const std::string& name, int uverbs) {
    const auto device = path + "/infiniband/" + name;
    const auto port = device + "/ports/1";
    const auto verbs = "uverbs" + std::to_string(uverbs);
    tree.link("/sys/class/infiniband/" + name, "../.." + device.substr(4))
        .link(device + "/device", "../..")
        .file(device + "/sys_image_guid", "a088:c203:0090:1000\n")
        .file(device + "/hca_type", "MT4129\n")
        .file(device + "/board_id", "MT_0000000838\n")
        .file(port + "/state", "4: ACTIVE\n")
        .file(port + "/phys_state", "5: LinkUp\n")
        .file(port + "/rate", "400 Gb/sec (4X NDR)\n")
        .file(port + "/link_layer", "InfiniBand\n")
        .file(port + "/gid_attrs/ndevs/0", "ib0\n")
        .link("/sys/class/infiniband_verbs/" + verbs, "../.." + path.substr(4) + "/infiniband_verbs/" + verbs)
        .file(path + "/infiniband_verbs/" + verbs + "/ibdev", name + '\n')
        .file("/dev/infiniband/" + verbs);
}

inline Tree small_machine() {
    Tree tree;
    add_pci(tree, root_port, "0x060400", "0x8086", "0x352a", "pcieport");
    add_pci(tree, switch_up, "0x060400", "0x1000", "0xc030", "pcieport");
    add_pci(tree, switch_up + "/0000:17:00.0", "0x060400", "0x1000", "0xc030", "pcieport");
    add_pci(tree, switch_up + "/0000:17:01.0", "0x060400", "0x1000", "0xc030", "pcieport");
    add_pci(tree, gpu_path, "0x030200", "0x10de", "0x2330", "nvidia");
    add_pci(tree, nic_path, "0x020700", "0x15b3", "0x1021", "mlx5_core");
    add_pci(tree, "/sys/devices/pci0000:00/0000:00:1f.0", "0x060100", "0x8086", "0x1b81");
    add_rdma(tree, nic_path, "mlx5_0", 0);
    tree.file(
            "/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs@U22)  Tue Sep 23\n"
            "GCC version:  gcc version 12.3.0\n")
        .file("/proc/driver/nvidia/gpus/0000:18:00.0/information",
              "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 512\nGPU UUID: \t "
              "GPU-4452b03b-69f1-d797-3aed-afb031d5b75b\nVideo BIOS: \t 96.00\nBus Location: \t 0000:18:00.0\n"
              "Device Minor: \t 3\nGPU Firmware: \t 580.95.05\nGPU Excluded:\t No\n")
        .file("/proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
        .file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz iommu=pt\n")
        .file(
            "/proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nflags\t\t: fpu hypervisor\n\n"
            "processor\t: 1\nvendor_id\t: GenuineIntel\n")
        .file("/sys/class/dmi/id/product_name", "DGXH100\n")
        .file("/boot/config-6.8.0-45-generic",
              "# comment\nCONFIG_INFINIBAND_USER_MEM=y\nCONFIG_INFINIBAND_ON_DEMAND_PAGING=y\n")
        .directory("/sys/kernel/mm");
    for (const std::string name : {"nvidia", "ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "ext4"}) {
        tree.file("/sys/module/" + name + "/initstate", "live\n").file("/sys/module/" + name + "/refcnt", "3\n");
    }
    return tree.file("/sys/module/nvidia/version", "580.95.05\n").file("/sys/module/nvidia/taint", "OE\n");
}

}  // namespace gdrcheck::test
