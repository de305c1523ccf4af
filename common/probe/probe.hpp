// Reads a node: one reader per family of facts, all through RootFs.
#pragma once

#include <string>

#include "common/base/rootfs.hpp"
#include "common/facts/node_facts.hpp"

namespace gdrcheck::probe {

struct Options {
    std::string host;  ///< host name to put into the facts
    std::string
        topology_file_text;  ///< content of policy's [nccl] topo_file, read by the front end: a path of the host
    std::string topology_file_path;   ///< its path, for messages; empty: policy names none
    std::string topology_file_error;  ///< why it could not be read
};

/// Never fails: what cannot be read is unknown, with the reason, in the facts.
[[nodiscard]] NodeFacts read_node(const RootFs& root, const Options& options);

// The families, in the order they are read. Each fills its part of `facts`.
void read_kernel(const RootFs& root, NodeFacts& facts);   ///< release, command line, cpu, dmi
void read_modules(const RootFs& root, NodeFacts& facts);  ///< /sys/module, memory_peers
void read_pci(const RootFs& root, NodeFacts& facts);      ///< /sys/bus/pci; needs nothing else
void read_nvidia(const RootFs& root, NodeFacts& facts);   ///< /proc/driver/nvidia, of the GPUs and modules read before
void read_rdma(const RootFs& root,
               NodeFacts& facts);  ///< /sys/class/infiniband; adds the functions it needs to facts.pci
void read_iommu(const RootFs& root, NodeFacts& facts);
void read_nccl_conf(const RootFs& root, const Options& options, NodeFacts& facts);

}  // namespace gdrcheck::probe
