#include <array>

#include "common/checks/catalogue.hpp"

// Sources: NCCL net_ib.cc ncclIbInitDevices; Documentation/ABI/stable/sysfs-class-infiniband.
namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "rdma-missing",
        .says = "fewer RDMA devices than [expect] nics",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "A NIC without an RDMA device does not exist for NCCL. The GPUs that had it share another NIC, "
                   "further away, or the "
                   "job falls back to sockets. Also said when a device that [nics] compute names in full is not there, "
                   "and when no "
                   "device is left for a GPU.",
        .evidence = "/sys/class/infiniband, less [nics] exclude, and within [nics] compute where that is given.\n"
                    "/sys/bus/pci/devices: Mellanox network functions that no RDMA device belongs to.",
        .fix =
            "    lspci -nn -d 15b3:            # is the card on the bus\n"
            "    dmesg | grep -E 'mlx5|AER'    # why the driver gave it up\n"
            "    modprobe mlx5_ib\n"
            "No RDMA driver at all: apt install rdma-core; dnf install rdma-core; zypper install rdma-core; or OFED.\n"
            "The number is wrong for this node: [expect] nics in an [[override]].",
    },
    CatalogueEntry{
        .slug = "port-down",
        .says =
            "a port is not ACTIVE: fail when it is named in [nics] compute without wildcard, or leaves a GPU staged",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "NCCL uses ports whose state is ACTIVE, InfiniBand and Ethernet alike, and leaves out all others "
                   "without a word. A "
                   "GPU whose near NIC is out goes to a far one and loses GPUDirect RDMA; with no port left NCCL says "
                   "\"NET/IB : No "
                   "device found\" and uses sockets.\n"
                   "INIT with LinkUp on InfiniBand means that the cable is good and no subnet manager has configured "
                   "the port. A DOWN "
                   "port often shows a default rate such as 40 Gb/sec: look at the state first.",
        .evidence = "/sys/class/infiniband/DEVICE/ports/N/state, phys_state, link_layer.",
        .fix = "InfiniBand, INIT:    sminfo -C DEVICE -P N    (is there a subnet manager)\n"
               "InfiniBand, DOWN:    rdma link show; mlxlink -d DEVICE -p N    (cable, transceiver, switch port)\n"
               "Ethernet:            ip link set NETDEV up; ethtool NETDEV\n"
               "A port that is not meant to be used: [nics] exclude = [\"DEVICE\"].",
    },
    CatalogueEntry{
        .slug = "port-slow",
        .says = "slower than [expect] gbps, or than its siblings",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning =
            "A link trained at a lower speed or with fewer lanes than it should: one slow port slows every ring that "
            "crosses "
            "it. NCCL chooses NICs by bandwidth first, so it also moves GPUs to other NICs, which may be too far for "
            "GPUDirect RDMA. Siblings are used ports of the same card type and link layer.",
        .evidence =
            "/sys/class/infiniband/DEVICE/ports/N/rate of ACTIVE ports that NCCL would use; hca_type, board_id, "
            "link_layer.",
        .fix = "    mlxlink -d DEVICE -p N -c    # errors, cable, negotiated lanes\n"
               "    ethtool NETDEV               # Ethernet: advertised and negotiated speed\n"
               "Reseat or replace the cable; compare the switch port's configuration with its neighbours.\n"
               "A slower storage NIC: [nics] exclude.",
    },
    CatalogueEntry{
        .slug = "uverbs-missing",
        .says = "device present, /dev/infiniband/uverbsN is not",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = false,
        .meaning = "libibverbs opens a NIC through /dev/infiniband/uverbsN. Without that file ibv_get_device_list "
                   "leaves the NIC out, "
                   "and so does NCCL, though /sys/class/infiniband shows it with an ACTIVE port.",
        .evidence = "/sys/class/infiniband_verbs/uverbsN/ibdev; /dev/infiniband/uverbsN.",
        .fix = "    modprobe ib_uverbs\n"
               "    udevadm trigger --subsystem-match=infiniband_verbs\n"
               "apt: apt install rdma-core; dnf: dnf install rdma-core; zypper: zypper install rdma-core (its udev "
               "rules load "
               "ib_uverbs).\n"
               "Only in containers or jobs: pass /dev/infiniband in, and allow it in the device cgroup.",
    },
};

}  // namespace

std::span<const CatalogueEntry> network_entries() {
    return entries;
}

}  // namespace gdrcheck
