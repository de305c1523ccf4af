// The one primary finding while no transport reaches the NICs: peermem-missing, peermem-clash, peermem-no-nic,
// nccl-too-old, or dmabuf-off where policy requires DMA-BUF. Decision table: neither DMA-BUF nor a usable peer-memory
// client means that NCCL stages through host memory.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

struct Starved {
    std::vector<const nccl::NicAnswer*> nics;  ///< selected by those GPUs, no transport
    std::vector<std::size_t> gpus;             ///< a transport would help them
    bool others = false;                       ///< a GPU is staged whatever the transport
};

bool without_transport(const nccl::NicAnswer& nic) {
    return nic.transport.known && nic.transport.via == nccl::Via::none;
}

/// NICs over which the GPU's traffic goes, or would go once ports are ACTIVE.
std::vector<const nccl::NicAnswer*> nics_of(const CheckInput& input, const nccl::GpuAnswer& gpu, Cause cause) {
    if (cause != Cause::ports) return selected_nics(input.answer, gpu);
    std::vector<const nccl::NicAnswer*> nics;
    for (const auto* then : selected_nics(input.with_ports_up, *find_gpu(input.with_ports_up, gpu.gpu))) {
        const auto* now = find_nic(input.answer, then->name);
        if (now != nullptr) nics.push_back(now);
    }
    return nics;
}

Starved find_starved(const CheckInput& input) {
    Starved starved;
    const auto add = [&](const nccl::NicAnswer* nic) {
        if (without_transport(*nic) && std::find(starved.nics.begin(), starved.nics.end(), nic) == starved.nics.end()) {
            starved.nics.push_back(nic);
        }
    };
    for (const auto& gpu : input.answer.gpus) {
        const auto cause = cause_of(input, gpu);
        if (cause == Cause::distance || cause == Cause::one_direction) starved.others = true;
        if (cause != Cause::transport && cause != Cause::ports) continue;
        const auto nics = nics_of(input, gpu, cause);
        if (!std::any_of(nics.begin(), nics.end(), [](const auto* nic) { return without_transport(*nic); })) continue;
        starved.gpus.push_back(gpu.gpu);
        for (const auto* nic : nics) add(nic);
    }
    if (!starved.nics.empty() || !starved.others) return starved;
    // No GPU is starved by this alone; still said when no NIC at all has a transport, for then nothing can work.
    const auto& nics = input.answer.nics;
    const bool any_works =
        std::any_of(nics.begin(), nics.end(), [](const auto& nic) { return nic.used && !without_transport(nic); });
    if (any_works) return starved;
    for (const auto& nic : nics) {
        if (nic.used) add(&nic);
    }
    return starved;
}

std::string nic_names(const std::vector<const nccl::NicAnswer*>& nics) {
    std::vector<std::string> names;
    names.reserve(nics.size());
    for (const auto* nic : nics) names.push_back(nic->name);
    return enumerate(names);
}

std::string both_sides(const CheckInput& input, const nccl::NicAnswer& nic) {
    return fmt::format("{}; no DMA-BUF: {}", input.answer.transport.peermem_why, nic.transport.dmabuf_why);
}

Finding peermem_clash(const CheckInput& input, const nccl::NicAnswer& nic) {
    const auto* ours = input.facts.module("nvidia_peermem");
    Finding finding{.slug = "peermem-clash", .subject = "nv_peer_mem"};
    finding.seen = fmt::format("/sys/module/nv_peer_mem is loaded, nvidia_peermem is {}; {}",
                               ours == nullptr ? "not" : ours->state, both_sides(input, nic));
    finding.why =
        "both modules register under the name nv_mem: while the legacy one is loaded nvidia-peermem cannot register, "
        "and "
        "NCCL does not look for the legacy module itself";
    finding.remedy = "modprobe -r nv_peer_mem && modprobe nvidia-peermem";
    return finding;
}

Finding nccl_too_old(const CheckInput& input) {
    Finding finding{.slug = "nccl-too-old", .outcome = Outcome::fail, .subject = "nvidia_peermem"};
    finding.seen = fmt::format("{}; NCCL {} does not look at /sys/module/nvidia_peermem",
                               input.answer.transport.peermem_why, nccl::to_string(input.answer.version));
    finding.why =
        "NCCL before 2.23 believes only in files under /sys/kernel/mm/memory_peers, which RDMA stacks for kernels from "
        "6.6 on no longer create; peermem works and this NCCL stages all the same";
    finding.remedy = "use NCCL 2.23 or later, or the open NVIDIA kernel modules (DMA-BUF)";
    finding.severity_fixed = true;
    return finding;
}

