// NodeFacts in code: a small healthy node, and the strokes that make it sick.
//   FactsBuilder{}.bridge("0000:17:00.0").gpu("0000:18:00.0", "0000:17:00.0").nic("mlx5_0", "0000:19:00.0",
//   "0000:17:00.0")
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/facts/node_facts.hpp"

namespace gdrcheck::test {

inline PciAddress address(std::string_view text) {
    const auto parsed = parse_pci_address(text);
    if (!parsed) throw std::invalid_argument("not a PCI address: " + std::string(text));
    return *parsed;
}

class FactsBuilder {
  public:
    /// Bare metal, Intel, kernel 6.8, open NVIDIA driver, nothing on the bus, everything readable.
    FactsBuilder() {
        facts_.host = "n1";
        facts_.kernel_release.value = "6.8.0-45-generic";
        facts_.cpu = Cpu{.arch = "x86_64", .vendor = "GenuineIntel", .family = 6, .model = 143};
        facts_.pci_readable.value = true;
        facts_.rdma_readable.value = true;
        facts_.dmabuf_config.value = true;
        facts_.memory_peers_readable.value = false;
        facts_.modules_readable = true;
        for (const auto* name : {"ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia"})
            facts_.modules[name].state = "live";
        driver("580.95.05", true);
    }

    /// A bridge without ACS; `under` is the bridge above it, empty: a root port on the host bridge.
    FactsBuilder& bridge(std::string_view bdf, std::string_view under = {}) {
        auto& function = add(bdf, under, 0x060400, 0x8086, 0x352a);
        function.acs.value = std::optional<AcsCapability>{};
        return *this;
    }

    /// An H100 SXM5 unless said otherwise; minors count up.
    FactsBuilder& gpu(std::string_view bdf, std::string_view under = {}, std::uint16_t device = 0x2330) {
        add(bdf, under, 0x030200, 0x10de, device);
        Gpu gpu{.pci = address(bdf), .minor = static_cast<int>(facts_.gpus.size()), .model = "NVIDIA H100 80GB HBM3"};
        char uuid[64];
        std::snprintf(uuid, sizeof uuid, "GPU-%08x-69f1-d797-3aed-afb031d5b75b",
                      0x4452b03bU + static_cast<unsigned>(*gpu.minor));
        gpu.uuid = uuid;
        facts_.gpus.push_back(std::move(gpu));
        std::sort(facts_.gpus.begin(), facts_.gpus.end(), [](const auto& a, const auto& b) { return a.pci < b.pci; });
        return *this;
    }

    /// A ConnectX-7 with one ACTIVE 400 Gb/s InfiniBand port.
    FactsBuilder& nic(const std::string& name, std::string_view bdf, std::string_view under = {}) {
        auto& function = add(bdf, under, 0x020700, 0x15b3, 0x1021);
        function.driver = "mlx5_core";
        RdmaDevice device{
            .name = name, .device_path = function.sysfs_path, .device_is_pci = true, .pci = function.address};
        device.driver = "mlx5_core";
        device.hca_type = "MT4129";
        device.board_id = "MT_0000000838";
        device.sys_image_guid = "a088:c203:00" + std::to_string(10 + facts_.rdma.size()) + ":0000";
        device.uverbs = "uverbs" + std::to_string(facts_.rdma.size());
        device.uverbs_node.value = true;
        device.ports.push_back(RdmaPort{.number = 1,
                                        .state = PortState::active,
                                        .phys_state = "LinkUp",
                                        .link_layer = "InfiniBand",
                                        .gbps = 400,
                                        .rate = "400 Gb/sec (4X NDR)"});
        facts_.rdma.push_back(std::move(device));
        return *this;
    }

    FactsBuilder& port_state(std::string_view nic, PortState state, std::string phys_state = "Polling") {
        auto& port = rdma(nic).ports.front();
        port.state = state;
        port.phys_state = std::move(phys_state);
        return *this;
    }

    FactsBuilder& port_gbps(std::string_view nic, double gbps) {
        auto& port = rdma(nic).ports.front();
        port.gbps = gbps;
        port.rate = std::to_string(static_cast<int>(gbps)) + " Gb/sec";
        return *this;
    }

    FactsBuilder& driver(const std::string& version, bool open) {
        facts_.nvidia_version = version;
        facts_.nvidia_open = open;
        facts_.nvidia_driver =
            std::string("NVRM version: NVIDIA UNIX ") + (open ? "Open " : "") + "Kernel Module  " + version;
        return *this;
    }

    /// nvidia_peermem live; `with_sysfs`: and its client shows under memory_peers.
    FactsBuilder& peermem(bool with_sysfs = true) {
        facts_.modules["nvidia_peermem"] = KernelModule{.state = "live", .version = facts_.nvidia_version};
        facts_.modules["ib_uverbs"].holders.emplace_back("nvidia_peermem");
        if (with_sysfs) facts_.memory_peers["nv_mem"] = facts_.nvidia_version;
        facts_.memory_peers_readable.value = with_sysfs;
        return *this;
    }

    FactsBuilder& acs_control(std::string_view bdf, std::uint16_t control) {
        function(bdf).acs.value = AcsCapability{.capability = 0x7f, .control = control};
        return *this;
    }

    /// Any other stroke.
    template <class Change>
    FactsBuilder& with(Change change) {
        change(facts_);
        return *this;
    }

    [[nodiscard]] PciFunction& function(std::string_view bdf) { return facts_.pci.at(address(bdf)); }

    [[nodiscard]] RdmaDevice& rdma(std::string_view name) {
        const auto found =
            std::find_if(facts_.rdma.begin(), facts_.rdma.end(), [&](const auto& d) { return d.name == name; });
        if (found == facts_.rdma.end()) throw std::invalid_argument("no RDMA device " + std::string(name));
        return *found;
    }

    [[nodiscard]] const NodeFacts& facts() const { return facts_; }

  private:
    PciFunction& add(std::string_view bdf, std::string_view under, std::uint32_t class_code, std::uint16_t vendor,
                     std::uint16_t device) {
        PciFunction function{.address = address(bdf), .class_code = class_code, .vendor = vendor, .device = device};
        const auto host_bridge = "/sys/devices/pci" + to_string(function.address).substr(0, 7);
        function.sysfs_path = under.empty() ? host_bridge : this->function(under).sysfs_path;
        function.sysfs_path += '/' + to_string(function.address);
        function.numa_node = 0;
        function.max_link_speed = function.current_link_speed = "32.0 GT/s PCIe";
        function.max_link_width = function.current_link_width = 16;
        return facts_.pci.insert_or_assign(function.address, function).first->second;
    }

    NodeFacts facts_;
};

}  // namespace gdrcheck::test
