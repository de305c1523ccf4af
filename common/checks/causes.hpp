// Why a GPU has no GDR: one cause per GPU, so that exactly one check speaks for it. For the checks of this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/checks/check.hpp"

namespace gdrcheck {

enum class Cause {
    none,           ///< the GPU has GDR, or nothing is known of it
    gpu_model,      ///< no GDR in this model
    one_direction,  ///< NCCL lets NICs write this GPU but not read it
    transport,      ///< a working transport would give it GDR
    ports,          ///< an ACTIVE port would
    no_device,      ///< no RDMA device that NCCL could use, whatever its ports
    distance,       ///< every NIC is too far, and there is no relay
};

[[nodiscard]] bool lacks_gdr(nccl::GpuStatus status);  ///< staged or without a NIC
[[nodiscard]] bool has_gdr(nccl::GpuStatus status);    ///< gdr or relay
[[nodiscard]] Cause cause_of(const CheckInput& input, const nccl::GpuAnswer& gpu);

/// A GPU in scope whose model has GDR: else it does not matter what carries it.
[[nodiscard]] bool any_gpu_can(const CheckInput& input);

/// GPUs in scope whose cause is `cause`.
[[nodiscard]] std::vector<std::size_t> gpus_with_cause(const CheckInput& input, Cause cause);

[[nodiscard]] const nccl::GpuAnswer* find_gpu(const nccl::Answer& answer, std::size_t gpu);
[[nodiscard]] const nccl::NicAnswer* find_nic(const nccl::Answer& answer, std::string_view name);
[[nodiscard]] const nccl::Pair* find_pair(const nccl::Answer& answer, std::size_t gpu, std::string_view nic);
[[nodiscard]] const RdmaDevice* find_rdma(const NodeFacts& facts, std::string_view name);

/// NICs that the GPU's channels use, in order; the first is the one that reports name.
[[nodiscard]] std::vector<const nccl::NicAnswer*> selected_nics(const nccl::Answer& answer, const nccl::GpuAnswer& gpu);

/// Not excluded by [nics] exclude, and in [nics] compute where that is given.
[[nodiscard]] bool in_policy(const Policy& policy, std::string_view nic);
/// Named by [nics] compute in full, without a wildcard.
[[nodiscard]] bool named_in_compute(const Policy& policy, std::string_view nic);

/// In policy, and not left out by NCCL_IB_HCA in /etc/nccl.conf.
[[nodiscard]] bool is_meant_for_nccl(const CheckInput& input, const RdmaDevice& device, const RdmaPort& port);
/// The site says that NICs must be here: [expect] nics, or a name without wildcard in [nics] compute.
[[nodiscard]] bool expects_nics(const Policy& policy);
[[nodiscard]] bool is_wildcard(std::string_view pattern);

/// A Reading<bool> that says "could be listed".
[[nodiscard]] bool readable(const Reading<bool>& reading);

/// "mlx5_0, mlx5_1, mlx5_2 and 5 more".
[[nodiscard]] std::string enumerate(const std::vector<std::string>& names, std::size_t most = 4);
[[nodiscard]] std::string gpu_address(const NodeFacts& facts, std::size_t gpu);
/// "0000:18:00.0 and 7 more GPUs".
[[nodiscard]] std::string enumerate_gpus(const NodeFacts& facts, const std::vector<std::size_t>& gpus);

}  // namespace gdrcheck
