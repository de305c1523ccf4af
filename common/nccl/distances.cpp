#include "common/nccl/distances.hpp"

#include <algorithm>

namespace gdrcheck::nccl {
namespace {

constexpr std::size_t channels = 32;  // of a communicator; more only repeat the choice

bool is_power_of_two(std::size_t value) {
    return (value & (value - 1)) == 0;
}

/// The low bits of `value` in reverse order, so that neighbours spread over `count` (a power of two).
std::size_t mirror_bits(std::size_t value, std::size_t count) {
    std::size_t mirrored = 0;
    for (std::size_t low = 1, high = count >> 1U; low < count; low <<= 1U, high >>= 1U) {
        if ((value & low) != 0) mirrored |= high;
    }
    return mirrored;
}

std::size_t divide_up(std::size_t value, std::size_t by) {
    return (value + by - 1) / by;
}

/// First node of each subject of one kind, by subject.
std::vector<std::size_t> nodes_of(const Graph& graph, GraphNode::Kind kind, std::size_t count) {
    std::vector<std::size_t> nodes(count, TreeNode::none);
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        if (graph.nodes[node].kind != kind || graph.nodes[node].subject >= count) continue;
        if (nodes[graph.nodes[node].subject] == TreeNode::none) nodes[graph.nodes[node].subject] = node;
    }
    return nodes;
}

std::vector<std::vector<PathInfo>> pick(const std::vector<std::vector<PathInfo>>& paths,
                                        const std::vector<std::size_t>& nodes, std::size_t targets) {
    std::vector<std::vector<PathInfo>> picked;
    picked.reserve(nodes.size());
    for (const auto node : nodes) {
        picked.push_back(node == TreeNode::none ? std::vector<PathInfo>(targets) : paths[node]);
    }
    return picked;
}

}  // namespace

Distances::Distances(const DistanceInput& input) : input_(input) {
    const auto& graph = input.graph;
    const auto to_cpu = paths_to(graph, GraphNode::Kind::cpu, graph.cpu_count);
    const auto to_gpu = paths_to(graph, GraphNode::Kind::gpu, graph.gpu_count);
    const auto to_net = paths_to(graph, GraphNode::Kind::net, graph.net_count);
    const auto cpus = nodes_of(graph, GraphNode::Kind::cpu, graph.cpu_count);
    const auto gpus = nodes_of(graph, GraphNode::Kind::gpu, graph.gpu_count);
    const auto nets = nodes_of(graph, GraphNode::Kind::net, graph.net_count);
    gpu_net_ = pick(to_net, gpus, graph.net_count);
    net_gpu_ = pick(to_gpu, nets, graph.gpu_count);
    gpu_cpu_ = pick(to_cpu, gpus, graph.cpu_count);
    net_cpu_ = pick(to_cpu, nets, graph.cpu_count);
    cpu_net_ = pick(to_net, cpus, graph.net_count);
    cpu_gpu_ = pick(to_gpu, cpus, graph.gpu_count);
    relays_.assign(graph.gpu_count, std::vector<std::optional<std::size_t>>(graph.net_count));
    name_c2c_paths();
}

Path Distances::join_types(Path one, Path other) const {
    const bool has_p2c = input_.rules.c2c == C2cRule::p2c || input_.rules.c2c == C2cRule::p2c_local;
    if (has_p2c && std::min(one, other) == Path::C2C && std::max(one, other) == Path::PHB) return Path::P2C;
    return std::max(one, other);
}

void Distances::name_c2c_paths() {
    for (std::size_t rank = 0; rank < gpu_net_.size(); ++rank) {
        const auto cpu = local_cpu(rank);
        if (!cpu) continue;
        const auto near = nearest(gpu_net_[rank], input_.graph.net_order);
        for (std::size_t device = 0; device < net_gpu_.size(); ++device) {
            const bool counts =
                input_.rules.c2c != C2cRule::p2c_local || std::find(near.begin(), near.end(), device) != near.end();
            if (!counts || join_types(gpu_cpu_[rank][*cpu].type, net_cpu_[device][*cpu].type) != Path::P2C) continue;
            gpu_net_[rank][device].type = std::min(Path::P2C, gpu_net_[rank][device].type);
            net_gpu_[device][rank].type = std::min(Path::P2C, net_gpu_[device][rank].type);
        }
    }
}

