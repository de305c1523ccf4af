#include <array>

#include "common/checks/catalogue.hpp"

// Sources: NCCL graph/topo.cc, graph/paths.cc, graph/xml.cc, net_ib.cc ncclIbGetPciPath.
namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "gpu-missing",
        .says = "an allocated GPU is not on the bus, or fewer than [expect] gpus",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "A GPU fell off the bus, did not come up at boot, or is excluded from the driver. A job that is "
                   "given it fails or "
                   "hangs at its first CUDA call.",
        .evidence = "/sys/bus/pci/devices: vendor 10de, class 0x03.\n"
                    "/proc/driver/nvidia/gpus: GPUs the driver knows; \"GPU Excluded: Yes\" in their information file.",
        .fix =
            "    lspci -nn -d 10de:\n"
            "    dmesg | grep -E 'NVRM|Xid|AER'    # Xid 79: the GPU has fallen off the bus\n"
            "A reboot or a power cycle may bring it back; a GPU that falls off again belongs to the vendor.\n"
            "Excluded on purpose: grep -r NVreg_ExcludedGpus /etc/modprobe.d, and set [expect] gpus to what is left.",
    },
    CatalogueEntry{
        .slug = "gpu-no-gdr",
        .says = "the GPU model has no GDR",
        .severity = Outcome::fail,
        .structural = true,
        .drains = true,
        .planned = false,
        .meaning = "CUDA reports cudaDevAttrGPUDirectRDMASupported = 0 for this model (GeForce, some virtual GPUs, "
                   "GB10), and NCCL "
                   "never uses GPUDirect RDMA with it. Also said where NCCL allows one direction only: below compute "
                   "capability 8.0 "
                   "without NVLink, and in NCCL 2.18 on every GPU without NVLink, NICs may write GPU memory and not "
                   "read it, so that "
                   "sends are staged.\n"
                   "It is the same tomorrow: the verdict fails, the node is drained only with [expect] gdr = true.",
        .evidence = "The PCI device id of the GPU, against a table of models; an unknown id counts as capable. "
                    "NVLink from the same table, NVSwitch devices, or [nccl] nvlink.",
        .fix = "Nothing on this node. Accept it: [checks.gpu-no-gdr] severity = \"warn\", in an [[override]] for such "
               "nodes.\n"
               "One direction only: NCCL_NET_GDR_READ=1 turns sends on; measure with and without it.",
    },
    CatalogueEntry{
        .slug = "path-far",
        .says = "no NIC within GDR distance, and no relay",
        .severity = Outcome::fail,
        .structural = true,
        .drains = true,
        .planned = false,
        .meaning = "NCCL uses GPUDirect RDMA up to the distance PXB: GPU and NIC under one PCIe switch (PIX) or a "
                   "chain of them "
                   "(PXB). PHB, through the CPU's host bridge, and SYS, to another socket or NUMA node, are beyond it, "
                   "unless an NVLink "
                   "peer has a near NIC (PXN) or the GPU is linked to its CPU by NVLink-C2C (P2C, from NCCL 2.27).\n"
                   "nvidia-smi topo -m also prints NODE; NCCL knows no NODE and takes it for PHB. A GPU and a NIC on "
                   "two root ports "
                   "of one host bridge are PHB. \"GDR is off only at SYS\" is not so: PHB is off too.\n"
                   "NCCL chooses by bandwidth first: a faster NIC far away wins over a slower one next to the GPU.\n"
                   "NCCL also rewrites the address of a NIC to its function 0 (and to slot 00 for virtual functions): "
                   "a NIC that is "
                   "not where that leads is attached to the first CPU, taken for a GPU, or merged with another card.\n"
                   "As a warning: NCCL spreads a GPU's channels over NICs of which some are too far.\n"
                   "It is the same tomorrow: the verdict fails, the node is drained only with [expect] gdr = true.",
        .evidence =
            "The real paths of /sys/class/pci_bus/*/device and /sys/class/infiniband/*/device, numa_node, "
            "max_link_speed and "
            "max_link_width, rate of the port, NCCL's topology file where there is one. gdrcheck topo draws it.",
        .fix = "Move the NIC to a slot under the GPU's switch; the board's manual shows which.\n"
               "A fast NIC far away: [nics] exclude, and NCCL_IB_HCA=^=DEVICE in /etc/nccl.conf.\n"
               "NCCL_NET_GDR_LEVEL=PHB (or SYS) makes NCCL use GPUDirect RDMA over that distance. On many CPUs this is "
               "slower than "
               "staging; measure, and set it for all ranks alike.\n"
               "A virtual machine: give NCCL the vendor's topology file (NCCL_TOPO_FILE in /etc/nccl.conf).\n"
               "A NIC in a slot other than 00.0: NCCL_IB_MERGE_VFS=0 helps where the device digits, not the function, "
               "mislead.\n"
               "Accept it: [checks.path-far] severity = \"warn\".",
    },
    CatalogueEntry{
        .slug = "vm-topology",
        .says = "virtual machine, flat tree, no topology file: distance cannot be trusted",
        .severity = Outcome::warn,
        .structural = true,
        .drains = true,
        .planned = false,
        .meaning =
            "The hypervisor shows GPUs and NICs without the PCIe switches they really sit under. NCCL sees them all at "
            "distance PHB and turns GPUDirect RDMA off, whatever the hardware could do. Cloud images bring a topology "
            "file that "
            "tells NCCL the truth; here there is none.",
        .evidence =
            "The hypervisor flag of /proc/cpuinfo, /sys/class/dmi/id/product_name, and no PCI bridge above GPUs and "
            "NICs.\n"
            "NCCL_TOPO_FILE in /etc/nccl.conf or [nccl] topo_file; /var/run/nvidia-topologyd/virtualTopology.xml.",
        .fix = "Install the vendor's file and name it for all jobs:\n"
               "    echo NCCL_TOPO_FILE=/opt/microsoft/ndv5-topo.xml >> /etc/nccl.conf    # Azure, as an example\n"
               "It must be the same for all ranks of a node. Without one, the hypervisor's administrator can expose "
               "the switches.",
    },
    CatalogueEntry{
        .slug = "net-plugin",
        .says = "NCCL will not use its IB transport here",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "This fabric is driven by a network plugin (EFA through aws-ofi-nccl, Slingshot through libfabric, "
                   "and others). The "
                   "plugin tells NCCL itself what it can do with GPU memory, so the rules that gdrcheck knows are not "
                   "its rules. The "
                   "verdict is not-applicable.",
        .evidence = "The RDMA drivers of the node (efa, and NICs without any), NCCL_NET and NCCL_NET_PLUGIN in "
                    "/etc/nccl.conf, [nccl] net.",
        .fix = "Nothing to mend. Tell gdrcheck what is right if it is wrong: [nccl] net = \"ib\" or \"plugin\".\n"
               "NCCL's log names the network in use: NCCL_DEBUG=INFO, \"Using network ...\".",
    },
};

}  // namespace

std::span<const CatalogueEntry> topology_entries() {
    return entries;
}

}  // namespace gdrcheck
