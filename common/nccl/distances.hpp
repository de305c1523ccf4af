// Distances between the GPUs and network devices of a graph, and what NCCL does with them: C2C, relays (PXN), diversion
// through the CPU, NIC selection, GDR per direction (graph/paths.cc, graph/topo.cc).
#pragma once

#include <optional>
#include <vector>

#include "common/nccl/graph.hpp"
#include "common/nccl/settings.hpp"

namespace gdrcheck::nccl {

struct DistanceInput {
    const Graph& graph;
    const Rules& rules;
    const Settings& settings;
    const std::vector<GpuModel>& models;       ///< per rank
    const std::vector<int>& nvml_index;        ///< per rank: its place among all GPUs of the node
    const std::vector<bool>& gpu_gdr;          ///< per rank: cudaDevAttrGPUDirectRDMASupported
    const std::vector<bool>& net_gdr;          ///< per device: NCCL's gdr attribute
    const std::vector<std::string>& net_card;  ///< per device: GUID of its card, for rails
};

class Distances {
  public:
    explicit Distances(const DistanceInput& input);

    /// Applies relays and diversions, as NCCL does before it selects. Until then paths are plain.
    void route();

    [[nodiscard]] const PathInfo& path(std::size_t rank, std::size_t device) const { return gpu_net_[rank][device]; }
    [[nodiscard]] std::optional<std::size_t> relay(std::size_t rank, std::size_t device) const {
        return relays_[rank][device];
    }
    /// GDR of the pair over its current path (paths.cc ncclTopoCheckGdr). read: the NIC reads GPU memory (send).
    [[nodiscard]] bool gdr(std::size_t rank, std::size_t device, bool read) const;
    /// Devices the rank's channels use, in order of first use.
    [[nodiscard]] std::vector<std::size_t> selected(std::size_t rank) const;
    /// True when the two ranks' GPUs are joined by NVLink.
    [[nodiscard]] bool nvlinked(std::size_t one, std::size_t other) const;

  private:
    using Matrix = std::vector<std::vector<PathInfo>>;

    /// The devices a rank's channels go round.
    struct Choice {
        std::vector<std::size_t> nets;  ///< equally near; empty: none
        std::size_t first = 0;
        std::size_t per_gpu = 1;
        [[nodiscard]] std::size_t of_channel(std::size_t channel) const;
    };

    [[nodiscard]] std::vector<std::size_t> nearest(const std::vector<PathInfo>& paths,
                                                   const std::vector<std::size_t>& order) const;
    [[nodiscard]] Choice choose(std::size_t rank) const;
    void choose_rail(Choice& choice, std::size_t nvml, std::size_t sharing) const;
    [[nodiscard]] std::optional<std::size_t> local_gpu(std::size_t device) const;
    [[nodiscard]] std::optional<std::size_t> local_cpu(std::size_t rank) const;
    [[nodiscard]] bool send_allowed(std::size_t rank) const;
    [[nodiscard]] Path join_types(Path one, Path other) const;
    void name_c2c_paths();
    void try_relay(std::size_t rank, std::size_t device);
    void divert(std::size_t rank, std::size_t device);

    DistanceInput input_;
    Matrix gpu_net_;  ///< [rank][device]
    Matrix net_gpu_;  ///< [device][rank]
    Matrix gpu_cpu_;
    Matrix net_cpu_;
    Matrix cpu_net_;
    Matrix cpu_gpu_;
    std::vector<std::vector<std::optional<std::size_t>>> relays_;
};

}  // namespace gdrcheck::nccl
