#include "common/nccl/transport.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace gdrcheck::nccl {
namespace {

constexpr KernelVersion first_with_dmabuf_mr{5, 12};  // uverbs REG_DMABUF_MR, torvalds commit bfe0cc6

/// First mainline kernel in which an RDMA driver has the reg_user_mr_dmabuf operation.
struct DmabufDriver {
    std::string_view driver;  ///< of the PCI function
    KernelVersion since;
};
constexpr std::array dmabuf_drivers{
    DmabufDriver{"mlx5_core", {5, 12}}, DmabufDriver{"efa", {5, 16}}, DmabufDriver{"ice", {6, 4}},
    DmabufDriver{"irdma", {6, 4}},      DmabufDriver{"i40e", {6, 4}}, DmabufDriver{"bnxt_en", {6, 7}},
    DmabufDriver{"ionic", {6, 18}},
};
/// Drivers whose operation came at a release we could not establish.
constexpr std::array<std::string_view, 2> dmabuf_unsettled{"mana", "mlx4_core"};

/// Drivers that take a peer-memory client: mlx5_ib and mlx4_ib of MLNX_OFED and of kernels that carry its patch.
constexpr std::array<std::string_view, 2> peer_memory_drivers{"mlx5_core", "mlx4_core"};

bool holds_rdma_core(const NodeFacts& facts, std::string_view module) {
    for (const auto* core : {"ib_uverbs", "ib_core"}) {
        const auto* found = facts.module(core);
        if (found == nullptr) continue;
        if (std::find(found->holders.begin(), found->holders.end(), module) != found->holders.end()) return true;
    }
    return false;
}

bool client_present(const NodeFacts& facts, const std::string& client) {
    return facts.memory_peers.contains(client);
}

bool is_live(const KernelModule* module) {
    return module != nullptr && (module->state == "live" || module->state == "builtin");
}

struct PeermemEvidence {
    PeermemState state = PeermemState::absent;
    std::string why;
};

PeermemEvidence examine_peermem(const NodeFacts& facts) {
    for (const auto* client : {"nv_mem", "nv_mem_nc", "nvidia-peermem"}) {
        const auto found = facts.memory_peers.find(client);
        if (found == facts.memory_peers.end()) continue;
        return {PeermemState::registered,
                fmt::format("/sys/kernel/mm/memory_peers/{}/version is {}", client, found->second)};
    }
    const auto* module = facts.module("nvidia_peermem");
    if (is_live(module)) {
        if (holds_rdma_core(facts, "nvidia_peermem")) {
            return {PeermemState::registered, "nvidia_peermem is live and holds the RDMA core"};
        }
        return {PeermemState::loaded, "nvidia_peermem is live, no client under /sys/kernel/mm/memory_peers"};
    }
    if (is_live(facts.module("nv_peer_mem"))) {
        return {PeermemState::loaded, "the legacy nv_peer_mem is live, no client under /sys/kernel/mm/memory_peers"};
    }
    if (module != nullptr) {
        return {PeermemState::absent, fmt::format("/sys/module/nvidia_peermem/initstate is {}, not live",
                                                  module->state.empty() ? "unreadable" : module->state)};
    }
    if (!facts.modules_readable) return {PeermemState::absent, "/sys/module is not readable"};
    if (!facts.memory_peers_readable.known()) {
        return {PeermemState::absent, "nvidia_peermem is not loaded; " + facts.memory_peers_readable.why};
    }
    return {PeermemState::absent, "no /sys/module/nvidia_peermem, no client under /sys/kernel/mm/memory_peers"};
}

bool visible_to(const PeermemFiles& files, const NodeFacts& facts) {
    return (files.nv_mem && client_present(facts, "nv_mem")) ||
           (files.nvidia_peermem && client_present(facts, "nvidia-peermem")) ||
           (files.nv_mem_nc && client_present(facts, "nv_mem_nc")) ||
           (files.module && facts.module("nvidia_peermem") != nullptr);
}

struct DmabufEvidence {
    Tristate state = Tristate::unknown;
    std::string why;
};

/// RHEL 8.6 and later carry the uverbs method on 4.18 (kernel-4.18.0-372); which NIC drivers with it we could not read.
bool may_be_backported(const NodeFacts& facts) {
    const auto& release = facts.kernel_release.value.value_or("");
    return release.find(".el8_") != std::string::npos || facts.module("mlx_compat") != nullptr;
}

DmabufEvidence examine_node_dmabuf(const NodeFacts& facts, const Settings& settings) {
    if (!settings.dmabuf_enabled) return {Tristate::no, "NCCL_DMABUF_ENABLE=0 in /etc/nccl.conf"};
    if (facts.nvidia_open == false) {
        return {Tristate::no,
                "proprietary NVIDIA kernel module (/proc/driver/nvidia/version); DMA-BUF needs the open one"};
    }
    if (!facts.kernel_release.known()) return {Tristate::unknown, facts.kernel_release.why};
    const auto kernel = parse_kernel_version(*facts.kernel_release.value);
    if (!kernel)
        return {Tristate::unknown, fmt::format("kernel release '{}' not understood", *facts.kernel_release.value)};
    if (*kernel < first_with_dmabuf_mr) {
        if (may_be_backported(facts)) {
            return {Tristate::unknown,
                    fmt::format("kernel {} may carry DMA-BUF as a backport", *facts.kernel_release.value)};
        }
        return {Tristate::no, fmt::format("kernel {} is older than 5.12", *facts.kernel_release.value)};
    }
    if (!facts.nvidia_open.has_value()) {
        const auto why = facts.nvidia_why.empty() ? "/proc/driver/nvidia/version does not say open or proprietary"
                                                  : facts.nvidia_why;
        return {Tristate::unknown, why};
    }
    return {Tristate::yes,
            fmt::format("open NVIDIA kernel module {}, kernel {}", facts.nvidia_version, *facts.kernel_release.value)};
}

DmabufEvidence examine_nic_dmabuf(const NodeFacts& facts, const RdmaDevice& device, const Transport& node) {
    if (node.dmabuf != Tristate::yes) return {node.dmabuf, node.dmabuf_why};
    if (device.driver.empty()) return {Tristate::unknown, fmt::format("{}: driver not readable", device.name)};
    const auto known = std::find_if(dmabuf_drivers.begin(), dmabuf_drivers.end(),
                                    [&](const auto& entry) { return entry.driver == device.driver; });
    if (known == dmabuf_drivers.end()) {
        const bool unsettled =
            std::find(dmabuf_unsettled.begin(), dmabuf_unsettled.end(), device.driver) != dmabuf_unsettled.end();
        if (unsettled) return {Tristate::unknown, fmt::format("driver {}: not known to import DMA-BUF", device.driver)};
        return {Tristate::no, fmt::format("driver {} cannot import DMA-BUF", device.driver)};
    }
    const auto kernel = parse_kernel_version(*facts.kernel_release.value);
    if (kernel && *kernel < known->since) {
        return {Tristate::no, fmt::format("driver {} imports DMA-BUF from kernel {}.{} on", device.driver,
                                          known->since.major, known->since.minor)};
    }
    return {Tristate::yes, node.dmabuf_why + fmt::format(", driver {}", device.driver)};
}

}  // namespace

