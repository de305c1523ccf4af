// The environment a job gets: facts, NCCL's answer and policy in, variables out. Nothing is set here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {

using Variable = std::pair<std::string, std::string>;

struct GpuEnvironment {
    std::size_t gpu = 0;              ///< index in NodeFacts::gpus
    std::vector<Variable> variables;  ///< GDRCHECK_GPU, _NIC, _PATH, _GDR, opt-ins
};

struct EnvPlan {
    std::vector<Variable> node;         ///< the same for every rank of the node
    std::vector<GpuEnvironment> gpus;   ///< what differs per GPU
    std::vector<std::string> withheld;  ///< "NCCL_IB_HCA: set in /etc/nccl.conf:2", for people
};

/// Only from policy and machine facts, never from momentary port state. Nothing that /etc/nccl.conf sets; nothing at
/// all when that file is unreadable.
[[nodiscard]] EnvPlan plan_environment(const NodeFacts& facts, const nccl::Answer& answer, const Policy& policy);

}  // namespace gdrcheck
