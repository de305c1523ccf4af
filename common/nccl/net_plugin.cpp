#include "common/nccl/net_plugin.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gdrcheck::nccl {
namespace {

/// NICs for which NCCL needs the libfabric plugin: EFA (no RC queue pairs) and Slingshot (no verbs device at all).
constexpr std::array<std::string_view, 2> slingshot_modules{"cxi_ss1", "cxi_core"};

bool every_device_is_efa(const NodeFacts& facts) {
    return !facts.rdma.empty() && std::all_of(facts.rdma.begin(), facts.rdma.end(),
                                              [](const RdmaDevice& device) { return device.driver == "efa"; });
}

}  // namespace

std::optional<std::string> plugin_reason(const NodeFacts& facts, const Options& options, const Settings& settings) {
    if (options.net == NetMode::ib) return std::nullopt;
    if (options.net == NetMode::plugin) return "[nccl] net = \"plugin\"";
    if (!settings.net.empty() && settings.net != "IB") {
        return fmt::format("NCCL_NET={} in /etc/nccl.conf", settings.net.substr(0, 40));
    }
    if (settings.net == "IB" || settings.net_plugin == "none") return std::nullopt;
    if (!settings.net_plugin.empty()) {
        return fmt::format("NCCL_NET_PLUGIN={} in /etc/nccl.conf", settings.net_plugin.substr(0, 40));
    }
    if (every_device_is_efa(facts)) return "every RDMA device is EFA, which NCCL drives through the OFI plugin";
    for (const auto module : slingshot_modules) {
        if (facts.rdma.empty() && facts.module(module) != nullptr) {
            return fmt::format("Slingshot ({}) and no RDMA device: NCCL drives it through the OFI plugin", module);
        }
    }
    return std::nullopt;
}

}  // namespace gdrcheck::nccl
