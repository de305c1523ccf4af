// The same node with one thing put right: what NCCL would answer then tells what a GPU is staged for.
#pragma once

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {

/// Every transport of this node works: client registered, open GPU driver, and every NIC imports DMA-BUF.
[[nodiscard]] NodeFacts with_working_transport(NodeFacts facts);
[[nodiscard]] nccl::Options with_working_transport(nccl::Options options, const NodeFacts& facts);

/// Every port whose state is known is ACTIVE, at the rate of its fastest sibling (a DOWN port shows a default rate).
[[nodiscard]] NodeFacts with_active_ports(NodeFacts facts);

/// Every port whose state could not be read is ACTIVE: what changes by it is not known.
[[nodiscard]] NodeFacts with_unread_ports_active(NodeFacts facts);

}  // namespace gdrcheck
