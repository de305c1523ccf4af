// The network devices NCCL's IB transport makes of a node's RDMA devices (net_ib.cc ncclIbInitDevices).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/nccl/rules.hpp"
#include "common/nccl/settings.hpp"

namespace gdrcheck::nccl {

/// One ACTIVE port that NCCL takes, before ports of a card are merged.
struct NetPort {
    std::size_t device = 0;  ///< index in NodeFacts::rdma
    int port = 1;
    double gbps = 0;
    std::string name;       ///< "mlx5_0", "mlx5_0_dma" with Data Direct
    std::string path;       ///< the sysfs path NCCL goes by, after its edits
    bool on_pci = true;     ///< `path` exists and is a PCI function; else NCCL attaches the NIC to the first CPU
    bool collides = false;  ///< its edited address is a GPU's: NCCL would overwrite the GPU; placed by its own address
    bool data_direct = false;
    bool tries_gdr = false;  ///< NCCL's gdr attribute
};

/// What NCCL selects from: one port, or several merged.
struct NetDevice {
    std::vector<std::size_t> ports;  ///< indices into the list of NetPort
    std::string name;                ///< "mlx5_0+mlx5_1"
    double gbps = 0;
    bool tries_gdr = false;
};

struct PortChoice {
    std::vector<NetPort> ports;
    std::vector<NicAnswer> answers;  ///< one per RDMA device: used or why not
    std::vector<Misreading> misreadings;
};

/// Which ports NCCL takes, and by which path it knows them.
[[nodiscard]] PortChoice choose_ports(const NodeFacts& facts, const Options& options, const Rules& rules,
                                      const Settings& settings, std::vector<NicAnswer> transports);

/// Merging of NCCL 2.20 to 2.23: ports of one path, GUID and link layer. Also the identity where nothing merges.
[[nodiscard]] std::vector<NetDevice> merge_by_card(const NodeFacts& facts, const std::vector<NetPort>& ports,
                                                   const Rules& rules, const Settings& settings);

[[nodiscard]] NetDevice join_ports(const std::vector<NetPort>& ports, std::vector<std::size_t> members);

}  // namespace gdrcheck::nccl
