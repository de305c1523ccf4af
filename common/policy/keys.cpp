#include "common/policy/keys.hpp"

#include <algorithm>
#include <array>

namespace gdrcheck::config {
namespace {

constexpr int most_nodes = 65'536;
constexpr int most_devices = 1'024;
constexpr int longest_wait_ms = 60'000;
constexpr int shortest_wait_ms = 100;
constexpr int last_gid_index = 255;  // struct ibv_global_route: uint8_t sgid_index
constexpr double most_gbps = 100'000;

constexpr std::array net_words{"auto", "ib", "plugin"};
constexpr std::array nvlink_words{"auto", "yes", "no"};
constexpr std::array gdr_level_words{"none", "LOC", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"};

template <std::size_t count>
std::size_t place_of(const std::array<const char*, count>& words, std::string_view word) {
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

template <std::size_t count>
std::vector<std::string_view> list_of(const std::array<const char*, count>& words) {
    return {words.begin(), words.end()};
}

template <class Enum>
std::size_t place(Enum value) {
    return static_cast<std::size_t>(value);
}

void add_scope(std::vector<Key>& keys) {
    keys.push_back({"scope.min_nodes", Whole{[](auto& p) -> auto& { return p.scope.min_nodes;
}
, 1, most_nodes
}  // namespace
}  // namespace gdrcheck::config
);
keys.push_back({"scope.no_gres",
                Words{{"skip", "all"},
                      [](Policy& p, std::size_t index) { p.scope.no_gres_all = index == 1; },
                      [](const Policy& p) { return p.scope.no_gres_all ? std::size_t{1} : std::size_t{0}; }}});
}

void add_nccl(std::vector<Key>& keys) {
    keys.push_back({"nccl.assume", Versions{[](auto& p) -> auto& { return p.nccl.assume;
}
}
});
    keys.push_back({"nccl.topo_file", HostPath{[](auto& p) -> auto& { return p.nccl.topo_file;
    }
    }
    });
    keys.push_back({"nccl.net",
                    Words{list_of(net_words), [](Policy& p, std::size_t index) { p.nccl.net = net_words.at(index); },
                          [](const Policy& p) { return place_of(net_words, p.nccl.net); }}});
    keys.push_back({"nccl.nvlink", Words{list_of(nvlink_words),
                                         [](Policy& p, std::size_t index) { p.nccl.nvlink = nvlink_words.at(index); },
                                         [](const Policy& p) { return place_of(nvlink_words, p.nccl.nvlink); }}});
    }

    // The words stand in the order of the enumerators.
    void add_policy(std::vector<Key>& keys) {
        keys.push_back({"policy.require",
                        Words{{"any", "peermem", "dmabuf"},
                              [](Policy& p, std::size_t index) { p.policy.require = static_cast<Require>(index); },
                              [](const Policy& p) { return place(p.policy.require); }}});
        keys.push_back({"policy.on_fail",
                        Words{{"drain", "report", "off"},
                              [](Policy& p, std::size_t index) { p.policy.on_fail = static_cast<OnFail>(index); },
                              [](const Policy& p) { return place(p.policy.on_fail); }}});
        keys.push_back(
            {"policy.on_unknown",
             Words{{"report", "drain"},
                   [](Policy& p, std::size_t index) { p.policy.on_unknown_drain = index == 1; },
                   [](const Policy& p) { return p.policy.on_unknown_drain ? std::size_t{1} : std::size_t{0}; }}});
        keys.push_back(
            {"policy.on_error",
             Words{{"open", "closed"},
                   [](Policy& p, std::size_t index) { p.policy.on_error_closed = index == 1; },
                   [](const Policy& p) { return p.policy.on_error_closed ? std::size_t{1} : std::size_t{0}; }}});
    keys.push_back({"policy.allow_opt_out", Flag{[](auto& p) -> auto& { return p.policy.allow_opt_out;
    }
    }
    });
    keys.push_back({"policy.deadline_ms", Whole{[](auto& p) -> auto& { return p.policy.deadline_ms;
    }
    , shortest_wait_ms, longest_wait_ms
    }
    });
    }

    void add_drain(std::vector<Key>& keys) {
    keys.push_back({"drain.requeue", Flag{[](auto& p) -> auto& { return p.drain.requeue;
    }
    }
    });
    keys.push_back({"drain.notify", Flag{[](auto& p) -> auto& { return p.drain.notify;
    }
    }
    });
    keys.push_back({"drain.resume", Flag{[](auto& p) -> auto& { return p.drain.resume;
    }
    }
    });
    keys.push_back({"drain.budget_percent", MaybeWhole{[](auto& p) -> auto& { return p.drain.budget_percent;
    }
    , 1, 100
    }
    });
    keys.push_back({"drain.budget_nodes", MaybeWhole{[](auto& p) -> auto& { return p.drain.budget_nodes;
    }
    , 0, most_nodes
    }
    });
    keys.push_back(
        {"drain.rpc_ms", Whole{[](auto& p) -> auto& { return p.drain.rpc_ms;
    }
    , shortest_wait_ms, longest_wait_ms
    }
    });
    keys.push_back({"drain.max_requeues", Whole{[](auto& p) -> auto& { return p.drain.max_requeues;
    }
    , 0, 1'000
    }
    });
    }

    void add_devices(std::vector<Key>& keys) {
    keys.push_back({"nics.compute", Globs{[](auto& p) -> auto& { return p.nics.compute;
    }
    }
    });
    keys.push_back({"nics.exclude", Globs{[](auto& p) -> auto& { return p.nics.exclude;
    }
    }
    });
    keys.push_back({"expect.gdr", Flag{[](auto& p) -> auto& { return p.expect.gdr;
    }
    }
    });
    keys.push_back({"expect.gpus", MaybeWhole{[](auto& p) -> auto& { return p.expect.gpus;
    }
    , 0, most_devices
    }
    });
    keys.push_back({"expect.nics", MaybeWhole{[](auto& p) -> auto& { return p.expect.nics;
    }
    , 0, most_devices
    }
    });
    keys.push_back({"expect.gbps", MaybeNumber{[](auto& p) -> auto& { return p.expect.gbps;
    }
    , most_gbps
    }
    });
    }

    void set_gdr_level(Policy& policy, std::size_t index) {
        policy.env.net_gdr_level = index == 0 ? "" : gdr_level_words.at(index);
    }

    void add_env(std::vector<Key>& keys) {
        keys.push_back(
            {"env.export", Words{{"multi-node", "always", "option", "off"},
                                 [](Policy& p, std::size_t index) { p.env.when = static_cast<ExportWhen>(index); },
                                 [](const Policy& p) { return place(p.env.when); }}});
    keys.push_back({"env.topo_file", Flag{[](auto& p) -> auto& { return p.env.topo_file;
    }
    }
    });
    keys.push_back(
        {"env.ib_gid_index", MaybeWhole{[](auto& p) -> auto& { return p.env.ib_gid_index;
    }
    , 0, last_gid_index
    }
    });
    keys.push_back({"env.net_gdr_level", Words{list_of(gdr_level_words), set_gdr_level, [](const Policy& p) {
                                                   return place_of(gdr_level_words, p.env.net_gdr_level);
                                               }}});
    keys.push_back({"env.ib_pci_relaxed_ordering",
                    MaybeWhole{[](auto& p) -> auto& { return p.env.ib_pci_relaxed_ordering;
    }
    , 0, 2
    }
    });
    keys.push_back({"env.ucx_net_devices", Flag{[](auto& p) -> auto& { return p.env.ucx_net_devices;
    }
    }
    });
    keys.push_back({"env.nvshmem_hca_list", Flag{[](auto& p) -> auto& { return p.env.nvshmem_hca_list;
    }
    }
    });
    }

    void add_rest(std::vector<Key>& keys) {
        keys.push_back(
            {"repair.peermem",
             Words{{"off", "load"},
                   [](Policy& p, std::size_t index) { p.repair.peermem_load = index == 1; },
                   [](const Policy& p) { return p.repair.peermem_load ? std::size_t{1} : std::size_t{0}; }}});
    keys.push_back({"probe.root", HostPath{[](auto& p) -> auto& { return p.probe.root;
    }
    , false, true
    }
    });
    keys.push_back({"report.prometheus", HostPath{[](auto& p) -> auto& { return p.report.prometheus;
    }
    }
    });
    for (const auto slug : known_slugs()) {
        keys.push_back({"checks." + std::string(slug) + ".severity", SlugSeverity{std::string(slug)}});
    }
    }

    std::vector<Key> build_keys() {
        std::vector<Key> keys;
        add_scope(keys);
        add_nccl(keys);
        add_policy(keys);
        add_drain(keys);
        add_devices(keys);
        add_env(keys);
        add_rest(keys);
        return keys;
    }

    }  // namespace

    const std::vector<Key>& all_keys() {
        static const auto keys = build_keys();
        return keys;
    }

    const Key* find_key(std::string_view path) {
        for (const auto& key : all_keys()) {
            if (key.path == path) return &key;
        }
        return nullptr;
    }

    const std::vector<std::string_view>& known_slugs() {
        static const std::vector<std::string_view> slugs{
            "peermem-missing", "peermem-stub", "peermem-crc",   "peermem-absent", "peermem-clash",
            "peermem-no-nic",  "nccl-too-old", "peermem-order", "dkms-next-boot", "dmabuf-off",
            "rdma-missing",    "port-down",    "port-slow",     "uverbs-missing", "gpu-missing",
            "gpu-no-gdr",      "path-far",     "vm-topology",   "net-plugin",     "acs-redirect",
            "iommu-translate", "link-width",   "memlock",       "probe-failed",   "bandwidth-low",
            "gdr-unused",      "self"};
        return slugs;
    }

    }  // namespace gdrcheck::config