std::optional<std::size_t> Distances::local_cpu(std::size_t rank) const {
    std::optional<std::size_t> nearest_cpu;
    for (std::size_t cpu = 0; cpu < gpu_cpu_[rank].size(); ++cpu) {
        const int hops = gpu_cpu_[rank][cpu].hops;
        if (hops > 0 && (!nearest_cpu || hops < gpu_cpu_[rank][*nearest_cpu].hops)) nearest_cpu = cpu;
    }
    return nearest_cpu;
}

bool Distances::nvlinked(std::size_t one, std::size_t other) const {
    return one != other && input_.models[one].nvlink && input_.models[other].nvlink;
}

/// topo.cc ncclTopoGetLocal: bandwidth first, then distance. A faster NIC far away beats a slower one close by.
std::vector<std::size_t> Distances::nearest(const std::vector<PathInfo>& paths,
                                            const std::vector<std::size_t>& order) const {
    float widest = 0;
    Path type = Path::DIS;
    std::vector<std::size_t> found;
    for (const auto target : order) {
        const auto& path = paths[target];
        if (path.gbytes_per_s > widest || (path.gbytes_per_s == widest && path.type < type)) {
            widest = path.gbytes_per_s;
            type = path.type;
            found.clear();
        }
        if (path.gbytes_per_s == widest && path.type == type) found.push_back(target);
    }
    return found;
}

std::size_t Distances::Choice::of_channel(std::size_t channel) const {
    return nets[(first + channel % per_gpu) % nets.size()];
}

/// topo.cc ncclTopoGetLocalNet. The GPU's NVML number, not its rank, spreads GPUs over equally near NICs.
Distances::Choice Distances::choose(std::size_t rank) const {
    Choice choice;
    choice.nets = nearest(gpu_net_[rank], input_.graph.net_order);
    const auto count = choice.nets.size();
    if (count == 0) return choice;
    const auto sharing =
        std::max<std::size_t>(1, nearest(net_gpu_[choice.nets.front()], input_.graph.gpu_order).size());
    const auto nvml = static_cast<std::size_t>(input_.nvml_index[rank]);
    if (input_.rules.rails) {
        choose_rail(choice, nvml, sharing);
    } else {
        choice.first = is_power_of_two(count) ? mirror_bits(nvml, count) : nvml;
        choice.per_gpu = divide_up(count, sharing);
    }
    if (input_.settings.net_devices == Settings::NetDevices::all) choice.per_gpu = count;
    if (input_.settings.net_devices == Settings::NetDevices::limited) {
        choice.per_gpu = std::min(static_cast<std::size_t>(input_.settings.net_devices_limit), count);
    }
    choice.per_gpu = std::max<std::size_t>(1, choice.per_gpu);
    return choice;
}

/// From 2.30 on the devices of one card are a rail, and rails are what is spread over the GPUs.
void Distances::choose_rail(Choice& choice, std::size_t nvml, std::size_t sharing) const {
    std::vector<std::string> cards;
    for (const auto net : choice.nets) {
        if (std::find(cards.begin(), cards.end(), input_.net_card[net]) == cards.end()) {
            cards.push_back(input_.net_card[net]);
        }
    }
    const auto card_of = [&](std::size_t net) {
        return std::find(cards.begin(), cards.end(), input_.net_card[net]) - cards.begin();
    };
    std::stable_sort(choice.nets.begin(), choice.nets.end(), [&](auto a, auto b) { return card_of(a) < card_of(b); });
    std::vector<std::size_t> starts(cards.size() + 1, 0);
    for (const auto net : choice.nets) ++starts[static_cast<std::size_t>(card_of(net)) + 1];
    for (std::size_t card = 0; card < cards.size(); ++card) starts[card + 1] += starts[card];
    const auto rails = cards.size();
    const auto rails_per_gpu = divide_up(rails, sharing);
    const auto rail = is_power_of_two(rails) ? mirror_bits(nvml, rails) : (nvml * rails_per_gpu) % rails;
    const auto end = rail + rails_per_gpu;
    choice.first = starts[rail];
    choice.per_gpu = starts[end % rails] + (end < rails ? 0 : starts[rails]) - starts[rail];
}

