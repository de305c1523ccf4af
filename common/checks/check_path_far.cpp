// GPUs that distance stages, and NCCL's own misreadings of where a NIC sits.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"
#include "common/checks/pci_path.hpp"

namespace gdrcheck {
namespace {

constexpr nccl::Version first_with_c2c{2, 27, 3};  // path type P2C, NCCL_NET_GDR_C2C on by default

const nccl::Pair* nearest_pair(const nccl::Answer& answer, std::size_t gpu) {
    const nccl::Pair* nearest = nullptr;
    for (const auto& pair : answer.pairs) {
        if (pair.gpu == gpu && (nearest == nullptr || pair.path < nearest->path)) nearest = &pair;
    }
    return nearest;
}

std::string in_words(nccl::Path path) {
    switch (path) {
        case nccl::Path::PHB:
            return "through the CPU's host bridge, no common PCIe switch";
        case nccl::Path::SYS:
            return "through the link between CPU sockets or NUMA nodes";
        case nccl::Path::P2C:
            return "through the CPU the GPU is linked to by NVLink-C2C";
        case nccl::Path::PXB:
            return "through several PCIe switches";
        case nccl::Path::DIS:
            return "not connected in NCCL's topology";
        default:
            return "";
    }
}

/// What puts the distance right, most particular first.
std::string remedy_for_distance(const CheckInput& input, const nccl::GpuAnswer& gpu, nccl::Path path) {
    const auto* function =
        gpu.gpu < input.facts.gpus.size() ? input.facts.function(input.facts.gpus[gpu.gpu].pci) : nullptr;
    if (gpu.model.c2c && input.answer.version < first_with_c2c) {
        return "use NCCL 2.27 or later, which uses GPUDirect RDMA over NVLink-C2C";
    }
    if (input.answer.topology_used.empty() &&
        (is_virtual_machine(input.facts) || (function != nullptr && upstream_bridges(*function).empty()))) {
        return "install the cloud vendor's topology file and set NCCL_TOPO_FILE in /etc/nccl.conf";
    }
    return fmt::format("compare slots with gdrcheck topo; NCCL_NET_GDR_LEVEL={} only after measuring",
                       nccl::to_string(path == nccl::Path::DIS ? nccl::Path::SYS : path));
}

Finding too_far(const CheckInput& input, const nccl::GpuAnswer& gpu) {
    const auto& best = input.with_ports_up;  // what remains when transport and ports are put right
    const auto* then = find_gpu(best, gpu.gpu);
    const auto& chosen = then != nullptr && !then->nic.empty() ? *then : gpu;
    Finding finding{.slug = "path-far", .subject = gpu_address(input.facts, gpu.gpu), .structural = true};
    finding.gpus = {gpu.gpu};
    const auto words = in_words(chosen.path);
    finding.seen = fmt::format("{} is {}{}{}", chosen.nic.empty() ? "the nearest NIC" : chosen.nic,
                               nccl::to_string(chosen.path), words.empty() ? "" : ": ", words);
    finding.why = "NCCL's default distance for GPUDirect RDMA is PXB, and no NVLink peer has a NIC that near";
    finding.remedy = remedy_for_distance(input, gpu, chosen.path);
    const auto* nearest = nearest_pair(best, gpu.gpu);
    if (nearest != nullptr && nearest->path < chosen.path && nearest->gdr_recv && nearest->gdr_send) {
        finding.seen += fmt::format("; {} is nearer ({}), but NCCL chooses by bandwidth first", nearest->nic,
                                    nccl::to_string(nearest->path));
        finding.remedy =
            fmt::format("leave the far NIC out: [nics] exclude = [\"{}\"], NCCL_IB_HCA=^={}", chosen.nic, chosen.nic);
    }
    return finding;
}

Finding mixed(const CheckInput& input, const nccl::GpuAnswer& gpu) {
    Finding finding{.slug = "path-far",
                    .outcome = Outcome::warn,
                    .subject = gpu_address(input.facts, gpu.gpu),
                    .structural = true,
                    .severity_fixed = true};
    std::vector<std::string> parts;
    for (const auto& name : gpu.selected) {
        const auto* pair = find_pair(input.answer, gpu.gpu, name);
        if (pair == nullptr) continue;
        const bool gdr = pair->gdr_recv && pair->gdr_send;
        parts.push_back(fmt::format("{} {} ({})", name, nccl::to_string(pair->path), gdr ? "GDR" : "staged"));
    }
    finding.seen = "NCCL spreads this GPU's channels over " + enumerate(parts);
    finding.why = "the channels on the NIC without GDR are staged in host memory and slow the others down";
    finding.remedy = "leave NICs out that no GPU reaches by GDR: [nics] exclude in gdrcheck.toml";
    return finding;
}

/// GPUs without GDR by it: a working transport would not help them. That NCCL crashes over it counts as much.
std::vector<std::size_t> gpus_lost(const CheckInput& input, const nccl::Misreading& misreading) {
    std::vector<std::size_t> gpus;
    for (const auto gpu : misreading.gpus) {
        const auto* then = find_gpu(input.with_transport, gpu);
        if (then != nullptr && then->model.gdr && !has_gdr(then->status)) gpus.push_back(gpu);
    }
    return gpus;
}

Finding misread(const CheckInput& input, const nccl::Misreading& misreading) {
    Finding finding{.slug = "path-far",
                    .outcome = Outcome::warn,
                    .subject = misreading.nic,
                    .seen = misreading.text,
                    .remedy = misreading.remedy,
                    .structural = true,
                    .severity_fixed = true};
    finding.gpus = gpus_lost(input, misreading);
    if (!finding.gpus.empty()) finding.outcome = Outcome::fail;
    switch (misreading.kind) {
        case nccl::Misreading::Kind::misattached:
            finding.why =
                "NCCL rewrites a NIC's address to function 0 and does not find it there, so it guesses a place";
            break;
        case nccl::Misreading::Kind::collides_with_gpu:
            finding.why = "NCCL rewrites a NIC's address and lands on a GPU's: its topology is wrong, and it may crash";
            break;
        case nccl::Misreading::Kind::merged_cards:
            finding.why = "NCCL rewrites both addresses to the same one and takes two cards for one";
            break;
    }
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    std::vector<Finding> findings;
    std::vector<std::size_t> explained;
    for (const auto& misreading : input.answer.misreadings) {
        findings.push_back(misread(input, misreading));
        explained.insert(explained.end(), findings.back().gpus.begin(), findings.back().gpus.end());
    }
    for (const auto& gpu : input.answer.gpus) {
        const bool told = std::find(explained.begin(), explained.end(), gpu.gpu) != explained.end();
        if (cause_of(input, gpu) == Cause::distance && !told) findings.push_back(too_far(input, gpu));
        if (gpu.mixed && !lacks_gdr(gpu.status)) findings.push_back(mixed(input, gpu));
    }
    return findings;
}

}  // namespace

extern const Check check_path_far;
const Check check_path_far{"check_path_far", run};

}  // namespace gdrcheck
