// A limit on pinned memory too small for NCCL's buffers.
#include <fmt/core.h>

#include "common/checks/check.hpp"

namespace gdrcheck {
namespace {

/// NCCL_BUFFSIZE's 4 MiB for each of 16 channels in both directions: what one rank registers at the least on a fast
/// node.
constexpr std::uint64_t least_bytes = std::uint64_t{4} * 16 * 2 << 20;

std::vector<Finding> run(const CheckInput& input) {
    const auto& limit = input.facts.memlock_bytes;
    if (!limit || *limit >= least_bytes || input.facts.gpus.empty()) return {};
    Finding finding{.slug = "memlock", .subject = "RLIMIT_MEMLOCK"};
    finding.seen = fmt::format("{} KiB", *limit >> 10);
    finding.why = "registering memory with a NIC pins it; beyond the limit ibv_reg_mr fails and NCCL ends the job";
    finding.remedy = "LimitMEMLOCK=infinity for slurmd, PropagateResourceLimitsExcept=MEMLOCK in slurm.conf";
    return {finding};
}

}  // namespace

extern const Check check_memlock;
const Check check_memlock{"check_memlock", run};

}  // namespace gdrcheck
