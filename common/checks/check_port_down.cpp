// Ports that are not ACTIVE: NCCL leaves them out without a word (net_ib.cc ncclIbInitDevices takes state 4 only).
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"
#include "common/facts/port_state.hpp"

namespace gdrcheck {
namespace {

std::string remedy_for(const RdmaDevice& device, const RdmaPort& port) {
    const bool link_up = port.phys_state.find("LinkUp") != std::string::npos;
    if (port.link_layer == "InfiniBand" && link_up) {
        return fmt::format("check the subnet manager: sminfo -C {} -P {}", device.name, port.number);
    }
    if (port.link_layer == "Ethernet" && !port.netdevs.empty()) {
        return fmt::format("ip link set {} up; ethtool {}", port.netdevs.front(), port.netdevs.front());
    }
    if (port.phys_state.find("Disabled") != std::string::npos) {
        return fmt::format("the port is disabled: ibportstate -C {} -D 0 {} enable", device.name, port.number);
    }
    return fmt::format("check cable and switch port: rdma link show {}/{}", device.name, port.number);
}

/// GPUs that would have GDR, or a NIC at all, through this device if its port were up.
std::vector<std::size_t> gpus_waiting_for(const CheckInput& input, const std::string& device) {
    std::vector<std::size_t> gpus;
    for (const auto& gpu : input.answer.gpus) {
        if (cause_of(input, gpu) != Cause::ports) continue;
        const auto* then = find_gpu(input.with_ports_up, gpu.gpu);
        const bool would_select = then->nic == device || std::find(then->selected.begin(), then->selected.end(),
                                                                   device) != then->selected.end();
        if (would_select || gpu.status == nccl::GpuStatus::no_nic || then->status == nccl::GpuStatus::relay) {
            gpus.push_back(gpu.gpu);
        }
    }
    return gpus;
}

Finding port_down(const CheckInput& input, const RdmaDevice& device, const RdmaPort& port) {
    Finding finding{.slug = "port-down", .outcome = Outcome::warn};
    finding.subject = fmt::format("{}/{}", device.name, port.number);
    finding.seen =
        fmt::format("/sys/class/infiniband/{}/ports/{}/state is {}", device.name, port.number, to_string(*port.state));
    if (!port.phys_state.empty()) finding.seen += ", phys_state " + port.phys_state;
    finding.severity_fixed = true;
    finding.gpus = gpus_waiting_for(input, device.name);
    finding.remedy = remedy_for(device, port);
    if (!finding.gpus.empty()) {
        finding.outcome = Outcome::fail;
        finding.why = fmt::format("NCCL uses ACTIVE ports only; this leaves {} without GDR",
                                  enumerate_gpus(input.facts, finding.gpus));
    } else if (named_in_compute(input.policy, device.name)) {
        finding.outcome = Outcome::fail;
        finding.why = "NCCL uses ACTIVE ports only, and [nics] compute names this device";
    } else {
        finding.why = "NCCL uses ACTIVE ports only and does not say that it leaves this one out";
    }
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    std::vector<Finding> findings;
    std::vector<std::string> unreadable;
    std::string unreadable_why;
    for (const auto& device : input.facts.rdma) {
        for (const auto& port : device.ports) {
            if (!is_meant_for_nccl(input, device, port)) continue;
            if (!port.state) {
                unreadable.push_back(fmt::format("{}/{}", device.name, port.number));
                if (unreadable_why.empty()) unreadable_why = port.state_why;
            } else if (*port.state != PortState::active) {
                findings.push_back(port_down(input, device, port));
            }
        }
    }
    if (!unreadable.empty()) {
        Finding finding{.slug = "port-down", .outcome = Outcome::unknown, .subject = enumerate(unreadable)};
        finding.seen = unreadable_why.empty() ? "port state could not be read" : unreadable_why;
        finding.why = "whether NCCL will use these ports is not known";
        finding.remedy = "rdma link show";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace

extern const Check check_port_down;
const Check check_port_down{"check_port_down", run};

}  // namespace gdrcheck
