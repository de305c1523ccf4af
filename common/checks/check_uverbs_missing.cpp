// A NIC without its /dev/infiniband/uverbsN: libibverbs does not list it, so NCCL never sees it.
#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"

namespace gdrcheck {
namespace {

bool would_be_used(const CheckInput& input, const RdmaDevice& device) {
    return std::any_of(device.ports.begin(), device.ports.end(), [&](const auto& port) {
        return port.state == PortState::active && is_meant_for_nccl(input, device, port);
    });
}

Finding missing(const RdmaDevice& device) {
    Finding finding{.slug = "uverbs-missing", .subject = device.name};
    finding.seen = device.uverbs.empty()
                       ? fmt::format("no /sys/class/infiniband_verbs/uverbs* belongs to {}", device.name)
                       : fmt::format("/dev/infiniband/{} is not there", device.uverbs);
    finding.why = "libibverbs opens a NIC through this file; without it NCCL does not see the NIC";
    finding.remedy = "modprobe ib_uverbs && udevadm trigger --subsystem-match=infiniband_verbs";
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    std::vector<Finding> findings;
    std::vector<std::string> unread;
    std::string why;
    for (const auto& device : input.facts.rdma) {
        if (!would_be_used(input, device)) continue;
        if (!device.uverbs_node.known()) {
            unread.push_back(device.name);
            if (why.empty()) why = device.uverbs_node.why;
        } else if (!*device.uverbs_node.value) {
            findings.push_back(missing(device));
        }
    }
    if (!unread.empty()) {
        Finding finding{.slug = "uverbs-missing", .outcome = Outcome::unknown, .subject = enumerate(unread)};
        finding.seen = why.empty() ? "/dev/infiniband could not be read" : why;
        finding.why = "whether libibverbs can open these NICs is not known";
        finding.remedy = "ls -l /dev/infiniband";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace

extern const Check check_uverbs_missing;
const Check check_uverbs_missing{"check_uverbs_missing", run};

}  // namespace gdrcheck
