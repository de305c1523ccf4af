// What the kernel knows about a node, as plain values. No policy, no library, no I/O: a node can be built in a test,
// compared, and replayed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/facts/pci_address.hpp"
#include "common/facts/reading.hpp"

namespace gdrcheck {

/// ACS control register bits (linux/pci_regs.h PCI_ACS_*).
namespace acs {
inline constexpr std::uint16_t source_validation = 0x01;
inline constexpr std::uint16_t translation_blocking = 0x02;
inline constexpr std::uint16_t request_redirect = 0x04;
inline constexpr std::uint16_t completion_redirect = 0x08;
inline constexpr std::uint16_t upstream_forwarding = 0x10;
inline constexpr std::uint16_t egress_control = 0x20;
inline constexpr std::uint16_t direct_translated = 0x40;
}  // namespace acs

/// From PCI extended config space; needs CAP_SYS_ADMIN beyond the first 64 bytes.
struct AcsCapability {
    std::uint16_t capability = 0;
    std::uint16_t control = 0;
    bool operator==(const AcsCapability&) const = default;
};

/// A function of /sys/bus/pci/devices that matters here: GPU, NIC, NVSwitch, Data Direct, and every bridge above those.
struct PciFunction {
    PciAddress address;
    std::string sysfs_path;        ///< canonical, inside the root: "/sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0"
    std::uint32_t class_code = 0;  ///< 24 bits: 0x030200
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::uint16_t subsystem_vendor = 0;  ///< of Broadcom switches, as subsystem_device; else not read
    std::uint16_t subsystem_device = 0;
    std::optional<int> numa_node;    ///< -1 as the kernel writes it; nullopt: no file
    std::string driver;              ///< last component of the driver link, empty when none; of bridges it is not read
    std::string max_link_speed;      ///< as in sysfs: "32.0 GT/s PCIe", empty when there is no file
    std::string current_link_speed;  ///< GPUs idle at 2.5 GT/s: only meaningful under load
    std::optional<int> max_link_width;
    std::optional<int> current_link_width;
    std::optional<PciAddress> physical_function;  ///< set on a VF
    Reading<std::optional<AcsCapability>> acs;    ///< known and nullopt: the function has no ACS capability
    std::string iommu_group_type;                 ///< "identity", "DMA", "DMA-FQ"; empty: no group or no file
    std::string vuid;                             ///< VPD keyword VU: pairs a Data Direct function with its NIC

    bool operator==(const PciFunction&) const = default;
};

/// sysfs "state": "4: ACTIVE" (include/rdma/ib_verbs.h enum ib_port_state).
enum class PortState { nop = 0, down = 1, init = 2, armed = 3, active = 4, active_defer = 5 };

struct RdmaPort {
    int number = 1;
    std::optional<PortState> state;    ///< nullopt: unreadable
    std::string state_why;             ///< why, when state is nullopt
    std::string phys_state;            ///< "LinkUp"
    std::string link_layer;            ///< "InfiniBand", "Ethernet"
    double gbps = 0;                   ///< Gb/s from "rate"; a DOWN port often shows a default rate
    std::string rate;                  ///< as in sysfs: "400 Gb/sec (4X NDR)"
    std::vector<std::string> netdevs;  ///< of an Ethernet port, from gid_attrs/ndevs, sorted, unique

    bool operator==(const RdmaPort&) const = default;
};

struct RdmaDevice {
    std::string name;               ///< "mlx5_0", "ibp24s0", "mlx5_bond_0"
    std::string device_path;        ///< canonical path of the `device` link inside the root
    bool device_is_pci = false;     ///< the device's `subsystem` link ends in "pci" (false for SF: auxiliary)
    std::optional<PciAddress> pci;  ///< nearest PCI function on device_path
    bool is_vf = false;
    bool is_sf = false;
    std::string driver;  ///< of the PCI function: "mlx5_core", "bnxt_en", "ice", "efa"
    std::string sys_image_guid;
    std::string hca_type;
    std::string board_id;
    std::string uverbs;                     ///< "uverbs0" from /sys/class/infiniband_verbs, empty when none
    Reading<bool> uverbs_node;              ///< does /dev/infiniband/<uverbs> exist
    std::optional<PciAddress> data_direct;  ///< its Data Direct function, matched by VUID
    std::vector<RdmaPort> ports;

    bool operator==(const RdmaDevice&) const = default;
};

struct Gpu {
    PciAddress pci;
    std::optional<int> minor;      ///< /dev/nvidiaN, from /proc/driver/nvidia/gpus/<bdf>/information
    std::string uuid;              ///< "GPU-…", empty when the driver has not cached it
    std::string model;             ///< from the driver, else from pci.ids, else "10de:2330"
    bool excluded = false;         ///< "GPU Excluded: Yes"
    std::vector<std::string> mig;  ///< "gi/ci" pairs that exist: "1/0"; empty: MIG off

