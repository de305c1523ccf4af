// How people name the parts of a node, the same in every report.
#pragma once

#include <string>

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/verdict/verdict.hpp"

namespace gdrcheck::report {

/// The first assumed version's answer: the one that pairs and statuses are of.
[[nodiscard]] const nccl::Answer& first_answer(const Verdict& verdict);

[[nodiscard]] const RdmaDevice* find_device(const NodeFacts& facts, const std::string& name);

/// "ACTIVE"; "unknown" where it could not be read.
[[nodiscard]] const char* port_state(const RdmaPort& port);

/// Every function of the node is in PCI domain 0: then addresses are shown without it, as lspci does.
[[nodiscard]] bool one_domain(const NodeFacts& facts);
[[nodiscard]] std::string address_label(const PciAddress& address, bool without_domain);

/// "400", "12.5"
[[nodiscard]] std::string rate_label(double gbps);

/// "1 GPU", "8 GPUs"
[[nodiscard]] std::string counted(std::size_t count, const char* noun);

}  // namespace gdrcheck::report
