#include "common/nccl/nics.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "common/base/glob.hpp"
#include "common/facts/port_state.hpp"

namespace gdrcheck::nccl {
namespace {

std::string_view last_component(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

/// net_ib.cc ncclIbGetPciPath: the function digit becomes 0 so that the ports of a card are one device, and with
/// NCCL_IB_MERGE_VFS the two device digits become 00 so that VFs join their PF. Done on the text, whatever it is.
std::string edit_path(std::string path, bool merge_vfs) {
    if (path.size() < 5) return path;
    path[path.size() - 1] = '0';
    if (merge_vfs) path[path.size() - 3] = path[path.size() - 4] = '0';
    return path;
}

const PciFunction* function_at(const NodeFacts& facts, std::string_view path) {
    const auto address = parse_pci_address(last_component(path));
    if (!address) return nullptr;
    const auto* function = facts.function(*address);
    return function != nullptr && function->sysfs_path == path ? function : nullptr;
}

bool is_gpu(const NodeFacts& facts, const PciAddress& address) {
    return std::any_of(facts.gpus.begin(), facts.gpus.end(), [&](const Gpu& gpu) { return gpu.pci == address; });
}

bool link_layer_taken(const RdmaPort& port) {
    return port.link_layer == "InfiniBand" || port.link_layer == "Ethernet";
}

std::string port_state_text(const RdmaPort& port) {
    if (!port.state) return port.state_why.empty() ? "state unreadable" : port.state_why;
    return to_string(*port.state);
}

bool matches_any(const std::vector<std::string>& globs, std::string_view name) {
    return std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return glob_matches(glob, name); });
}

/// Empty: policy has nothing against the device.
std::string refused_by_policy(const Options& options, std::string_view name) {
    if (matches_any(options.exclude, name)) return "excluded by [nics] exclude";
    if (!options.compute.empty() && !matches_any(options.compute, name)) return "not in [nics] compute";
    return {};
}

/// Empty: NCCL takes the port.
std::string refused_by_nccl(const RdmaDevice& device, const RdmaPort& port, const Settings& settings) {
    if (port.state != PortState::active) return fmt::format("port {} is {}", port.number, port_state_text(port));
    if (!link_layer_taken(port)) return fmt::format("port {} has link layer '{}'", port.number, port.link_layer);
    if (!settings.hca.takes(device.name, port.number)) return "NCCL_IB_HCA in /etc/nccl.conf leaves it out";
    return {};
}

Misreading misattached(const RdmaDevice& device, const std::string& edited) {
    const bool is_function = device.device_is_pci && device.pci.has_value();
    return {
        .kind = Misreading::Kind::misattached,
        .nic = device.name,
        .text = is_function
                    ? fmt::format("NCCL takes {} at {} for {}, which does not exist, and attaches it to the first CPU",
                                  device.name, to_string(*device.pci), last_component(edited))
                    : fmt::format("{} is no PCI function of its own ({}); NCCL attaches it to the first CPU",
                                  device.name, last_component(device.device_path)),
        .remedy = is_function && device.pci->function == 0
                      ? "NCCL_IB_MERGE_VFS=0 in /etc/nccl.conf"
                      : "a topology file (NCCL_TOPO_FILE) that names the NIC's place"};
}

Misreading collision(const RdmaDevice& device, const PciAddress& gpu) {
    return {
        .kind = Misreading::Kind::collides_with_gpu,
        .nic = device.name,
        .text = fmt::format("NCCL takes {} at {} for {}, the address of a GPU on the same bus, and then crashes in its "
                            "topology detection (seen with 2.28.9)",
                            device.name, to_string(device.pci.value_or(PciAddress{})), to_string(gpu)),
        .remedy = "NCCL_IB_MERGE_VFS=0 in /etc/nccl.conf"};
}

/// Fills in by which path NCCL knows the port, and notes where that goes wrong.
void place_port(const NodeFacts& facts, const RdmaDevice& device, const Settings& settings, NetPort& port,
                std::vector<Misreading>& misreadings) {
    const auto note_once = [&](Misreading note) {
        const bool known = std::any_of(misreadings.begin(), misreadings.end(), [&](const auto& other) {
            return other.nic == note.nic && other.kind == note.kind;
        });
        if (!known) misreadings.push_back(std::move(note));
    };
    port.path = edit_path(device.device_path, settings.merge_vfs);
    const auto* function = function_at(facts, port.path);
    if (function == nullptr) {
        port.on_pci = false;
        note_once(misattached(device, port.path));
    } else if (is_gpu(facts, function->address)) {
        port.collides = true;
        port.path = device.device_path;
        note_once(collision(device, function->address));
    }
}

bool takes_data_direct(const NodeFacts& facts, const RdmaDevice& device, const NicTransport& transport,
                       const Rules& rules, const Settings& settings) {
    return rules.data_direct && settings.data_direct && device.data_direct && transport.dmabuf == Tristate::yes &&
           facts.function(*device.data_direct) != nullptr;
}

}  // namespace

