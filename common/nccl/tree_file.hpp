// A topology file as the start of the tree: what it says wins over sysfs (xml.cc, topo.cc xmlInitAttr*).
#pragma once

#include "common/nccl/tree.hpp"

namespace gdrcheck::nccl {

/// Loads the <cpu> elements of `system` with what is below them. Unknown elements are ignored, as NCCL does.
void load_topology(const TopologyElement& system, Tree& tree);

}  // namespace gdrcheck::nccl
