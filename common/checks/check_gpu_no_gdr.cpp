// GPUs that NCCL never reads or writes by GPUDirect RDMA: the model has none, or it allows one direction only.
#include <fmt/core.h>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

std::string model_of(const NodeFacts& facts, const nccl::GpuAnswer& gpu) {
    if (!gpu.model.name.empty()) return gpu.model.name;
    return gpu.gpu < facts.gpus.size() ? facts.gpus[gpu.gpu].model : "this GPU";
}

Finding no_gdr(const CheckInput& input, const nccl::GpuAnswer& gpu) {
    Finding finding{.slug = "gpu-no-gdr", .subject = gpu_address(input.facts, gpu.gpu), .structural = true};
    finding.gpus = {gpu.gpu};
    finding.seen = fmt::format("{}: cudaDevAttrGPUDirectRDMASupported is 0 for this model", model_of(input.facts, gpu));
    finding.why = "NCCL stages this GPU's traffic through host memory, whatever modules are loaded";
    finding.remedy = "nothing on this node; keep multi-node jobs on other GPUs, or set [checks.gpu-no-gdr] severity";
    return finding;
}

Finding one_direction(const CheckInput& input, const nccl::GpuAnswer& gpu) {
    Finding finding{.slug = "gpu-no-gdr", .subject = gpu_address(input.facts, gpu.gpu), .structural = true};
    finding.gpus = {gpu.gpu};
    finding.seen = fmt::format("{}: receives go by GPUDirect RDMA, sends do not (NCCL {}, no NVLink peer)",
                               model_of(input.facts, gpu), nccl::to_string(input.answer.version));
    finding.why = input.answer.version < nccl::Version{2, 19, 0}
                      ? "before 2.19 NCCL lets NICs read GPU memory only on nodes whose GPUs have NVLink"
                      : "NCCL lets NICs read a GPU below compute capability 8.0 only where it has an NVLink peer";
    finding.remedy = "NCCL_NET_GDR_READ=1 turns it on; measure with and without";
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    std::vector<Finding> findings;
    for (const auto& gpu : input.answer.gpus) {
        const auto cause = cause_of(input, gpu);
        if (cause == Cause::gpu_model) findings.push_back(no_gdr(input, gpu));
        if (cause == Cause::one_direction) findings.push_back(one_direction(input, gpu));
    }
    return findings;
}

}  // namespace

extern const Check check_gpu_no_gdr;
const Check check_gpu_no_gdr{"check_gpu_no_gdr", run};

}  // namespace gdrcheck
