#include "common/probe/probe.hpp"

namespace gdrcheck::probe {

void read_iommu(const RootFs& root, NodeFacts& facts) {
    const auto units = root.list("/sys/class/iommu");
    facts.iommu_active = units && !units->empty();
}

}  // namespace gdrcheck::probe