PortChoice choose_ports(const NodeFacts& facts, const Options& options, const Rules& rules, const Settings& settings,
                        std::vector<NicAnswer> transports) {
    PortChoice choice;
    choice.answers = std::move(transports);
    for (std::size_t index = 0; index < facts.rdma.size(); ++index) {
        const auto& device = facts.rdma[index];
        auto& answer = choice.answers[index];
        answer.name = device.name;
        answer.pci = device.pci;
        answer.unused_why =
            settings.ib_disabled ? "NCCL_IB_DISABLE=1 in /etc/nccl.conf" : refused_by_policy(options, device.name);
        if (!answer.unused_why.empty()) continue;
        if (device.ports.empty()) answer.unused_why = "has no port";
        for (const auto& port : device.ports) {
            const auto refusal = refused_by_nccl(device, port, settings);
            if (!refusal.empty()) {
                answer.unused_why = refusal;
                continue;
            }
            NetPort taken{.device = index, .port = port.number, .gbps = port.gbps, .name = device.name};
            taken.tries_gdr = answer.transport.nccl_tries;
            if (takes_data_direct(facts, device, answer.transport, rules, settings)) {
                taken.data_direct = true;
                taken.name += "_dma";
                taken.path = facts.function(*device.data_direct)->sysfs_path;
                answer.pci = device.data_direct;
                answer.data_direct = true;
            } else {
                place_port(facts, device, settings, taken, choice.misreadings);
            }
            answer.used = true;
            answer.used_ports.push_back(port.number);
            choice.ports.push_back(std::move(taken));
        }
        if (answer.used) answer.unused_why.clear();
    }
    return choice;
}

NetDevice join_ports(const std::vector<NetPort>& ports, std::vector<std::size_t> members) {
    NetDevice device;
    device.tries_gdr = true;
    for (const auto member : members) {
        const auto& port = ports[member];
        device.name += (device.name.empty() ? "" : "+") + port.name;
        device.gbps += port.gbps;
        device.tries_gdr = device.tries_gdr && port.tries_gdr;
    }
    device.ports = std::move(members);
    return device;
}

std::vector<NetDevice> merge_by_card(const NodeFacts& facts, const std::vector<NetPort>& ports, const Rules& rules,
                                     const Settings& settings) {
    std::vector<std::vector<std::size_t>> groups;
    const bool merges = rules.merging == Merging::by_card && settings.merge_nics;
    const auto same_card = [&](std::size_t left, std::size_t right) {
        const auto& a = facts.rdma[ports[left].device];
        const auto& b = facts.rdma[ports[right].device];
        const auto link_of = [&](const RdmaDevice& device, int number) {
            for (const auto& port : device.ports) {
                if (port.number == number) return port.link_layer;
            }
            return std::string{};
        };
        return ports[left].path == ports[right].path && a.sys_image_guid == b.sys_image_guid &&
               link_of(a, ports[left].port) == link_of(b, ports[right].port);
    };
    for (std::size_t index = 0; index < ports.size(); ++index) {
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
            return merges && members.size() < static_cast<std::size_t>(rules.max_merged_ports) &&
                   same_card(members.front(), index);
        });
        if (group == groups.end()) {
            groups.push_back({index});
        } else {
            group->push_back(index);
        }
    }
    std::vector<NetDevice> devices;
    devices.reserve(groups.size());
    for (auto& members : groups) devices.push_back(join_ports(ports, std::move(members)));
    return devices;
}

}  // namespace gdrcheck::nccl
