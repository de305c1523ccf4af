// peermem that only NCCL 2.23 and later find. Where the assumed version itself does not find it the GPUs are staged,
// and check_peermem says this slug as the cause.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

/// NCCL 2.18 to 2.22 believe in a client named nv_mem under memory_peers, and in nothing that 2.23 does not see as
/// well.
bool old_nccl_sees_peermem(const NodeFacts& facts) {
    if (facts.memory_peers.contains("nv_mem")) return true;
    return !facts.memory_peers_readable.known() && !facts.memory_peers_readable.why.empty();  // there, and unreadable
}

std::vector<Finding> run(const CheckInput& input) {
    const auto& nics = input.answer.nics;
    const bool peermem_alone = std::any_of(nics.begin(), nics.end(), [](const auto& nic) {
        return nic.used && nic.transport.via == nccl::Via::peermem && nic.transport.dmabuf != nccl::Tristate::yes;
    });
    if (!peermem_alone || !any_gpu_can(input) || old_nccl_sees_peermem(input.facts)) return {};
    std::vector<std::string> blind;
    for (const auto& answer : input.all_answers) {
        if (!answer.transport.peermem_visible) blind.push_back(nccl::to_string(answer.version));
    }
    Finding finding{.slug = "nccl-too-old", .subject = "nvidia_peermem"};
    finding.seen = fmt::format("{}; no DMA-BUF beside it", input.answer.transport.peermem_why);
    finding.why =
        blind.empty()
            ? "NCCL up to 2.22 does not look at /sys/module/nvidia_peermem: a container that brings one stages"
            : fmt::format("NCCL {}, which [nccl] assume names, does not look at /sys/module/nvidia_peermem and stages",
                          enumerate(blind));
    finding.remedy = "use NCCL 2.23 or later in jobs, or the open NVIDIA kernel modules (DMA-BUF)";
    return {finding};
}

}  // namespace

extern const Check check_nccl_too_old;
const Check check_nccl_too_old{"check_nccl_too_old", run};

}  // namespace gdrcheck
