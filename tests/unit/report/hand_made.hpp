// Verdicts made by hand: what the renderers are given, without the model that would make them.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "tests/support/facts_builder.hpp"

namespace gdrcheck::test {

struct HandMade {
    NodeFacts facts;
    Policy policy;
    Verdict verdict;
    std::string config_file = "/etc/slurm/gdrcheck.toml";

    [[nodiscard]] report::NodeReport report() const { return {facts, policy, verdict, 1830, config_file}; }
};

/// Two GPUs and two NICs behind a switch each, all well.
inline HandMade healthy() {
    HandMade made;
    made.facts = FactsBuilder{}
                     .bridge("0000:17:00.0")
                     .gpu("0000:18:00.0", "0000:17:00.0")
                     .nic("mlx5_0", "0000:19:00.0", "0000:17:00.0")
                     .bridge("0000:27:00.0")
                     .gpu("0000:28:00.0", "0000:27:00.0")
                     .nic("mlx5_1", "0000:29:00.0", "0000:27:00.0")
                     .facts();
    made.policy.policy.on_fail = OnFail::drain;
    auto& verdict = made.verdict;
    verdict.verdict = NodeVerdict::ok;
    verdict.why = "2 of 2 GPUs with GDR";
    nccl::Answer answer;
    answer.transport.dmabuf = nccl::Tristate::yes;
    answer.transport.dmabuf_why = "open NVIDIA kernel module";
    answer.transport.peermem_why = "no /sys/module/nvidia_peermem";
    for (std::size_t gpu = 0; gpu < 2; ++gpu) {
        const auto nic = "mlx5_" + std::to_string(gpu);
        nccl::GpuAnswer each;
        each.gpu = gpu;
        each.status = nccl::GpuStatus::gdr;
        each.nic = nic;
        each.selected = {nic};
        each.path = nccl::Path::PIX;
        each.via = nccl::Via::dmabuf;
        answer.gpus.push_back(each);
        nccl::NicAnswer used;
        used.name = nic;
        used.used = true;
        used.used_ports = {1};
        used.transport.dmabuf = nccl::Tristate::yes;
        used.transport.via = nccl::Via::dmabuf;
        answer.nics.push_back(used);
        for (std::size_t other = 0; other < 2; ++other) {
            const bool near = other == gpu;
            answer.pairs.push_back({gpu, "mlx5_" + std::to_string(other), near ? nccl::Path::PIX : nccl::Path::SYS,
                                    near, near, near ? nccl::Via::dmabuf : nccl::Via::none});
        }
    }
    verdict.answers.push_back(answer);
    return made;
}

/// The same with no transport.
inline HandMade staged() {
    auto made = healthy();
    auto& answer = made.verdict.answers.front();
    for (auto& gpu : answer.gpus) {
        gpu.status = nccl::GpuStatus::staged;
        gpu.via = nccl::Via::none;
    }
    for (auto& pair : answer.pairs) {
        pair.gdr_recv = pair.gdr_send = false;
        pair.via = nccl::Via::none;
    }
    answer.transport.dmabuf = nccl::Tristate::no;
    made.verdict.verdict = NodeVerdict::fail;
    made.verdict.why = "2 of 2 GPUs without GDR: peermem-missing";
    made.verdict.drain = true;
    made.verdict.drain_reason = "gdr: peermem-missing nvidia_peermem: not loaded; modprobe nvidia-peermem";
    Finding finding{.slug = "peermem-missing", .outcome = Outcome::fail, .subject = "nvidia_peermem"};
    finding.seen = "no /sys/module/nvidia_peermem";
    finding.why = "every byte is staged in host memory";
    finding.remedy = "modprobe nvidia-peermem";
    made.verdict.findings.push_back(finding);
    return made;
}

}  // namespace gdrcheck::test
