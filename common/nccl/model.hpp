// The model of NCCL: facts in, NCCL's own answer out. Pure. The rules per version are one table, rules.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/facts/node_facts.hpp"
#include "common/nccl/version.hpp"

namespace gdrcheck::nccl {

/// Distances in the order of NCCL 2.28 (src/graph/topo.h PATH_*); older releases number them differently, see
/// rules.hpp.
enum class Path { LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, NET, DIS };
[[nodiscard]] const char* to_string(Path path);

enum class Via { none, dmabuf, peermem };
[[nodiscard]] const char* to_string(Via via);

enum class Tristate { no, yes, unknown };
[[nodiscard]] const char* to_string(Tristate value);

/// registered: a peer-memory client is visible under memory_peers, or the module is live and held by the RDMA core's
/// user. loaded: nvidia_peermem is live and nothing else shows it. absent: neither.
enum class PeermemState { registered, loaded, absent };
[[nodiscard]] const char* to_string(PeermemState state);

/// How GPU memory could reach the NICs of this node, whatever the distance.
struct Transport {
    PeermemState peermem = PeermemState::absent;
    std::string peermem_why;              ///< the evidence: path and value
    bool peermem_visible = false;         ///< the assumed NCCL version finds it where it looks
    Tristate dmabuf = Tristate::unknown;  ///< the node's: yes when any NIC that NCCL would use has it
    std::string dmabuf_why;
    std::string dmabuf_source = "inferred";  ///< "verbs" once the probe confirmed it
};

/// The same per NIC.
struct NicTransport {
    Tristate dmabuf = Tristate::unknown;
    std::string dmabuf_why;
    bool peermem_api = false;  ///< the driver can use a peer-memory client
    Via via = Via::none;       ///< what NCCL would use and would work
    bool known = true;         ///< false: via is none only because something could not be read
    bool nccl_tries = false;   ///< NCCL's own gdr attribute: it will try, even where via is none (peermem-no-nic)
};

enum class GpuStatus { gdr, relay, staged, no_nic, unknown };
[[nodiscard]] const char* to_string(GpuStatus status);  // "gdr", "relay", "staged", "no-nic", "unknown"

/// What the id table says of a GPU, kept with the answer so that reports can say what was inferred.
struct GpuModel {
    int compute_capability = 0;  ///< 90 = 9.0; 0: unknown
    bool gdr = true;             ///< cudaDevAttrGPUDirectRDMASupported
    bool nvlink = false;         ///< linked to the other GPUs of the board
    bool c2c = false;            ///< NVLink-C2C to its own CPU
    bool known = false;          ///< false: id not in the table, capable assumed
    std::string name;            ///< of the table, "H100 SXM5 80GB"
};

struct Pair {
    std::size_t gpu = 0;    ///< index in NodeFacts::gpus
    std::string nic;        ///< IB device name, never "_dma" or "a+b"
    Path path = Path::DIS;  ///< plain distance: GDR possible, no PXN
    bool gdr_recv = false;  ///< NIC writes GPU memory
    bool gdr_send = false;  ///< NIC reads GPU memory
    Via via = Via::none;
};

struct GpuAnswer {
    std::size_t gpu = 0;
    GpuModel model;
    GpuStatus status = GpuStatus::unknown;
    std::string why;                    ///< for unknown and staged: one clause
    std::string nic;                    ///< first that NCCL selects, IB device name; empty: none
    std::vector<std::string> selected;  ///< all it selects over its channels, IB device names, order of first use
    Path path = Path::DIS;              ///< plain distance to `nic`
    Via via = Via::none;
    std::optional<std::size_t> relay;  ///< GPU through which PXN goes
    bool mixed = false;                ///< selected NICs have different answers
};

struct NicAnswer {
    std::string name;
    std::optional<PciAddress> pci;  ///< of the function GDR goes through (Data Direct's with Data Direct)
    bool used = false;              ///< NCCL would use it ("compute" in the report)
    std::string unused_why;         ///< "port 1 is DOWN", "excluded by [nics] exclude", "not in [nics] compute"
    std::vector<int> used_ports;
    NicTransport transport;
    std::string merged_into;   ///< "mlx5_0+mlx5_1", empty when not merged
    bool data_direct = false;  ///< NCCL takes its Data Direct function
};

/// Where NCCL's own reading of the node goes wrong (misattached or colliding NIC, ports of different cards merged).
struct Misreading {
    enum class Kind { misattached, collides_with_gpu, merged_cards } kind = Kind::misattached;
    std::string nic;
    std::string text;  ///< what NCCL takes for what, and what follows
    std::string remedy;
    std::vector<std::size_t> gpus;  ///< GPUs whose answer it changes
};

struct Answer {
    Version version;
    Transport transport;
    std::vector<GpuAnswer> gpus;  ///< the GPUs in scope
    std::vector<NicAnswer> nics;  ///< every RDMA device, in the order of NodeFacts::rdma
    std::vector<Pair> pairs;      ///< scope GPUs x used NICs
    std::vector<Misreading> misreadings;
    bool nvlink_inferred = false;  ///< NVLink came from the id table or NVSwitch devices
    bool net_plugin = false;       ///< NCCL would not use its IB transport here
    std::string net_plugin_why;
    std::string topology_used;  ///< path of the topology file NCCL would load, empty when none
};

enum class NvlinkMode { automatic, yes, no };
enum class NetMode { automatic, ib, plugin };

/// What policy says to the model; plain values so that the model knows no TOML.
struct Options {
    Version version = default_version;
    NvlinkMode nvlink = NvlinkMode::automatic;
    NetMode net = NetMode::automatic;
    std::vector<std::string> compute;               ///< globs; empty: every NIC
    std::vector<std::string> exclude;               ///< globs
    std::optional<std::vector<std::size_t>> scope;  ///< GPU indices of the job; nullopt: all
    /// [policy] require: "any", "peermem", "dmabuf": which transport counts.
    std::string require = "any";
    /// Answers of the verbs probe per device, where it ran: device name -> supported.
    std::vector<std::pair<std::string, bool>> dmabuf_probed;
};

[[nodiscard]] Answer judge_like_nccl(const NodeFacts& facts, const Options& options);

/// By PCI device id of vendor 10de.
[[nodiscard]] GpuModel gpu_model(std::uint16_t device_id);

}  // namespace gdrcheck::nccl
