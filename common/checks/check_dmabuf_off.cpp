// GPUDirect RDMA works and hangs on peermem alone.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

std::vector<Finding> run(const CheckInput& input) {
    if (!any_gpu_can(input) || input.policy.policy.require == Require::peermem) return {};
    std::vector<std::string> names;
    const nccl::NicAnswer* first = nullptr;
    for (const auto& nic : input.answer.nics) {
        const auto& transport = nic.transport;
        if (!nic.used || transport.via != nccl::Via::peermem || transport.dmabuf != nccl::Tristate::no) continue;
        names.push_back(nic.name);
        if (first == nullptr) first = &nic;
    }
    if (first == nullptr) return {};
    const bool proprietary = input.facts.nvidia_open == false;
    Finding finding{.slug = "dmabuf-off", .subject = proprietary ? "nvidia" : enumerate(names, 2)};
    finding.seen = first->transport.dmabuf_why;
    finding.why =
        "peermem alone carries GPUDirect RDMA: it must be rebuilt and loaded again after each change of kernel, "
        "driver or RDMA stack, and CUDA has deprecated it";
    finding.remedy = proprietary ? "install the open NVIDIA kernel modules (gdrcheck explain dmabuf-off)"
                                 : "gdrcheck explain dmabuf-off";
    return {finding};
}

}  // namespace

extern const Check check_dmabuf_off;
const Check check_dmabuf_off{"check_dmabuf_off", run};

}  // namespace gdrcheck