    bool operator==(const Gpu&) const = default;
};

struct KernelModule {
    std::string state;    ///< initstate: "live", "coming", "going"; "builtin" where there is no initstate
    std::string version;  ///< /sys/module/<name>/version, empty when none
    std::string taint;    ///< "P" in it: proprietary
    std::vector<std::string> holders;

    bool operator==(const KernelModule&) const = default;
};

/// One KEY=VALUE of /etc/nccl.conf.
struct NcclConfEntry {
    std::string file;
    int line = 0;
    std::string key;
    std::string value;

    bool operator==(const NcclConfEntry&) const = default;
};

/// One element of an NCCL topology file; attributes in file order.
struct TopologyElement {
    std::string tag;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<TopologyElement> children;

    [[nodiscard]] const std::string* attribute(std::string_view key) const;
    bool operator==(const TopologyElement&) const = default;
};

struct TopologyFile {
    std::string path;                 ///< where it was read
    std::string source;               ///< who named it: "/etc/nccl.conf:3", "policy [nccl] topo_file", "default path"
    Reading<TopologyElement> system;  ///< the <system> element; why when unreadable or malformed

    bool operator==(const TopologyFile&) const = default;
};

struct Cpu {
    std::string arch;    ///< "x86_64", "arm64", "ppc64": what NCCL calls it
    std::string vendor;  ///< "GenuineIntel", "AuthenticAMD"; empty: unknown
    int family = -1;
    int model = -1;
    bool hypervisor = false;  ///< CPUID hypervisor flag in /proc/cpuinfo
    bool inferred = false;    ///< no /proc/cpuinfo: told from the root ports' vendor and the kernel release

    bool operator==(const Cpu&) const = default;
};

struct NodeFacts {
    std::string host;
    Reading<std::string> kernel_release;  ///< "6.1.0-28-amd64"
    std::string kernel_command_line;
    Cpu cpu;
    std::string dmi_product;  ///< /sys/class/dmi/id/product_name
    Reading<bool>
        dmabuf_config;  ///< CONFIG_INFINIBAND_ON_DEMAND_PAGING and _USER_MEM from /boot/config-*; why when not readable
    std::map<PciAddress, PciFunction> pci;            ///< only what matters here, see PciFunction
    std::map<PciAddress, std::uint32_t> pci_classes;  ///< class code of every function on the bus
    Reading<bool> pci_readable;                       ///< false/why: /sys/bus/pci could not be listed
    Reading<bool> rdma_readable;   ///< likewise /sys/class/infiniband; absent directory is known and true
    std::vector<Gpu> gpus;         ///< sorted by PCI address: a GPU's index is its place here
    std::vector<RdmaDevice> rdma;  ///< natural order of names (mlx5_2 before mlx5_10)
    std::map<std::string, KernelModule>
        modules;  ///< those that matter: nvidia, nvidia_peermem, nv_peer_mem, ib_core, ib_uverbs, mlx5_*, …
    bool modules_readable = false;                    ///< /sys/module could be listed
    bool ib_core_builtin = false;                     ///< RDMA devices without an ib_core module
    std::map<std::string, std::string> memory_peers;  ///< /sys/kernel/mm/memory_peers/<client>/version
    Reading<bool>
        memory_peers_readable;   ///< false: the directory is absent (says nothing); why: it is there and unreadable
    std::string nvidia_driver;   ///< first line of /proc/driver/nvidia/version
    std::string nvidia_version;  ///< "580.95.05"
    std::optional<bool> nvidia_open;  ///< open kernel modules; nullopt: cannot tell
    std::string nvidia_why;           ///< why nvidia facts are missing
    bool iommu_active = false;        ///< /sys/class/iommu has an entry
    std::vector<NcclConfEntry> nccl_conf;
    std::string nccl_conf_why;  ///< a present but unreadable or malformed file: then nothing may be exported
    std::optional<TopologyFile> topology;
    /// Broadcom P2P links between switches: /sys/kernel/pci_switch_link/virtual_switch_links/<bdf>/<peer>.
    std::vector<std::pair<PciAddress, PciAddress>> broadcom_links;
    std::optional<std::uint64_t> memlock_bytes;  ///< RLIMIT_MEMLOCK of the job where it is known

    bool operator==(const NodeFacts&) const = default;

    [[nodiscard]] const KernelModule* module(std::string_view name) const;
    [[nodiscard]] const PciFunction* function(const PciAddress& address) const;
    [[nodiscard]] const std::string* nccl_setting(
        std::string_view key) const;  ///< NCCL sets a variable once: the first entry wins
};

/// PCI functions from the device up to (not including) the host bridge, nearest first, read off its sysfs path.
[[nodiscard]] std::vector<PciAddress> upstream_bridges(const PciFunction& function);

/// "mlx5_2" before "mlx5_10": digits compare as numbers.
[[nodiscard]] bool natural_less(std::string_view left, std::string_view right);

}  // namespace gdrcheck
