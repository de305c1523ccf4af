// Fewer RDMA devices than the site says there must be.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

constexpr std::uint32_t class_network = 0x02;
constexpr std::uint16_t vendor_mellanox = 0x15b3;

/// Mellanox network functions that no RDMA device belongs to: the driver is missing or gave up on them.
std::vector<std::string> functions_without_device(const NodeFacts& facts) {
    std::vector<std::string> idle;
    for (const auto& entry : facts.pci) {
        const auto& function = entry.second;
        if (function.vendor != vendor_mellanox || function.class_code >> 16 != class_network) continue;
        const bool has_device = std::any_of(facts.rdma.begin(), facts.rdma.end(),
                                            [&](const auto& device) { return device.pci == function.address; });
        if (has_device) continue;
        idle.push_back(fmt::format("{} ({})", to_string(function.address),
                                   function.driver.empty() ? "no driver" : "driver " + function.driver));
    }
    return idle;
}

std::string hint(const NodeFacts& facts) {
    const auto idle = functions_without_device(facts);
    return idle.empty() ? "" : "; on the PCI bus without an RDMA device: " + enumerate(idle, 3);
}

Finding missing(const CheckInput& input, std::string subject, std::string seen) {
    Finding finding{.slug = "rdma-missing", .subject = std::move(subject), .seen = std::move(seen)};
    finding.seen += hint(input.facts);
    finding.why = "a NIC that has no RDMA device does not exist for NCCL; its GPUs share the others or use sockets";
    finding.remedy = "lspci -nn -d 15b3: ; dmesg | grep mlx5; modprobe mlx5_ib";
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    const auto& facts = input.facts;
    if (!readable(facts.rdma_readable)) {
        Finding finding{.slug = "rdma-missing", .outcome = Outcome::unknown, .subject = "/sys/class/infiniband"};
        finding.seen = facts.rdma_readable.why.empty() ? "could not be listed" : facts.rdma_readable.why;
        finding.why = "which NICs this node has is not known";
        finding.remedy = "rdma link show";
        return {finding};
    }
    std::vector<Finding> findings;
    const auto here = std::count_if(facts.rdma.begin(), facts.rdma.end(),
                                    [&](const auto& device) { return in_policy(input.policy, device.name); });
    const auto expected = input.policy.expect.nics.value_or(0);
    if (here < expected) {
        findings.push_back(
            missing(input, "/sys/class/infiniband",
                    fmt::format("{} RDMA {}, [expect] nics = {}", here, here == 1 ? "device" : "devices", expected)));
    }
    for (const auto& name : input.policy.nics.compute) {
        if (is_wildcard(name) || find_rdma(facts, name) != nullptr) continue;
        findings.push_back(
            missing(input, name, fmt::format("/sys/class/infiniband/{} is not there, [nics] compute names it", name)));
    }
    if (!findings.empty()) findings.front().gpus = gpus_with_cause(input, Cause::no_device);
    return findings;
}

}  // namespace

extern const Check check_rdma_missing;
const Check check_rdma_missing{"check_rdma_missing", run};

}  // namespace gdrcheck
