#include <array>

#include "common/checks/catalogue.hpp"

namespace gdrcheck {
namespace {

constexpr std::array entries{
    CatalogueEntry{
        .slug = "probe-failed",
        .says = "a real registration of GPU memory failed on this pair",
        .severity = Outcome::fail,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning = "gdrcheck probe allocated GPU memory and registered it with the NIC, as NCCL would, and the kernel "
                   "refused. What the "
                   "files of the kernel promise does not hold for this pair.",
        .evidence = "The errno of ibv_reg_mr (EFAULT: no peer-memory client took the address) or ibv_reg_dmabuf_mr "
                    "(EOPNOTSUPP: driver without DMA-BUF; 524: the GPU driver rejects the topology), and dmesg.",
        .fix = "    dmesg | grep -E 'NVRM|peermem|mlx5'\n"
               "EFAULT: gdrcheck explain peermem-missing. EOPNOTSUPP: gdrcheck explain dmabuf-off. ENOMEM: BAR1 is "
               "exhausted, or "
               "gdrcheck explain memlock.",
    },
    CatalogueEntry{
        .slug = "bandwidth-low",
        .says = "measured bandwidth below baseline",
        .severity = Outcome::warn,
        .structural = false,
        .drains = true,
        .planned = true,
        .meaning =
            "A measured transfer was slower than the baseline for this kind of node. Compare like with like: "
            "nccl-tests' bus "
            "bandwidth is per node, and 180 GB/s \"per NIC\" is a node's figure; one NDR port moves 50 GB/s at most.",
        .evidence = "The table of nccl-tests or of gdrcheck allreduce, against the baseline given.",
        .fix =
            "Look at port-slow, link-width, acs-redirect and iommu-translate on the node that is slow: gdrcheck node.",
    },
    CatalogueEntry{
        .slug = "gdr-unused",
        .says = "after the job: GDR was there and was not used; never drains",
        .severity = Outcome::warn,
        .structural = false,
        .drains = false,
        .planned = true,
        .meaning = "The node could do GPUDirect RDMA and the job's NCCL did not use it: an old NCCL in a container, a "
                   "variable such as "
                   "NCCL_NET_GDR_LEVEL or NCCL_IB_DISABLE, another plugin. The node is well.",
        .evidence =
            "Counters of the peer-memory client under /sys/kernel/mm/memory_peers/nv_mem before and after the job, "
            "where the "
            "kernel has them: num_alloc_mrs and num_dealloc_mrs (there is no num_dereg_mrs).\n"
            "NCCL's log: \"/GDRDMA\" on the lines \"via NET/IB\", or its absence. There is no \"GDR-direct\" in it.",
        .fix = "Look at the job: NCCL_DEBUG=INFO, then gdrcheck log FILE.",
    },
    CatalogueEntry{
        .slug = "self",
        .says = "gdrcheck itself failed (time-out, configuration, permission); never drains",
        .severity = Outcome::warn,
        .structural = false,
        .drains = false,
        .planned = false,
        .meaning =
            "gdrcheck could not do its work: it ran into its deadline, its configuration has an error, or it lacks a "
            "permission. This says nothing about the node.",
        .evidence =
            "The message names the file, the limit or the cause. A reader that hangs in the kernel points to a wedged "
            "driver: dmesg | grep -E 'NVRM|mlx5|hung task'.",
        .fix = "    gdrcheck config               # errors with file, line and column\n"
               "    gdrcheck node                 # as root: config space and some files need it\n"
               "[policy] deadline_ms sets the deadline, on_error = \"open\" or \"closed\" what the prolog does then.",
    },
};

}  // namespace

std::span<const CatalogueEntry> measured_entries() {
    return entries;
}

}  // namespace gdrcheck
