// Facts, policy and NCCL's answers by hand: a check is tested without the model.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/checks/check.hpp"
#include "tests/support/facts_builder.hpp"

namespace gdrcheck::test {

struct Scene {
    NodeFacts facts;
    Policy policy;
    nccl::Answer answer;
    std::vector<nccl::Answer> others;  ///< further assumed versions
    nccl::Answer with_transport;
    nccl::Answer with_ports_up;

    /// Every GPU has GDR by DMA-BUF over the NIC of its own number, at PIX.
    explicit Scene(const FactsBuilder& builder) : facts(builder.facts()) {
        answer.transport.dmabuf = nccl::Tristate::yes;
        answer.transport.peermem_why = "no /sys/module/nvidia_peermem";
        for (const auto& device : facts.rdma) {
            nccl::NicAnswer nic;
            nic.name = device.name;
            nic.pci = device.pci;
            nic.used = true;
            nic.used_ports = {1};
            nic.transport = {.dmabuf = nccl::Tristate::yes, .peermem_api = true, .via = nccl::Via::dmabuf};
            answer.nics.push_back(nic);
        }
        for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
            nccl::GpuAnswer gpu{.gpu = i, .status = nccl::GpuStatus::gdr};
            for (const auto& device : facts.rdma) {
                answer.pairs.push_back({.gpu = i,
                                        .nic = device.name,
                                        .path = nccl::Path::PIX,
                                        .gdr_recv = true,
                                        .gdr_send = true,
                                        .via = nccl::Via::dmabuf});
            }
            if (!facts.rdma.empty()) {
                gpu.nic = facts.rdma[i % facts.rdma.size()].name;
                gpu.selected = {gpu.nic};
                gpu.path = nccl::Path::PIX;
                gpu.via = nccl::Via::dmabuf;
            }
            answer.gpus.push_back(gpu);
        }
        settle();
    }

    /// What holds now holds with a transport and ACTIVE ports too.
    void settle() { with_transport = with_ports_up = answer; }

    /// No NIC has a transport; with one all would be as it was.
    void starve(std::string dmabuf_why = "proprietary NVIDIA kernel module") {
        settle();
        answer.transport.dmabuf = nccl::Tristate::no;
        for (auto& nic : answer.nics) {
            nic.transport.dmabuf = nccl::Tristate::no;
            nic.transport.dmabuf_why = dmabuf_why;
            nic.transport.via = nccl::Via::none;
        }
        for (auto& gpu : answer.gpus) gpu.status = nccl::GpuStatus::staged;
    }

    /// Every GPU is at `path` from every NIC, and staged for that.
    void move_away(nccl::Path path) {
        for (auto& gpu : answer.gpus) {
            gpu.status = nccl::GpuStatus::staged;
            gpu.path = path;
        }
        for (auto& pair : answer.pairs) {
            pair.path = path;
            pair.gdr_recv = pair.gdr_send = false;
        }
        settle();
    }

    /// GPUDirect RDMA by peermem alone.
    void by_peermem(std::string dmabuf_why = "proprietary NVIDIA kernel module") {
        answer.transport.dmabuf = nccl::Tristate::no;
        answer.transport.peermem = nccl::PeermemState::loaded;
        answer.transport.peermem_visible = true;
        answer.transport.peermem_why = "nvidia_peermem is live";
        for (auto& nic : answer.nics) {
            nic.transport.via = nccl::Via::peermem;
            nic.transport.dmabuf = nccl::Tristate::no;
            nic.transport.dmabuf_why = dmabuf_why;
        }
        settle();
    }

    [[nodiscard]] std::vector<Finding> run(std::string_view check) const {
        std::vector<nccl::Answer> all{answer};
        all.insert(all.end(), others.begin(), others.end());
        const CheckInput input{facts, policy, answer, all, with_transport, with_ports_up};
        for (const auto* candidate : all_checks()) {
            if (candidate->name == check) return candidate->run(input);
        }
        throw std::invalid_argument("no check " + std::string(check));
    }

    [[nodiscard]] std::vector<Finding> run_all() const {
        std::vector<Finding> findings;
        for (const auto* check : all_checks()) {
            auto found = run(check->name);
            findings.insert(findings.end(), found.begin(), found.end());
        }
        return findings;
    }
};

/// Two GPUs, each under a switch with a NIC.
inline FactsBuilder two_switches() {
    return FactsBuilder{}
        .bridge("0000:16:01.0")
        .bridge("0000:17:00.0", "0000:16:01.0")
        .bridge("0000:18:00.0", "0000:17:00.0")
        .bridge("0000:18:01.0", "0000:17:00.0")
        .gpu("0000:19:00.0", "0000:18:00.0")
        .nic("mlx5_0", "0000:1a:00.0", "0000:18:01.0")
        .bridge("0000:36:01.0")
        .bridge("0000:37:00.0", "0000:36:01.0")
        .bridge("0000:38:00.0", "0000:37:00.0")
        .bridge("0000:38:01.0", "0000:37:00.0")
        .gpu("0000:39:00.0", "0000:38:00.0")
        .nic("mlx5_1", "0000:3a:00.0", "0000:38:01.0");
}

inline bool mentions(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace gdrcheck::test
