// Can GPU memory reach a NIC at all: peermem and DMA-BUF, from what the kernel shows (kernel drivers, not distance).
#pragma once

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/nccl/rules.hpp"
#include "common/nccl/settings.hpp"

namespace gdrcheck::nccl {

/// Major and minor of a kernel release, "5.14.0-427.el9" -> {5, 14}.
struct KernelVersion {
    int major = 0;
    int minor = 0;
    auto operator<=>(const KernelVersion&) const = default;
};
[[nodiscard]] std::optional<KernelVersion> parse_kernel_version(std::string_view release);

/// The node's own part: peermem state and visibility, and whether the GPU driver and kernel export DMA-BUF.
[[nodiscard]] Transport read_transport(const NodeFacts& facts, const Rules& rules, const Settings& settings);

/// One NIC's part; `node` is what read_transport said, `probed` the verbs probe's answer for this device.
[[nodiscard]] NicTransport nic_transport(const NodeFacts& facts, const RdmaDevice& device, const Transport& node,
                                         std::string_view require, std::optional<bool> probed);

}  // namespace gdrcheck::nccl
