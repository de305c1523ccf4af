#include <array>

#include "common/checks/catalogue.hpp"

// Sources: NCCL net_ib.cc and its move to gdr.cc, init.cc dmaBufSupported(), systemd-modules-load.
namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "nccl-too-old",
        .says = "works for current NCCL, invisible to the assumed or older versions",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "peermem alone carries GPUDirect RDMA here, and it shows only as /sys/module/nvidia_peermem. NCCL "
                   "looks there from "
                   "2.23 on. Up to 2.22 it believes only in files under /sys/kernel/mm/memory_peers, which RDMA stacks "
                   "for kernels "
                   "from 6.6 on no longer create: such an NCCL logs \"GPU Direct RDMA Disabled\" and stages, with a "
                   "working peermem.\n"
                   "It is a failure when the assumed version is one of these, else a warning: a container may bring "
                   "its own NCCL.",
        .evidence = "/sys/module/nvidia_peermem/initstate is live; no /sys/kernel/mm/memory_peers/nv_mem.\n"
                    "NCCL 2.18 to 2.21 look for memory_peers/nv_mem/version and memory_peers/nvidia-peermem/version, "
                    "2.22 for nv_mem "
                    "and nv_mem_nc, 2.23 and later also for /sys/module/nvidia_peermem/version.",
        .fix = "Use NCCL 2.23 or later in jobs and containers; `NCCL_DEBUG=VERSION` prints which one runs.\n"
               "Or give the node DMA-BUF, which every NCCL from 2.13 on finds: the open NVIDIA kernel modules.\n"
               "The versions that gdrcheck assumes: [nccl] assume.",
    },
    CatalogueEntry{
        .slug = "peermem-order",
        .says = "will not survive the next boot: not loaded at boot, or in an order that fails",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "nvidia_peermem is loaded now, and nothing loads it at boot. NVIDIA's packages ship no modules-load "
                   "entry, no "
                   "softdep and no udev rule for it.\n"
                   "The order of names in modules-load.d does not matter for a real module: its dependencies pull in "
                   "nvidia and the "
                   "RDMA core. What does fail: a stub build, a restart of openibd (it unloads the RDMA stack and "
                   "peermem with it), and "
                   "nobody loading it at all.",
        .evidence =
            "/etc/modules-load.d, /run/modules-load.d, /usr/lib/modules-load.d; modules_load= in /proc/cmdline; "
            "modprobe.d blacklists; units of openibd.",
        .fix = "    echo nvidia-peermem > /etc/modules-load.d/nvidia-peermem.conf\n"
               "With OFED's openibd, load it again after each restart:\n"
               "    systemctl edit openibd    # [Service] ExecStartPost=-/sbin/modprobe nvidia-peermem",
    },
    CatalogueEntry{
        .slug = "dkms-next-boot",
        .says = "the kernel that boots next has no usable module",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "A newer kernel is installed and will boot next. For it there is no nvidia-peermem, or only a stub. "
                   "GPUDirect RDMA "
                   "works until the reboot and not after it.",
        .evidence = "/boot/grub*/grubenv, /boot/loader/entries, /boot/vmlinuz-*; /lib/modules/NEXT with *peermem*.ko*; "
                    "/var/lib/dkms.",
        .fix = "apt:    apt install linux-headers-NEXT && dkms autoinstall -k NEXT\n"
               "dnf:    dnf install kernel-devel-NEXT && dkms autoinstall -k NEXT\n"
               "zypper: zypper install kernel-default-devel && dkms autoinstall -k NEXT\n"
               "Then look at the result: modinfo -k NEXT -F depends nvidia-peermem must not be empty.",
    },
    CatalogueEntry{
        .slug = "dmabuf-off",
        .says = "no DMA-BUF (why); peermem carries GDR alone",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "GPUDirect RDMA works, by peermem alone. NVIDIA recommends DMA-BUF over nvidia-peermem and has "
                   "deprecated the "
                   "kernel interface under it (CUDA 13.0 guide; to be removed in CUDA 14). peermem also has to be "
                   "rebuilt and loaded "
                   "again after each change of kernel, driver or RDMA stack.\n"
                   "With [policy] require = \"dmabuf\" this is a failure.",
        .evidence =
            "/proc/driver/nvidia/version: the open modules say \"Open Kernel Module\"; the proprietary one offers no "
            "DMA-BUF.\n"
            "/proc/sys/kernel/osrelease: ibv_reg_dmabuf_mr needs 5.12.\n"
            "/sys/class/infiniband/*/device/driver: mlx5 imports DMA-BUF since 5.12, efa 5.16, irdma 6.4, bnxt_re "
            "6.7.\n"
            "NCCL_DMABUF_ENABLE=0 in /etc/nccl.conf.\n"
            "This is inferred; gdrcheck node --deep asks libibverbs itself, with a registration that cannot succeed "
            "(fd = -1): EOPNOTSUPP or EPROTONOSUPPORT means no.",
        .fix = "Install the open kernel modules (Turing or later):\n"
               "    apt:    apt install nvidia-open\n"
               "    dnf:    dnf module install nvidia-driver:open-dkms\n"
               "    zypper: zypper install nvidia-open-driver-G06-signed-kmp-default\n"
               "Nothing to do, if peermem is what you want: [checks.dmabuf-off] severity = \"ignore\".",
    },
};

}  // namespace

std::span<const CatalogueEntry> transport_entries() {
    return entries;
}

}  // namespace gdrcheck
