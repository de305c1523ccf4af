#include "common/probe/probe.hpp"

#include "common/probe/infer.hpp"

namespace gdrcheck::probe {

NodeFacts read_node(const RootFs& root, const Options& options) {
    NodeFacts facts;
    facts.host = options.host;
    read_kernel(root, facts);
    read_modules(root, facts);
    read_pci(root, facts);
    read_nvidia(root, facts);
    read_rdma(root, facts);
    read_iommu(root, facts);
    read_nccl_conf(root, options, facts);
    infer_cpu(facts);
    read_dmabuf_config(root, facts);
    return facts;
}

}  // namespace gdrcheck::probe
