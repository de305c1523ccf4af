// Ports that NCCL uses and that are slower than the site expects, or than ports like them.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

constexpr double tolerance_gbps = 0.5;  ///< "2.5 Gb/sec" and the like are rounded

struct UsedPort {
    const RdmaDevice* device;
    const RdmaPort* port;
};

/// Ports that ought to be equal: same link layer, same card.
auto family(const UsedPort& used) {
    return std::tuple(used.port->link_layer, used.device->hca_type, used.device->board_id);
}

std::vector<UsedPort> used_ports(const CheckInput& input) {
    std::vector<UsedPort> ports;
    for (const auto& nic : input.answer.nics) {
        const auto* device = find_rdma(input.facts, nic.name);
        if (!nic.used || device == nullptr) continue;
        for (const auto& port : device->ports) {
            const auto& numbers = nic.used_ports;
            if (std::find(numbers.begin(), numbers.end(), port.number) != numbers.end())
                ports.push_back({device, &port});
        }
    }
    return ports;
}

Finding slow(const UsedPort& used, std::string than) {
    const auto& [device, port] = used;
    Finding finding{.slug = "port-slow", .subject = fmt::format("{}/{}", device->name, port->number)};
    finding.seen = fmt::format("/sys/class/infiniband/{}/ports/{}/rate is {}, {}", device->name, port->number,
                               port->rate.empty() ? fmt::format("{:g} Gb/s", port->gbps) : port->rate, than);
    finding.why = "one slow port slows every ring that crosses it, and NCCL moves GPUs to faster NICs further away";
    finding.remedy = port->link_layer == "Ethernet" && !port->netdevs.empty()
                         ? fmt::format("ethtool {}", port->netdevs.front())
                         : fmt::format("mlxlink -d {} -p {} -c", device->name, port->number);
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    const auto ports = used_ports(input);
    std::map<decltype(family(ports.front())), double> fastest;
    for (const auto& used : ports) {
        auto& best = fastest[family(used)];
        best = std::max(best, used.port->gbps);
    }
    const auto expected = input.policy.expect.gbps.value_or(0);
    std::vector<Finding> findings;
    std::vector<std::string> unread;
    for (const auto& used : ports) {
        const auto gbps = used.port->gbps;
        const auto siblings = fastest[family(used)];
        if (gbps <= 0) {
            if (expected > 0 || siblings > 0)
                unread.push_back(fmt::format("{}/{}", used.device->name, used.port->number));
        } else if (gbps < expected - tolerance_gbps) {
            findings.push_back(slow(used, fmt::format("[expect] gbps = {:g}", expected)));
        } else if (gbps < siblings - tolerance_gbps) {
            findings.push_back(
                slow(used, fmt::format("other {} ports run at {:g} Gb/s",
                                       used.device->hca_type.empty() ? "such" : used.device->hca_type, siblings)));
        }
    }
    if (!unread.empty()) {
        Finding finding{.slug = "port-slow", .outcome = Outcome::unknown, .subject = enumerate(unread)};
        finding.seen = "no rate in /sys/class/infiniband/*/ports/*/rate";
        finding.why = "whether these ports run at full speed is not known";
        finding.remedy = "rdma link show";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace

extern const Check check_port_slow;
const Check check_port_slow{"check_port_slow", run};

}  // namespace gdrcheck
