// An IOMMU that translates the addresses of GPUs or NICs on bare metal, which CUDA does not support.
#include <fmt/core.h>

#include "common/checks/causes.hpp"
#include "common/checks/pci_path.hpp"

namespace gdrcheck {
namespace {

std::string passthrough_option(const Cpu& cpu) {
    return cpu.arch == "arm64" ? "iommu.passthrough=1" : "iommu=pt";
}

std::vector<Finding> run(const CheckInput& input) {
    if (is_virtual_machine(input.facts)) return {};  // there translation is the hypervisor's and supported
    std::vector<std::string> devices;
    std::string type;
    const auto look_at = [&](const PciAddress& address) {
        const auto* function = input.facts.function(address);
        if (function == nullptr || !function->iommu_group_type.starts_with("DMA")) return;
        devices.push_back(to_string(address));
        if (type.empty()) type = function->iommu_group_type;
    };
    for (const auto& gpu : input.answer.gpus) {
        if (gpu.gpu < input.facts.gpus.size()) look_at(input.facts.gpus[gpu.gpu].pci);
    }
    for (const auto& nic : input.answer.nics) {
        if (nic.used && nic.pci) look_at(*nic.pci);
    }
    if (devices.empty()) return {};
    Finding finding{.slug = "iommu-translate", .subject = devices.front()};
    finding.seen = fmt::format("/sys/bus/pci/devices/{}/iommu_group/type is {}", devices.front(), type);
    if (devices.size() > 1) finding.seen += fmt::format(", and {} other GPUs and NICs", devices.size() - 1);
    finding.why =
        "CUDA supports no peer-to-peer transfers under a translating IOMMU on bare metal: slow, or corrupt data";
    finding.remedy = fmt::format("boot with {}, or with the IOMMU off", passthrough_option(input.facts.cpu));
    return {finding};
}

}  // namespace

extern const Check check_iommu_translate;
const Check check_iommu_translate{"check_iommu_translate", run};

}  // namespace gdrcheck
