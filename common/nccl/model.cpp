#include "common/nccl/model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "common/nccl/distances.hpp"
#include "common/nccl/net_plugin.hpp"
#include "common/nccl/nics.hpp"
#include "common/nccl/rules.hpp"
#include "common/nccl/settings.hpp"
#include "common/nccl/transport.hpp"
#include "common/nccl/tree.hpp"

namespace gdrcheck::nccl {
namespace {

/// The node as a communicator of the given GPUs would see it.
struct View {
    std::vector<std::size_t> gpus;  ///< facts index per rank
    std::vector<GpuModel> models;
    std::vector<int> nvml_index;
    std::vector<bool> gpu_gdr;
    std::vector<bool> net_gdr;
    std::vector<std::string> net_card;
    Tree tree;
    Graph graph;

    [[nodiscard]] Distances distances(const Rules& rules, const Settings& settings) const {
        return Distances({graph, rules, settings, models, nvml_index, gpu_gdr, net_gdr, net_card});
    }
};

GpuModel model_of(const NodeFacts& facts, const Gpu& gpu, NvlinkMode nvlink) {
    const auto* function = facts.function(gpu.pci);
    auto model = gpu_model(function != nullptr ? function->device : std::uint16_t{0});
    if (nvlink != NvlinkMode::automatic) model.nvlink = nvlink == NvlinkMode::yes;
    return model;
}

constexpr std::uint32_t class_nvswitch = 0x068000;  // "bridge, other": how an NVSwitch shows itself

bool has_nvswitch(const NodeFacts& facts) {
    return std::any_of(facts.pci.begin(), facts.pci.end(), [](const auto& entry) {
        return entry.second.vendor == 0x10de && entry.second.class_code == class_nvswitch;
    });
}

View view_of(const NodeFacts& facts, const Options& options, const Rules& rules, const Settings& settings,
             const std::vector<NetPort>& ports, std::vector<std::size_t> gpus) {
    View view;
    view.gpus = std::move(gpus);
    const bool switched = options.nvlink == NvlinkMode::automatic && has_nvswitch(facts);
    for (const auto gpu : view.gpus) {
        view.models.push_back(model_of(facts, facts.gpus[gpu], options.nvlink));
        view.models.back().nvlink = view.models.back().nvlink || switched;
        view.nvml_index.push_back(static_cast<int>(gpu));
        view.gpu_gdr.push_back(view.models.back().gdr);
    }
    view.tree = build_tree({facts, rules, settings, ports, view.gpus});
    for (const auto& node : view.tree.nodes) {
        if (node.kind != TreeNode::Kind::gpu || node.gpu == TreeNode::none) continue;
        const auto rank = std::find(view.gpus.begin(), view.gpus.end(), node.gpu) - view.gpus.begin();
        if (node.gdr_attribute >= 0) view.gpu_gdr[static_cast<std::size_t>(rank)] = node.gdr_attribute != 0;
        if (node.nvlink_attribute) view.models[static_cast<std::size_t>(rank)].nvlink = true;
        if (node.c2c_attribute) view.models[static_cast<std::size_t>(rank)].c2c = true;
    }
    for (const auto& device : view.tree.devices) {
        view.net_gdr.push_back(device.tries_gdr);
        const auto& first = facts.rdma[ports[device.ports.front()].device];
        view.net_card.push_back(first.sys_image_guid.empty() ? first.name : first.sys_image_guid);
    }
    for (const auto& node : view.tree.nodes) {
        if (node.kind == TreeNode::Kind::net && node.device != TreeNode::none && node.gdr_attribute >= 0) {
            view.net_gdr[node.device] = node.gdr_attribute != 0;
        }
    }
    view.graph = build_graph({facts, rules, view.tree, view.gpus, view.models});
    return view;
}

/// The same view in which every NIC and GPU can: distances as they are without any transport lost.
View capable(View view) {
    view.gpu_gdr.assign(view.gpu_gdr.size(), true);
    view.net_gdr.assign(view.net_gdr.size(), true);
    return view;
}

class Judge {
  public:
    Judge(const NodeFacts& facts, const Options& options)
        : facts_(facts),
          options_(options),
          rules_(rules_for(options.version)),
          settings_(read_settings(facts, rules_)) {}

