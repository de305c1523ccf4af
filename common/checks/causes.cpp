#include "common/checks/causes.hpp"

#include <algorithm>

#include "common/base/glob.hpp"
#include "common/nccl/settings.hpp"

namespace gdrcheck {
namespace {

bool gives_gdr(const nccl::Answer& answer, std::size_t gpu) {
    const auto* found = find_gpu(answer, gpu);
    return found != nullptr && has_gdr(found->status);
}

/// Receives go by GDR and sends do not: ncclTopoCheckGdr() refuses reads by a GPU below compute capability 8.0 that has
/// no NVLink peer (before 2.19 by any GPU without one).
bool writes_only(const nccl::Answer& answer, const nccl::GpuAnswer& gpu) {
    const auto* pair = find_pair(answer, gpu.gpu, gpu.nic);
    return pair != nullptr && pair->gdr_recv && !pair->gdr_send;
}

}  // namespace

bool lacks_gdr(nccl::GpuStatus status) {
    return status == nccl::GpuStatus::staged || status == nccl::GpuStatus::no_nic;
}

bool has_gdr(nccl::GpuStatus status) {
    return status == nccl::GpuStatus::gdr || status == nccl::GpuStatus::relay;
}

Cause cause_of(const CheckInput& input, const nccl::GpuAnswer& gpu) {
    if (!lacks_gdr(gpu.status)) return Cause::none;
    if (!gpu.model.gdr) return Cause::gpu_model;
    if (gives_gdr(input.with_transport, gpu.gpu)) return Cause::transport;
    if (gives_gdr(input.with_ports_up, gpu.gpu)) return Cause::ports;
    const auto* at_best = find_gpu(input.with_ports_up, gpu.gpu);
    if (at_best == nullptr || at_best->status == nccl::GpuStatus::no_nic) return Cause::no_device;
    if (gpu.status == nccl::GpuStatus::no_nic) return Cause::ports;
    return writes_only(input.with_ports_up, *at_best) ? Cause::one_direction : Cause::distance;
}

bool any_gpu_can(const CheckInput& input) {
    const auto& gpus = input.answer.gpus;
    return std::any_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.model.gdr; });
}

std::vector<std::size_t> gpus_with_cause(const CheckInput& input, Cause cause) {
    std::vector<std::size_t> gpus;
    for (const auto& gpu : input.answer.gpus) {
        if (cause_of(input, gpu) == cause) gpus.push_back(gpu.gpu);
    }
    return gpus;
}

const nccl::GpuAnswer* find_gpu(const nccl::Answer& answer, std::size_t gpu) {
    const auto found = std::find_if(answer.gpus.begin(), answer.gpus.end(),
                                    [&](const auto& candidate) { return candidate.gpu == gpu; });
    return found == answer.gpus.end() ? nullptr : &*found;
}

const nccl::NicAnswer* find_nic(const nccl::Answer& answer, std::string_view name) {
    const auto found =
        std::find_if(answer.nics.begin(), answer.nics.end(), [&](const auto& nic) { return nic.name == name; });
    return found == answer.nics.end() ? nullptr : &*found;
}

const nccl::Pair* find_pair(const nccl::Answer& answer, std::size_t gpu, std::string_view nic) {
    const auto found = std::find_if(answer.pairs.begin(), answer.pairs.end(),
                                    [&](const auto& pair) { return pair.gpu == gpu && pair.nic == nic; });
    return found == answer.pairs.end() ? nullptr : &*found;
}

const RdmaDevice* find_rdma(const NodeFacts& facts, std::string_view name) {
    const auto found =
        std::find_if(facts.rdma.begin(), facts.rdma.end(), [&](const auto& device) { return device.name == name; });
    return found == facts.rdma.end() ? nullptr : &*found;
}

std::vector<const nccl::NicAnswer*> selected_nics(const nccl::Answer& answer, const nccl::GpuAnswer& gpu) {
    std::vector<const nccl::NicAnswer*> nics;
    const auto add = [&](std::string_view name) {
        const auto* nic = find_nic(answer, name);
        if (nic != nullptr && std::find(nics.begin(), nics.end(), nic) == nics.end()) nics.push_back(nic);
    };
    add(gpu.nic);
    for (const auto& name : gpu.selected) add(name);
    return nics;
}

bool in_policy(const Policy& policy, std::string_view nic) {
    const auto matches = [&](const std::string& pattern) { return glob_matches(pattern, nic); };
    const auto& [compute, exclude] = policy.nics;
    if (std::any_of(exclude.begin(), exclude.end(), matches)) return false;
    return compute.empty() || std::any_of(compute.begin(), compute.end(), matches);
}

bool named_in_compute(const Policy& policy, std::string_view nic) {
    const auto& compute = policy.nics.compute;
    return !is_wildcard(nic) && std::find(compute.begin(), compute.end(), nic) != compute.end();
}

bool is_meant_for_nccl(const CheckInput& input, const RdmaDevice& device, const RdmaPort& port) {
    if (!in_policy(input.policy, device.name)) return false;
    const auto* filter = input.facts.nccl_setting("NCCL_IB_HCA");
    return filter == nullptr || nccl::parse_hca_filter(*filter).takes(device.name, port.number);
}

bool expects_nics(const Policy& policy) {
    const auto& compute = policy.nics.compute;
    return policy.expect.nics.value_or(0) > 0 ||
           std::any_of(compute.begin(), compute.end(), [](const auto& pattern) { return !is_wildcard(pattern); });
}

bool is_wildcard(std::string_view pattern) {
    return pattern.find_first_of("*?[") != std::string_view::npos;
}

bool readable(const Reading<bool>& reading) {
    return reading.value.value_or(false);
}

std::string enumerate(const std::vector<std::string>& names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
}

std::string gpu_address(const NodeFacts& facts, std::size_t gpu) {
    return gpu < facts.gpus.size() ? to_string(facts.gpus[gpu].pci) : "GPU " + std::to_string(gpu);
}

std::string enumerate_gpus(const NodeFacts& facts, const std::vector<std::size_t>& gpus) {
    if (gpus.empty()) return "no GPU";
    if (gpus.size() == 1) return "GPU " + gpu_address(facts, gpus.front());
    const auto more = gpus.size() - 1;
    return "GPU " + gpu_address(facts, gpus.front()) + " and " + std::to_string(more) +
           (more == 1 ? " other" : " others");
}

}  // namespace gdrcheck
