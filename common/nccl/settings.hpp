// The NCCL variables of /etc/nccl.conf that change the answer, as typed values. A user's own environment is not known
// before the job; what a user sets wins over the file (param.cc setenv(…, 0)), and then the user has asked for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/nccl/rules.hpp"

namespace gdrcheck::nccl {

/// NCCL_IB_HCA = [^][=]name[:port],…  A name matches as a prefix unless '=' is given; '^' turns the list around.
struct HcaFilter {
    struct Item {
        std::string name;
        int port = -1;  ///< -1: any
    };
    bool exclude = false;
    bool exact = false;
    std::vector<Item> items;

    [[nodiscard]] bool takes(std::string_view device, int port) const;
};
[[nodiscard]] HcaFilter parse_hca_filter(std::string_view text);

struct Settings {
    HcaFilter hca;
    std::optional<Path> gdr_level;    ///< NCCL_NET_GDR_LEVEL; unknown words are ignored, as NCCL does
    std::optional<bool> gdr_read;     ///< NCCL_NET_GDR_READ
    bool gdr_c2c = false;             ///< NCCL_NET_GDR_C2C
    bool pxn_c2c = false;             ///< NCCL_PXN_C2C
    bool pxn_disabled = false;        ///< NCCL_PXN_DISABLE
    bool dmabuf_enabled = true;       ///< NCCL_DMABUF_ENABLE
    bool merge_vfs = true;            ///< NCCL_IB_MERGE_VFS
    bool merge_nics = true;           ///< NCCL_IB_MERGE_NICS
    std::optional<Path> merge_level;  ///< NCCL_NET_MERGE_LEVEL beyond the ports of a card; nullopt: PORT
    bool merge_nothing = false;       ///< NCCL_NET_MERGE_LEVEL=LOC
    bool data_direct = true;          ///< NCCL_IB_DATA_DIRECT
    bool ib_disabled = false;         ///< NCCL_IB_DISABLE
    std::string net;                  ///< NCCL_NET
    std::string net_plugin;           ///< NCCL_NET_PLUGIN
    enum class NetDevices { automatic, all, limited } net_devices = NetDevices::automatic;  ///< NCCL_NETDEVS_POLICY
    int net_devices_limit = 0;
};

[[nodiscard]] Settings read_settings(const NodeFacts& facts, const Rules& rules);

}  // namespace gdrcheck::nccl