std::vector<std::size_t> Distances::selected(std::size_t rank) const {
    std::vector<std::size_t> devices;
    const auto choice = choose(rank);
    for (std::size_t channel = 0; channel < channels && !choice.nets.empty(); ++channel) {
        const auto device = choice.of_channel(channel);
        if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
    }
    return devices;
}

/// topo.cc ncclTopoGetLocalGpu: of the GPUs nearest to the NIC, the one that selects it for the lowest channel.
std::optional<std::size_t> Distances::local_gpu(std::size_t device) const {
    const auto near = nearest(net_gpu_[device], input_.graph.gpu_order);
    std::vector<Choice> choices;
    choices.reserve(near.size());
    for (const auto rank : near) choices.push_back(choose(rank));
    for (std::size_t channel = 0; channel < channels; ++channel) {
        for (std::size_t at = 0; at < near.size(); ++at) {
            if (!choices[at].nets.empty() && choices[at].of_channel(channel) == device) return near[at];
        }
    }
    return std::nullopt;
}

bool Distances::send_allowed(std::size_t rank) const {
    if (input_.settings.gdr_read) return *input_.settings.gdr_read;
    const auto capability = input_.models[rank].compute_capability;
    const bool old_gpu = capability != 0 && capability < 80;
    if (!old_gpu && !input_.rules.send_needs_nvlink_on_any_gpu) return true;
    if (input_.models.size() == 1) return true;
    for (std::size_t other = 0; other < input_.models.size(); ++other) {
        if (nvlinked(rank, other)) return true;
    }
    return false;
}

bool Distances::gdr(std::size_t rank, std::size_t device, bool read) const {
    if (!input_.net_gdr[device] || !input_.gpu_gdr[rank]) return false;
    if (read && !send_allowed(rank)) return false;
    auto end = rank;
    if (gpu_net_[rank][device].type == Path::PXN) end = relays_[rank][device].value_or(rank);
    auto distance = gpu_net_[end][device].type;
    if (input_.settings.gdr_c2c) {
        const auto cpu = local_cpu(end);
        const bool c2c_gpu = cpu && gpu_cpu_[end][*cpu].type == Path::C2C;
        const bool at_cpu =
            input_.rules.c2c == C2cRule::as_c2c ? c2c_gpu && distance == Path::PHB : distance == Path::P2C;
        if (at_cpu) distance = Path::C2C;
    }
    return distance <= input_.settings.gdr_level.value_or(Path::PXB);
}

void Distances::try_relay(std::size_t rank, std::size_t device) {
    if (!input_.models[rank].nvlink) return;
    const auto peer = local_gpu(device);
    if (!peer || *peer == rank || !nvlinked(rank, *peer)) return;
    const auto& own = gpu_net_[rank][device];
    const auto& through = gpu_net_[*peer][device];
    const auto limit = input_.settings.pxn_c2c ? Path::P2C : Path::PXB;
    if (through.type > limit) return;
    if (through.gbytes_per_s <= own.gbytes_per_s && own.type <= Path::PXN) return;
    gpu_net_[rank][device] = {through.gbytes_per_s, through.hops + 2, Path::PXN};
    relays_[rank][device] = peer;
}

void Distances::divert(std::size_t rank, std::size_t device) {
    const auto cpu = local_cpu(rank);
    if (!cpu) return;
    const auto join = [&](const PathInfo& one, const PathInfo& other) {
        return PathInfo{std::min(one.gbytes_per_s, other.gbytes_per_s), one.hops + other.hops,
                        join_types(one.type, other.type)};
    };
    net_gpu_[device][rank] = join(net_cpu_[device][*cpu], cpu_gpu_[*cpu][rank]);
    gpu_net_[rank][device] = join(gpu_cpu_[rank][*cpu], cpu_net_[*cpu][device]);
    relays_[rank][device].reset();
}

void Distances::route() {
    for (const auto device : input_.graph.net_order) {
        for (const auto rank : input_.graph.gpu_order) {
            if (!input_.settings.pxn_disabled) try_relay(rank, device);
            if (gpu_net_[rank][device].type < Path::PHB && !gdr(rank, device, false)) divert(rank, device);
        }
    }
}

}  // namespace gdrcheck::nccl