Finding peermem_no_nic(const CheckInput& input, const Starved& starved) {
    const auto& nic = *starved.nics.front();
    const auto* device = find_rdma(input.facts, nic.name);
    Finding finding{.slug = "peermem-no-nic", .subject = nic_names(starved.nics)};
    finding.seen = fmt::format(
        "{}, but driver {} has no peer-memory API; no DMA-BUF: {}", input.answer.transport.peermem_why,
        device == nullptr || device->driver.empty() ? "(unknown)" : device->driver, nic.transport.dmabuf_why);
    finding.why =
        "NCCL takes peermem for a property of the host: it will register GPU memory with this NIC and fail with "
        "\"Bad address\" instead of staging";
    finding.remedy = "install the open NVIDIA kernel modules (DMA-BUF), or run with NCCL_NET_GDR_LEVEL=LOC";
    return finding;
}

Finding peermem_missing(const CheckInput& input, const nccl::NicAnswer& nic) {
    Finding finding{.slug = "peermem-missing", .subject = "nvidia_peermem"};
    finding.seen = both_sides(input, nic);
    finding.why =
        "without a peer-memory client and without DMA-BUF every byte between GPU and NIC is staged in host memory";
    finding.remedy = "modprobe nvidia-peermem";
    if (input.policy.policy.require == Require::peermem) {
        finding.seen = input.answer.transport.peermem_why + "; [policy] require = \"peermem\"";
        finding.why = "policy requires a peer-memory client on this node, DMA-BUF or not";
    } else if (!nic.transport.peermem_api) {
        const auto* device = find_rdma(input.facts, nic.name);
        finding.seen += fmt::format("; driver {} could not use peermem either",
                                    device == nullptr || device->driver.empty() ? "(unknown)" : device->driver);
        finding.remedy = "install the open NVIDIA kernel modules and a kernel whose NIC driver imports DMA-BUF";
    }
    return finding;
}

Finding dmabuf_required(const nccl::NicAnswer& nic) {
    Finding finding{.slug = "dmabuf-off", .outcome = Outcome::fail, .subject = nic.name};
    finding.seen = fmt::format("no DMA-BUF: {}; [policy] require = \"dmabuf\"", nic.transport.dmabuf_why);
    finding.why = "policy requires DMA-BUF on this node, peermem or not";
    finding.remedy = "install the open NVIDIA kernel modules (gdrcheck explain dmabuf-off)";
    finding.severity_fixed = true;
    return finding;
}

Finding primary_cause(const CheckInput& input, const Starved& starved) {
    const auto& transport = input.answer.transport;
    if (input.policy.policy.require == Require::dmabuf) return dmabuf_required(*starved.nics.front());
    const auto with_api = std::find_if(starved.nics.begin(), starved.nics.end(),
                                       [](const auto* nic) { return nic->transport.peermem_api; });
    const bool api = with_api != starved.nics.end();
    const auto& nic = api ? **with_api : *starved.nics.front();
    if (api && input.facts.module("nv_peer_mem") != nullptr && !transport.peermem_visible) {
        return peermem_clash(input, nic);
    }
    if (transport.peermem == nccl::PeermemState::absent) return peermem_missing(input, nic);
    if (!transport.peermem_visible) return api ? nccl_too_old(input) : peermem_missing(input, nic);
    return api ? peermem_missing(input, nic) : peermem_no_nic(input, starved);
}

/// One line for all NICs of which it is not known whether GPU memory reaches them.
std::vector<Finding> unknown_transport(const CheckInput& input) {
    std::vector<std::string> names;
    const nccl::NicAnswer* first = nullptr;
    for (const auto& nic : input.answer.nics) {
        if (!nic.used || nic.transport.known) continue;
        names.push_back(nic.name);
        if (first == nullptr) first = &nic;
    }
    if (first == nullptr || input.answer.gpus.empty()) return {};
    Finding finding{.slug = "peermem-missing", .outcome = Outcome::unknown, .subject = enumerate(names)};
    finding.seen =
        fmt::format("{}; DMA-BUF unknown: {}", input.answer.transport.peermem_why, first->transport.dmabuf_why);
    finding.why = "whether GPU memory reaches these NICs cannot be told from what could be read";
    finding.remedy = "modprobe nvidia-peermem, or gdrcheck node --deep as root";
    return {finding};
}

std::vector<Finding> run(const CheckInput& input) {
    auto findings = unknown_transport(input);
    if (!findings.empty()) return findings;
    const auto starved = find_starved(input);
    if (starved.nics.empty()) return {};
    auto finding = primary_cause(input, starved);
    finding.gpus = starved.gpus;
    if (starved.gpus.empty()) {
        finding.structural = true;
        finding.why += "; here the distance stages the GPUs anyway";
    }
    return {finding};
}

}  // namespace

extern const Check check_peermem;
const Check check_peermem{"check_peermem", run};

}  // namespace gdrcheck