    Answer run() {
        answer_.version = options_.version;
        answer_.transport = read_transport(facts_, rules_, settings_);
        if (facts_.topology) answer_.topology_used = facts_.topology->path;
        note_net_plugin();
        choose();
        settle_node_dmabuf();

        std::vector<std::size_t> all(facts_.gpus.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        const auto scope = options_.scope.value_or(all);
        const auto node = view_of(facts_, options_, rules_, settings_, choice_.ports, all);
        answer_.nvlink_inferred =
            options_.nvlink == NvlinkMode::automatic &&
            std::any_of(node.models.begin(), node.models.end(), [](const auto& model) { return model.nvlink; });
        note_merges(node);
        if (scope == all) {
            answer_gpus(node, node);
        } else {
            answer_gpus(node, view_of(facts_, options_, rules_, settings_, choice_.ports, scope));
        }
        answer_.nics = std::move(choice_.answers);
        answer_.misreadings = std::move(choice_.misreadings);
        return std::move(answer_);
    }

  private:
    void note_net_plugin() {
        auto reason = plugin_reason(facts_, options_, settings_);
        answer_.net_plugin = reason.has_value();
        if (reason) answer_.net_plugin_why = std::move(*reason);
    }

    void choose() {
        std::vector<NicAnswer> transports;
        for (const auto& device : facts_.rdma) {
            std::optional<bool> probed;
            for (const auto& [name, supported] : options_.dmabuf_probed) {
                if (name == device.name) probed = supported;
            }
            NicAnswer answer;
            answer.transport = nic_transport(facts_, device, answer_.transport, options_.require, probed);
            transports.push_back(std::move(answer));
        }
        choice_ = choose_ports(facts_, options_, rules_, settings_, std::move(transports));
    }

    /// The node has DMA-BUF when a NIC that NCCL uses has it.
    void settle_node_dmabuf() {
        if (!options_.dmabuf_probed.empty()) answer_.transport.dmabuf_source = "verbs";
        if (answer_.transport.dmabuf != Tristate::yes) return;
        const NicTransport* best = nullptr;
        for (const auto& nic : choice_.answers) {
            if (!nic.used) continue;
            const auto rank = [](Tristate value) {
                return value == Tristate::yes ? 2 : value == Tristate::unknown ? 1 : 0;
            };
            if (best == nullptr || rank(nic.transport.dmabuf) > rank(best->dmabuf)) best = &nic.transport;
        }
        if (best == nullptr) return;
        answer_.transport.dmabuf = best->dmabuf;
        answer_.transport.dmabuf_why = best->dmabuf_why;
    }

    /// Which RDMA devices a network device is made of.
    std::vector<std::size_t> members(const View& view, std::size_t device) const {
        std::vector<std::size_t> found;
        for (const auto port : view.tree.devices[device].ports) {
            const auto index = choice_.ports[port].device;
            if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
        }
        return found;
    }

    void note_merges(const View& view) {
        for (std::size_t device = 0; device < view.tree.devices.size(); ++device) {
            const auto devices = members(view, device);
            if (devices.size() < 2) continue;
            std::string name;
            bool one_card = true;
            for (const auto index : devices) {
                name += (name.empty() ? "" : "+") + facts_.rdma[index].name;
                one_card = one_card && same_card(facts_.rdma[index], facts_.rdma[devices.front()]);
            }
            for (const auto index : devices) choice_.answers[index].merged_into = name;
            if (one_card || settings_.merge_level) continue;
            choice_.misreadings.push_back(
                {.kind = Misreading::Kind::merged_cards,
                 .nic = name,
                 .text = fmt::format("NCCL takes {} for ports of one card because their addresses differ only in the "
                                     "device number, and merges them",
                                     name),
                 .remedy = "NCCL_IB_MERGE_VFS=0 in /etc/nccl.conf"});
        }
    }

    static bool same_card(const RdmaDevice& one, const RdmaDevice& other) {
        if (!one.sys_image_guid.empty() && one.sys_image_guid == other.sys_image_guid) return true;
        return one.pci && other.pci && one.pci->domain == other.pci->domain && one.pci->bus == other.pci->bus &&
               (one.pci->device == other.pci->device || one.is_vf || other.is_vf);
    }

    /// `node`: all GPUs, for NIC selection; `scope`: the job's GPUs, for relays and the NVLink test.
    void answer_gpus(const View& node, const View& scope) {
        auto node_routes = node.distances(rules_, settings_);
        node_routes.route();
        auto scope_routes = scope.distances(rules_, settings_);
        const auto able = capable(scope);
        const auto plain = able.distances(rules_, settings_);
        add_pairs(scope, plain, scope_routes);
        scope_routes.route();
        for (std::size_t rank = 0; rank < scope.gpus.size(); ++rank) {
            const auto in_node = static_cast<std::size_t>(
                std::find(node.gpus.begin(), node.gpus.end(), scope.gpus[rank]) - node.gpus.begin());
            answer_.gpus.push_back(answer_gpu(scope, rank, plain, scope_routes, node_routes.selected(in_node), node));
        }
        blame_misreadings(scope);
    }

    void add_pairs(const View& view, const Distances& plain, const Distances& unrouted) {
        for (std::size_t rank = 0; rank < view.gpus.size(); ++rank) {
            for (std::size_t device = 0; device < view.tree.devices.size(); ++device) {
                for (const auto index : members(view, device)) {
                    const auto via = choice_.answers[index].transport.via;
                    const bool works = via != Via::none;
                    Pair pair{
                        .gpu = view.gpus[rank], .nic = facts_.rdma[index].name, .path = plain.path(rank, device).type};
                    pair.gdr_recv = works && unrouted.gdr(rank, device, false);
                    pair.gdr_send = works && unrouted.gdr(rank, device, true);
                    pair.via = pair.gdr_recv || pair.gdr_send ? via : Via::none;
                    answer_.pairs.push_back(std::move(pair));
                }
            }
        }
        const auto place = [&](const std::string& name) {
            const auto found = std::find_if(facts_.rdma.begin(), facts_.rdma.end(),
                                            [&](const auto& device) { return device.name == name; });
            return found - facts_.rdma.begin();
        };
        std::stable_sort(answer_.pairs.begin(), answer_.pairs.end(), [&](const Pair& a, const Pair& b) {
            return a.gpu != b.gpu ? a.gpu < b.gpu : place(a.nic) < place(b.nic);
        });
    }

    GpuAnswer answer_gpu(const View& view, std::size_t rank, const Distances& plain, const Distances& routed,
                         const std::vector<std::size_t>& selected, const View& node) const {
        GpuAnswer gpu;
        gpu.gpu = view.gpus[rank];
        gpu.model = view.models[rank];
        if (selected.empty()) {
            gpu.status = facts_.rdma_readable.known() ? GpuStatus::no_nic : GpuStatus::unknown;
            gpu.why = facts_.rdma_readable.known() ? "no NIC that NCCL can use" : facts_.rdma_readable.why;
            return gpu;
        }
        std::size_t good = 0;
        std::size_t undecided = 0;
        for (const auto device : selected) {
            const auto indices = members(node, device);
            for (const auto index : indices) gpu.selected.push_back(facts_.rdma[index].name);
            const bool works = std::all_of(indices.begin(), indices.end(), [&](std::size_t index) {
                return choice_.answers[index].transport.via != Via::none;
            });
            const bool known = std::all_of(indices.begin(), indices.end(),
                                           [&](std::size_t index) { return choice_.answers[index].transport.known; });
            if (works && routed.gdr(rank, device, false) && routed.gdr(rank, device, true)) ++good;
            if (!known && gpu.model.gdr && plain.gdr(rank, device, false)) ++undecided;
        }
        const auto first = selected.front();
        gpu.nic = gpu.selected.front();
        gpu.path = plain.path(rank, first).type;
        gpu.relay = relay_of(view, rank, first, routed);
        settle_status(gpu, good, undecided, selected.size());
        if (gpu.status == GpuStatus::gdr || gpu.status == GpuStatus::relay) {
            gpu.via = choice_.answers[members(node, first).front()].transport.via;
        } else {
            gpu.relay.reset();
        }
        return gpu;
    }

    static std::optional<std::size_t> relay_of(const View& view, std::size_t rank, std::size_t device,
                                               const Distances& routed) {
        if (routed.path(rank, device).type != Path::PXN) return std::nullopt;
        const auto peer = routed.relay(rank, device);
        return peer ? std::optional(view.gpus[*peer]) : std::nullopt;
    }

    void settle_status(GpuAnswer& gpu, std::size_t good, std::size_t undecided, std::size_t count) const {
        const auto collided =
            std::any_of(choice_.ports.begin(), choice_.ports.end(), [](const NetPort& port) { return port.collides; });
        if (collided) {
            gpu.status = GpuStatus::unknown;
            gpu.why = "NCCL crashes while it reads this node's topology";
        } else if (good > 0) {
            gpu.status = gpu.relay ? GpuStatus::relay : GpuStatus::gdr;
            gpu.mixed = good < count;
        } else if (undecided > 0) {
            gpu.status = GpuStatus::unknown;
            gpu.why = answer_.transport.dmabuf_why;
        } else {
            gpu.status = GpuStatus::staged;
            gpu.why = staged_why(gpu);
        }
    }

    std::string staged_why(const GpuAnswer& gpu) const {
        if (!gpu.model.gdr) return fmt::format("{} has no GPUDirect RDMA", gpu.model.name);
        for (const auto& nic : choice_.answers) {
            if (nic.name == gpu.nic && nic.transport.via == Via::none)
                return "no transport: neither peermem nor DMA-BUF";
        }
        const auto limit = settings_.gdr_level.value_or(Path::PXB);
        return fmt::format("distance {} to {} is beyond {}", to_string(gpu.path), gpu.nic, to_string(limit));
    }

    /// A misreading matters to the GPUs that lose GDR by it: those that select the NIC, or would.
    void blame_misreadings(const View& view) {
        for (auto& note : choice_.misreadings) {
            for (std::size_t rank = 0; rank < view.gpus.size(); ++rank) {
                const auto& gpu = answer_.gpus[rank];
                const bool selects = std::any_of(gpu.selected.begin(), gpu.selected.end(), [&](const auto& name) {
                    return note.nic.find(name) != std::string::npos;
                });
                if (selects || note.kind == Misreading::Kind::collides_with_gpu) note.gpus.push_back(gpu.gpu);
            }
        }
    }

    const NodeFacts& facts_;
    const Options& options_;
    const Rules& rules_;
    Settings settings_;
    PortChoice choice_;
    Answer answer_;
};

}  // namespace

Answer judge_like_nccl(const NodeFacts& facts, const Options& options) {
    return Judge(facts, options).run();
}

}  // namespace gdrcheck::nccl
