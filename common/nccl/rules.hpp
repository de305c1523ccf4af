// What changed between NCCL releases, as one table. The model reads the table; it never asks for a version number.
#pragma once

#include "common/nccl/version.hpp"

namespace gdrcheck::nccl {

/// How ports of one card become one network device.
enum class Merging {
    none,     ///< each port its own device
    by_card,  ///< net_ib.cc joins ports of one path, GUID and link layer (NCCL_IB_MERGE_NICS)
    fused,    ///< topo.cc makes virtual NICs by distance (NCCL_NET_MERGE_LEVEL)
};

/// How a NIC at the CPU of a C2C GPU is seen.
enum class C2cRule {
    none,       ///< plain PHB
    as_c2c,     ///< named PHB, taken for C2C when NCCL_NET_GDR_C2C is set
    p2c,        ///< named P2C between every C2C GPU and every NIC of its CPU
    p2c_local,  ///< named P2C only where the NIC is the GPU's nearest
};

/// Files whose presence is NCCL's sign of peermem (net_ib.cc ncclIbGdrSupport).
struct PeermemFiles {
    bool nv_mem = true;           ///< /sys/kernel/mm/memory_peers/nv_mem/version
    bool nvidia_peermem = false;  ///< /sys/kernel/mm/memory_peers/nvidia-peermem/version
    bool nv_mem_nc = false;       ///< /sys/kernel/mm/memory_peers/nv_mem_nc/version
    bool module = false;          ///< /sys/module/nvidia_peermem/version
};

/// GB/s between sockets (graph/topo.h *_QPI_BW, AMD_*_BW, ARM_BW, P9_BW).
struct SocketBandwidths {
    float intel_broadwell;
    float intel_skylake;
    float intel_sapphire_rapids;
    float intel_emerald_rapids;
    float amd_zen12;
    float amd_zen34;
    float amd_zen5;
};

struct Rules {
    Version since;
    PeermemFiles peermem_files;
    bool send_needs_nvlink_on_any_gpu;  ///< 2.18: the NVLink test for sends has no compute-capability limit
    C2cRule c2c;
    bool net_gdr_c2c_default;  ///< NCCL_NET_GDR_C2C
    bool pxn_c2c_default;      ///< NCCL_PXN_C2C: relay through a GPU at distance P2C
    Merging merging;
    int max_merged_ports;
    bool flatten_broadcom_gen5;
    bool broadcom_links;  ///< /sys/kernel/pci_switch_link
    bool fuses_ranks;     ///< each rank detects its own GPU; the trees are fused
    bool data_direct;
    bool rails;  ///< NIC selection counts rails (one per card), not devices
    SocketBandwidths sockets;
};

[[nodiscard]] const Rules& rules_for(const Version& version);
[[nodiscard]] Version oldest_version();
[[nodiscard]] Version newest_version();
[[nodiscard]] int last_patch(int minor);  ///< of release 2.<minor>

}  // namespace gdrcheck::nccl
