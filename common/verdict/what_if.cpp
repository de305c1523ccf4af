#include "common/verdict/what_if.hpp"

#include <algorithm>

namespace gdrcheck {
namespace {

/// Later than the first kernel of every RDMA driver that imports DMA-BUF.
constexpr const char* kernel_with_everything = "7.0.0";

double fastest_sibling(const NodeFacts& facts, const RdmaDevice& device, const RdmaPort& port) {
    double fastest = port.gbps;
    for (const auto& other : facts.rdma) {
        if (other.hca_type != device.hca_type) continue;
        for (const auto& candidate : other.ports) {
            const bool up = candidate.state == PortState::active && candidate.link_layer == port.link_layer;
            if (up) fastest = std::max(fastest, candidate.gbps);
        }
    }
    return fastest;
}

template <class Which>
NodeFacts activate(NodeFacts facts, Which which) {
    const auto original = facts;
    for (auto& device : facts.rdma) {
        for (auto& port : device.ports) {
            if (!which(port)) continue;
            if (port.link_layer.empty()) port.link_layer = "InfiniBand";  // unread like the state
            port.gbps = fastest_sibling(original, device, port);
            port.state = PortState::active;
        }
    }
    return facts;
}

}  // namespace

NodeFacts with_working_transport(NodeFacts facts) {
    facts.kernel_release.value = kernel_with_everything;
    facts.nvidia_open = true;
    facts.dmabuf_config.value = true;
    facts.modules_readable = true;
    facts.modules["nvidia_peermem"].state = "live";
    facts.modules["ib_uverbs"].state = "live";
    facts.modules["ib_uverbs"].holders.emplace_back("nvidia_peermem");
    facts.memory_peers["nv_mem"] = facts.nvidia_version;
    std::erase_if(facts.nccl_conf, [](const auto& entry) { return entry.key == "NCCL_DMABUF_ENABLE"; });
    return facts;
}

nccl::Options with_working_transport(nccl::Options options, const NodeFacts& facts) {
    options.require = "any";
    options.dmabuf_probed.clear();
    for (const auto& device : facts.rdma) options.dmabuf_probed.emplace_back(device.name, true);
    return options;
}

NodeFacts with_active_ports(NodeFacts facts) {
    return activate(std::move(facts), [](const auto& port) { return port.state && port.state != PortState::active; });
}

NodeFacts with_unread_ports_active(NodeFacts facts) {
    return activate(std::move(facts), [](const auto& port) { return !port.state; });
}

}  // namespace gdrcheck
