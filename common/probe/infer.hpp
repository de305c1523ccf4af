// What is told by several families of facts together.
#pragma once

#include "common/base/rootfs.hpp"
#include "common/facts/node_facts.hpp"

namespace gdrcheck::probe {

/// Where /proc/cpuinfo said nothing: architecture and vendor from the kernel release, root ports and driver.
void infer_cpu(NodeFacts& facts);

/// CONFIG_INFINIBAND_* of the running kernel. A quarter of a megabyte: only where a GPU, an RDMA device and a driver
/// that can export DMA-BUF ask for it.
void read_dmabuf_config(const RootFs& root, NodeFacts& facts);

}  // namespace gdrcheck::probe
