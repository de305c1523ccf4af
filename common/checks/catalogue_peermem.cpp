#include <array>

#include "common/checks/catalogue.hpp"

// Sources: nvidia-peermem.c of the open kernel modules 515 to 595, conftest.sh of the same, NCCL's net_ib.cc.
namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "peermem-missing",
        .says = "no peer-memory client and no DMA-BUF; also the name while the cause is not examined",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "A NIC reaches GPU memory in one of two ways: through DMA-BUF (open NVIDIA kernel modules, kernel "
                   "5.12 or later, "
                   "an RDMA driver that imports DMA-BUF), or through a peer-memory client, which is the module "
                   "nvidia_peermem. This "
                   "node has neither, so NCCL stages every byte in host memory. It says so nowhere and no program "
                   "fails; a job over "
                   "several nodes is 5 to 10 times slower.\n"
                   "One of the two is enough. A node with DMA-BUF needs no nvidia_peermem, and NCCL prefers DMA-BUF "
                   "where both work.\n"
                   "Two things often read elsewhere are not so. nvidia_peermem prints nothing when it registers, in "
                   "any version: a "
                   "search of dmesg for \"registered as peer memory client\" always fails. And a missing "
                   "/sys/kernel/mm/memory_peers says nothing: RDMA stacks for kernels from 6.6 on no longer create it, "
                   "with peermem "
                   "working. Its presence proves a client; its absence proves nothing.",
        .evidence =
            "/sys/kernel/mm/memory_peers/nv_mem/version (or nv_mem_nc): there means registered.\n"
            "/sys/module/nvidia_peermem/initstate: \"live\" means registered too, for the module's start fails where "
            "it cannot "
            "register.\n"
            "/sys/module/ib_uverbs/holders and /sys/module/ib_core/holders: nvidia_peermem is under the module that "
            "exports the "
            "API, which is ib_uverbs on current stacks. \"ib_core must list it\" is not a rule, and a built-in ib_core "
            "lists "
            "nobody.\n"
            "/proc/driver/nvidia/version: \"Open Kernel Module\" or not. /proc/sys/kernel/osrelease: 5.12 or later.\n"
            "/sys/class/infiniband/*/device/driver: the RDMA driver.",
        .fix =
            "Load it now:\n"
            "    modprobe nvidia-peermem\n"
            "\"Invalid argument\" and nothing in dmesg: the module on disk is a stub (gdrcheck explain peermem-stub). "
            "\"disagrees "
            "about version of symbol\": gdrcheck explain peermem-crc. \"not found\": gdrcheck explain peermem-absent.\n"
            "Load it at every boot:\n"
            "    echo nvidia-peermem > /etc/modules-load.d/nvidia-peermem.conf\n"
            "On Debian the driver packages name the file nvidia-current-peermem.ko; modprobe nvidia-peermem finds it.\n"
            "Or have DMA-BUF and no need for it: the open kernel modules (Turing or later).\n"
            "    apt:    apt install nvidia-open\n"
            "    dnf:    dnf module install nvidia-driver:open-dkms\n"
            "    zypper: zypper install nvidia-open-driver-G06-signed-kmp-default\n"
            "Slurm's prolog can load the module by itself: [repair] peermem = \"load\".",
    },
    CatalogueEntry{
        .slug = "peermem-stub",
        .says = "the nvidia-peermem on disk was built without the peer-memory API",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "The NVIDIA driver's build looks for ib_register_peer_memory_client in the Module.symvers of the "
                   "kernel and of "
                   "MLNX_OFED or DOCA-OFED. Where it does not find it, it still builds an nvidia-peermem.ko, whose "
                   "start function is "
                   "\"return -EINVAL\". Installing OFED after the driver, or a kernel upgrade whose DKMS run builds "
                   "nvidia before "
                   "mlnx-ofed-kernel, gives such a stub.\n"
                   "The order of names in modules-load.d is not the trap: a real module pulls in nvidia and the RDMA "
                   "core through its "
                   "own dependencies; a stub has none and fails in any order.",
        .evidence = "modinfo -F depends nvidia-peermem: empty for a stub, \"nvidia,ib_uverbs\" (or ib_core) for a real "
                    "one. Version, "
                    "srcversion and parameters are the same in both and tell nothing.\n"
                    "modprobe nvidia-peermem: \"Invalid argument\", and no line in dmesg.",
        .fix = "Rebuild the driver with the RDMA stack in place:\n"
               "    dkms remove nvidia/VERSION -k $(uname -r); dkms install nvidia/VERSION -k $(uname -r)\n"
               "    modprobe nvidia-peermem\n"
               "apt (Debian): the module is nvidia-current or nvidia-current-open in `dkms status`. Debian's own "
               "kernel has no "
               "peer-memory API; without OFED the result is always a stub, and DMA-BUF is the way.\n"
               "dnf, zypper: precompiled packages (kmod-nvidia, -kmp-) are built without OFED; take the -dkms package "
               "instead.\n"
               "Or install the open kernel modules and use DMA-BUF, which needs no nvidia-peermem.",
    },
    CatalogueEntry{
        .slug = "peermem-crc",
        .says = "symbol, driver or kernel versions differ from what runs",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "nvidia-peermem on disk was built against another RDMA stack, another NVIDIA driver or another "
                   "kernel than those "
                   "that run. The kernel compares a checksum (CRC) per symbol and refuses the module.",
        .evidence = "dmesg after modprobe nvidia-peermem: \"disagrees about version of symbol "
                    "ib_register_peer_memory_client\" (RDMA "
                    "stack changed after the build) or \"version magic ... should be\" (kernel).\n"
                    "modinfo -F version nvidia-peermem against /sys/module/nvidia/version.\n"
                    "modprobe --dump-modversions of the file against the exports of the running ib_uverbs or ib_core.",
        .fix = "Reboot if the driver or OFED was upgraded and its old modules still run. Otherwise rebuild:\n"
               "    dkms remove nvidia/VERSION -k $(uname -r); dkms install nvidia/VERSION -k $(uname -r)\n"
               "    depmod -a; modprobe nvidia-peermem\n"
               "Rebuild after every change of OFED; `dkms status` says \"installed\" whatever it was built against.",
    },
    CatalogueEntry{
        .slug = "peermem-absent",
        .says = "no nvidia-peermem for the running kernel on disk",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "There is no nvidia-peermem.ko under /lib/modules for the kernel that runs: headers were missing "
                   "when DKMS ran, or "
                   "the kernel is newer than the driver package.",
        .evidence = "find /lib/modules/$(uname -r) -name '*peermem*.ko*'; dkms status.",
        .fix = "apt:    apt install linux-headers-$(uname -r) && dkms autoinstall -k $(uname -r)\n"
               "dnf:    dnf install kernel-devel-$(uname -r) && dkms autoinstall -k $(uname -r)\n"
               "zypper: zypper install kernel-default-devel && dkms autoinstall -k $(uname -r)\n"
               "Then: modprobe nvidia-peermem",
    },
    CatalogueEntry{
        .slug = "peermem-clash",
        .says = "legacy nv_peer_mem beside nvidia_peermem, and no transport",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "nv_peer_mem is Mellanox's module of old, superseded by nvidia-peermem since driver R470. Both "
                   "register a client "
                   "named nv_mem. While the legacy one is loaded, nvidia-peermem cannot register where the RDMA core "
                   "keeps names in "
                   "sysfs (modprobe says \"Invalid argument\", dmesg \"cannot create duplicate filename\"). NCCL never "
                   "looks for "
                   "/sys/module/nv_peer_mem: on stacks without /sys/kernel/mm/memory_peers it does not see the legacy "
                   "module at all.",
        .evidence = "/sys/module/nv_peer_mem and /sys/module/nvidia_peermem.\n"
                    "/sys/kernel/mm/memory_peers/nv_mem/version, where it exists: 1.3-0 (or lower) is the legacy "
                    "module, the NVIDIA "
                    "driver's version is nvidia-peermem.",
        .fix = "    modprobe -r nv_peer_mem && modprobe nvidia-peermem\n"
               "and remove the legacy package, which loads it at boot (/etc/init.d/nv_peer_mem):\n"
               "apt:    apt purge nvidia-peer-memory nvidia-peer-memory-dkms\n"
               "dnf:    dnf remove nvidia_peer_memory\n"
               "zypper: zypper remove nvidia_peer_memory",
    },
    CatalogueEntry{
        .slug = "peermem-no-nic",
        .says = "peermem is registered, the NIC's driver cannot use it, no DMA-BUF: NCCL would try and error",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning =
            "NCCL takes peermem for a property of the host. It is one of the NIC's driver: mlx5_ib of OFED or of a "
            "kernel that "
            "carries the API uses peer-memory clients; inbox irdma, bnxt_re, efa, rxe and siw do not. NCCL will "
            "register GPU "
            "memory with this NIC, get \"Bad address\" (EFAULT) from ibv_reg_mr and end the job instead of staging.",
        .evidence =
            "/sys/class/infiniband/NIC/device/driver: the driver.\n"
            "/sys/module/nvidia_peermem/initstate and /sys/kernel/mm/memory_peers: that a client is registered.\n"
            "/proc/driver/nvidia/version and the kernel release: that DMA-BUF is not there.",
        .fix = "Give the NIC DMA-BUF: the open NVIDIA kernel modules, and a kernel whose driver imports DMA-BUF (efa "
               "5.16, irdma "
               "6.4, bnxt_re 6.7).\n"
               "    apt:    apt install nvidia-open\n"
               "    dnf:    dnf module install nvidia-driver:open-dkms\n"
               "    zypper: zypper install nvidia-open-driver-G06-signed-kmp-default\n"
               "Or unload nvidia_peermem, or set NCCL_NET_GDR_LEVEL=LOC: NCCL then stages, slowly and without error.\n"
               "Or leave this NIC out of NCCL: [nics] exclude.",
    },
};

}  // namespace

std::span<const CatalogueEntry> peermem_entries() {
    return entries;
}

}  // namespace gdrcheck
