#include "common/report/labels.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "common/facts/port_state.hpp"

namespace gdrcheck::report {

const nccl::Answer& first_answer(const Verdict& verdict) {
    static const nccl::Answer none{};
    return verdict.answers.empty() ? none : verdict.answers.front();
}

const RdmaDevice* find_device(const NodeFacts& facts, const std::string& name) {
    const auto found =
        std::find_if(facts.rdma.begin(), facts.rdma.end(), [&](const auto& device) { return device.name == name; });
    return found == facts.rdma.end() ? nullptr : &*found;
}

const char* port_state(const RdmaPort& port) {
    return port.state ? to_string(*port.state) : "unknown";
}

bool one_domain(const NodeFacts& facts) {
    return std::all_of(facts.pci.begin(), facts.pci.end(), [](const auto& entry) { return entry.first.domain == 0; });
}

std::string address_label(const PciAddress& address, bool without_domain) {
    auto text = to_string(address);
    return without_domain && text.starts_with("0000:") ? text.substr(5) : text;
}

std::string rate_label(double gbps) {
    return fmt::format("{:g}", gbps);
}

std::string counted(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace gdrcheck::report
