// Virtual NICs: ports that NCCL 2.24 and later fuse by their distance (graph/topo.cc ncclTopoMakeVNics).
#pragma once

#include <vector>

#include "common/nccl/tree.hpp"

namespace gdrcheck::nccl {

/// Groups the ports, moves fused ones to one net node and returns the network devices. `port_nets` is the net node of
/// each port.
[[nodiscard]] std::vector<NetDevice> fuse_ports(const TreeInput& input, const std::vector<std::size_t>& port_nets,
                                                Tree& tree);

}  // namespace gdrcheck::nccl
