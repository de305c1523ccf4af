#include <array>

#include "common/checks/catalogue.hpp"

// Sources: drivers/pci/p2pdma.c, linux/pci_regs.h, rdma-core's rdma_topo, the CUDA programming guide on IOMMU.
namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "acs-redirect",
        .says = "a bridge on the GPU-NIC path redirects peer traffic (works, slowly, or hangs)",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning =
            "With PCIe Access Control Services on, a switch port sends traffic between GPU and NIC up to the root "
            "complex and "
            "back instead of straight across. GPUDirect RDMA then works at a fraction of its bandwidth, or hangs.\n"
            "The bits that redirect are ReqRedir, CmpltRedir and EgressCtrl, on the bridges of the path. \"SrcValid+ "
            "means that "
            "ACS blocks peer traffic\" is not so: it does not redirect; it only tends to be set together with those "
            "that do. A "
            "capability that cannot be read is unknown, not off: config space beyond 64 bytes needs root.\n"
            "In a virtual machine with ATS, ReqRedir with DirectTrans is right; so is the pattern of ConnectX-8 Data "
            "Direct, "
            "where the NIC's port redirects completions only and the GPU's port requests only.",
        .evidence = "/sys/bus/pci/devices/BRIDGE/config, extended capability 0x000d, control at +6: 0x04 ReqRedir, "
                    "0x08 CmpltRedir, "
                    "0x20 EgressCtrl, 0x40 DirectTrans; for every bridge from the GPU and from the NIC up to the one "
                    "above both. "
                    "lspci -vvv shows it as ACSCtl, for root.",
        .fix =
            "Now, until the next boot:\n"
            "    setpci -s BRIDGE ECAP_ACS+0x6.w=0000\n"
            "For good: switch ACS (or VT-d, AMD IOMMU) off in the firmware, or boot with\n"
            "    pci=disable_acs_redir=BRIDGE;BRIDGE\n"
            "    apt:    GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub\n"
            "    dnf:    grubby --update-kernel=ALL --args=...\n"
            "    zypper: /etc/default/grub, then grub2-mkconfig -o /boot/grub2/grub.cfg\n"
            "iommu=pt does not help: the kernel switches ACS on with any IOMMU.\n"
            "Switching ACS off takes the isolation between these devices away; do not do it on hosts that pass them to "
            "virtual machines.",
    },
    CatalogueEntry{
        .slug = "iommu-translate",
        .says = "DMA translation on bare metal",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning =
            "The IOMMU translates the addresses of GPUs or NICs. CUDA does not support peer-to-peer transfers under a "
            "translating IOMMU on bare metal: NVIDIA's guide warns of silent corruption of device memory, and what "
            "works is "
            "slow. In a virtual machine the translation belongs to the hypervisor and is fine.",
        .evidence = "/sys/bus/pci/devices/DEVICE/iommu_group/type: DMA or DMA-FQ translates, identity passes through, "
                    "no group is off.",
        .fix = "Boot with the IOMMU off, or in passthrough mode where it must stay on:\n"
               "    Intel: intel_iommu=off, or iommu=pt\n"
               "    AMD:   amd_iommu=off, or iommu=pt\n"
               "    Arm:   iommu.passthrough=1\n"
               "    apt:    GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub\n"
               "    dnf:    grubby --update-kernel=ALL --args=iommu=pt\n"
               "    zypper: /etc/default/grub, then grub2-mkconfig -o /boot/grub2/grub.cfg\n"
               "With iommu=pt look at acs-redirect too: the kernel switches ACS on with any IOMMU.",
    },
    CatalogueEntry{
        .slug = "link-width",
        .says = "GPU, NIC or a bridge on the path runs narrower than it can",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "A PCIe link trained with fewer lanes than device and slot have: x8 instead of x16 is half the "
                   "bandwidth. NCCL does "
                   "not see it, for it reads the maximum and not the current width. A GPU's speed (2.5 GT/s when idle) "
                   "says nothing "
                   "without load and is not looked at; the width is always true.",
        .evidence =
            "/sys/bus/pci/devices/DEVICE/current_link_width against max_link_width, for GPUs, the NICs NCCL would "
            "use, and the bridges between them. Width 0 (virtual machines) is no statement.",
        .fix = "    lspci -vv -s DEVICE | grep -E 'LnkCap|LnkSta'\n"
               "Reseat the card or riser; look for bifurcation settings in the firmware; a card in a narrower slot is "
               "a fact of "
               "the machine: [checks.link-width] severity = \"ignore\".",
    },
    CatalogueEntry{
        .slug = "memlock",
        .says = "the job's RLIMIT_MEMLOCK is too small to register",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "Registering memory with a NIC pins it, and pinned memory counts against RLIMIT_MEMLOCK. Where the "
                   "limit is small, "
                   "ibv_reg_mr fails with \"Cannot allocate memory\" and NCCL ends the job.",
        .evidence = "The limit of the job's processes, where it is known.",
        .fix = "For jobs of Slurm, the limit is slurmd's unless PropagateResourceLimits brings the user's:\n"
               "    systemctl edit slurmd          # [Service] LimitMEMLOCK=infinity\n"
               "    slurm.conf: PropagateResourceLimitsExcept=MEMLOCK\n"
               "For logins: /etc/security/limits.d: * soft memlock unlimited, * hard memlock unlimited.",
    },
};

}  // namespace

std::span<const CatalogueEntry> pcie_entries() {
    return entries;
}

}  // namespace gdrcheck
