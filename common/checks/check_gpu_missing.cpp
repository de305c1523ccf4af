// GPUs that should be here and are not: fewer than expected, excluded from the driver, or gone from the bus.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

bool usable(const Gpu& gpu) {
    return !gpu.excluded;
}

Finding excluded(const CheckInput& input, std::size_t index, bool expected_met) {
    const auto address = gpu_address(input.facts, index);
    const bool scoped = input.answer.gpus.size() < input.facts.gpus.size();
    Finding finding{.slug = "gpu-missing", .outcome = Outcome::warn, .subject = address};
    finding.seen = fmt::format("/proc/driver/nvidia/gpus/{}/information says GPU Excluded: Yes", address);
    finding.why = "CUDA does not show an excluded GPU to any program";
    finding.remedy = "grep -r NVreg_ExcludedGpus /etc/modprobe.d";
    if ((scoped && find_gpu(input.answer, index) != nullptr) || !expected_met) finding.outcome = Outcome::fail;
    finding.severity_fixed = true;
    return finding;
}

/// The reader of /proc/driver/nvidia/gpus says "0000:18:00.0: known to the driver, not on the PCI bus".
std::vector<Finding> fallen_off(const NodeFacts& facts) {
    constexpr std::string_view phrase = ": known to the driver, not on the PCI bus";
    std::vector<Finding> findings;
    const std::string_view text = facts.nvidia_why;
    for (auto at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
        const auto before = text.substr(0, at);
        const auto blank = before.find_last_of(" ;");
        const auto address = parse_pci_address(blank == std::string_view::npos ? before : before.substr(blank + 1));
        if (!address) continue;
        Finding finding{.slug = "gpu-missing", .subject = to_string(*address)};
        finding.seen = fmt::format("/proc/driver/nvidia/gpus/{} is there, /sys/bus/pci/devices/{} is not",
                                   finding.subject, finding.subject);
        finding.why = "a GPU that fell off the bus ends the job that gets it";
        finding.remedy = "dmesg | grep -E 'NVRM|Xid|AER'";
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> run(const CheckInput& input) {
    const auto& facts = input.facts;
    if (!readable(facts.pci_readable)) {
        Finding finding{.slug = "gpu-missing", .outcome = Outcome::unknown, .subject = "/sys/bus/pci/devices"};
        finding.seen = facts.pci_readable.why.empty() ? "could not be listed" : facts.pci_readable.why;
        finding.why = "which GPUs this node has is not known";
        finding.remedy = "lspci -nn -d 10de:";
        return {finding};
    }
    auto findings = fallen_off(facts);
    const auto here = std::count_if(facts.gpus.begin(), facts.gpus.end(), usable);
    const auto expected = input.policy.expect.gpus.value_or(0);
    if (here < expected) {
        Finding finding{.slug = "gpu-missing", .subject = "/sys/bus/pci/devices"};
        finding.seen = fmt::format("{} {}, [expect] gpus = {}", here, here == 1 ? "GPU" : "GPUs", expected);
        finding.why = "a GPU that fell off the bus ends the job that gets it";
        finding.remedy = "nvidia-smi -L; dmesg | grep -E 'NVRM|AER'; lspci -nn -d 10de:";
        findings.push_back(std::move(finding));
    }
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
        if (!usable(facts.gpus[i])) findings.push_back(excluded(input, i, here >= expected));
    }
    return findings;
}

}  // namespace

extern const Check check_gpu_missing;
const Check check_gpu_missing{"check_gpu_missing", run};

}  // namespace gdrcheck