std::optional<KernelVersion> parse_kernel_version(std::string_view release) {
    KernelVersion version;
    const auto* end = release.data() + release.size();
    const auto major = std::from_chars(release.data(), end, version.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec != std::errc{}) return std::nullopt;
    return version;
}

Transport read_transport(const NodeFacts& facts, const Rules& rules, const Settings& settings) {
    Transport transport;
    auto peermem = examine_peermem(facts);
    transport.peermem = peermem.state;
    transport.peermem_why = std::move(peermem.why);
    transport.peermem_visible = visible_to(rules.peermem_files, facts);
    auto dmabuf = examine_node_dmabuf(facts, settings);
    transport.dmabuf = dmabuf.state;
    transport.dmabuf_why = std::move(dmabuf.why);
    return transport;
}

NicTransport nic_transport(const NodeFacts& facts, const RdmaDevice& device, const Transport& node,
                           std::string_view require, std::optional<bool> probed) {
    NicTransport nic;
    auto dmabuf = examine_nic_dmabuf(facts, device, node);
    if (probed && node.dmabuf == Tristate::yes) {
        dmabuf = *probed ? DmabufEvidence{Tristate::yes, "ibv_reg_dmabuf_mr answers on " + device.name}
                         : DmabufEvidence{Tristate::no, "ibv_reg_dmabuf_mr is not supported on " + device.name};
    }
    nic.dmabuf = dmabuf.state;
    nic.dmabuf_why = std::move(dmabuf.why);
    nic.peermem_api =
        std::find(peer_memory_drivers.begin(), peer_memory_drivers.end(), device.driver) != peer_memory_drivers.end();
    // net_ib.cc: the device's pointer support; NCCL knows peermem for the host, not per NIC
    nic.nccl_tries = node.peermem_visible || nic.dmabuf == Tristate::yes;

    const bool peermem_works = node.peermem != PeermemState::absent && node.peermem_visible && nic.peermem_api;
    if (nic.dmabuf == Tristate::yes && require != "peermem") {
        nic.via = Via::dmabuf;  // net.cc prefers DMA-BUF wherever both work
    } else if (peermem_works && require != "dmabuf") {
        nic.via = Via::peermem;
    }
    const bool dmabuf_open = nic.dmabuf == Tristate::unknown && require != "peermem";
    const bool peermem_open = !facts.modules_readable && require != "dmabuf" && node.peermem == PeermemState::absent;
    nic.known = nic.via != Via::none || !(dmabuf_open || peermem_open);
    return nic;
}

}  // namespace gdrcheck::nccl
