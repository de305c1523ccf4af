// RDMA devices from /sys/class/infiniband (drivers/infiniband/core/sysfs.c).
#include <algorithm>
#include <cerrno>
#include <set>

#include "common/base/text.hpp"
#include "common/probe/pci_function.hpp"
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::string_view class_directory = "/sys/class/infiniband";
constexpr std::string_view verbs_directory = "/sys/class/infiniband_verbs";
constexpr std::string_view device_nodes = "/dev/infiniband";
constexpr int gid_slots_read = 2;  ///< the first hold the port's own netdev; a RoCE port has hundreds

/// "LinkUp" of "5: LinkUp".
std::string after_number(std::string_view text) {
    const auto colon = text.find(':');
    return std::string(trim(colon == std::string_view::npos ? text : text.substr(colon + 1)));
}

void read_state(const RootFs::Directory& directory, RdmaPort& port) {
    const auto text = directory.read_line("state");
    if (!text) {
        port.state_why = text.error().what;
        return;
    }
    const auto number = parse_number<int>(trim(text->substr(0, text->find(':'))));
    if (!number || *number < 0 || *number > static_cast<int>(PortState::active_defer)) {
        port.state_why = directory.path() + "/state: " + quoted(*text) + " is no port state";
        return;
    }
    port.state = static_cast<PortState>(*number);
}

/// 400 of "400 Gb/sec (4X NDR)"; 0 when it says something else.
double rate_gbps(std::string_view rate) {
    const auto unit = rate.find(" Gb/sec");
    if (unit == std::string_view::npos) return 0;
    const auto value = parse_decimal(rate.substr(0, unit)).value_or(0);
    return value > 0 && value < 1e6 ? value : 0;
}

std::vector<std::string> read_netdevs(const RootFs::Directory& port) {
    std::set<std::string> names;
    for (int slot = 0; slot < gid_slots_read; ++slot) {
        const auto name = port.read_line("gid_attrs/ndevs/" + std::to_string(slot));
        if (!name) break;  // EINVAL: an empty slot
        if (!name->empty()) names.insert(*name);
    }
    return {names.begin(), names.end()};
}

/// A device that cannot be looked at may be the NIC that matters: then what RDMA there is is not known.
void note_unreadable(const Error& error, NodeFacts& facts) {
    if (error.code != ENOENT && error.code != ENODEV) facts.rdma_readable = {.why = error.what};
}

std::vector<RdmaPort> read_ports(const RootFs& root, const std::string& device, NodeFacts& facts) {
    std::vector<RdmaPort> ports;
    const auto names = root.list(device + "/ports");
    if (!names) {
        note_unreadable(names.error(), facts);
        return ports;
    }
    for (const auto& name : *names) {
        const auto number = parse_number<int>(name);
        if (!number || *number < 0) continue;
        RdmaPort port{.number = *number};
        const auto directory = root.directory(device + "/ports/" + name);
        if (!directory) {
            port.state_why = directory.error().what;
            ports.push_back(std::move(port));
            continue;
        }
        read_state(*directory, port);
        port.phys_state = after_number(directory->read_line("phys_state").value_or(""));
        port.link_layer = directory->read_line("link_layer").value_or("");
        port.rate = directory->read_line("rate").value_or("");
        port.gbps = rate_gbps(port.rate);
        if (port.link_layer == "Ethernet") port.netdevs = read_netdevs(*directory);
        ports.push_back(std::move(port));
    }
    std::sort(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return ports;
}

/// The part of `path` up to its last PCI function: an SF's device lies below one.
std::string nearest_function(std::string path) {
    while (!path.empty() && !parse_pci_address(last_component(path)))
        path.resize(path.find('/') == std::string::npos ? 0 : path.rfind('/'));
    return path;
}

/// NCCL takes a NIC for function 0 of its device, and for device 00 of its bus (net_ib.cc ncclIbGetPciPath): whether
/// there is such a function decides what it sees.
void add_identities(const RootFs& root, const PciFunction& nic, NodeFacts& facts) {
    const auto directory = nic.sysfs_path.substr(0, nic.sysfs_path.rfind('/') + 1);
    auto identity = nic.address;
    identity.function = 0;
    if (identity != nic.address) add_function(root, directory + to_string(identity), facts);
    if (identity.device == 0) return;
    identity.device = 0;
    add_function(root, directory + to_string(identity), facts);
}

void place_on_pci(const RootFs& root, const RootFs::Directory& directory, RdmaDevice& device, NodeFacts& facts) {
    const auto path = root.resolve(directory.path() + "/device");
    if (!path) return;
    device.device_path = *path;
    device.is_sf = path->find("mlx5_core.sf.") != std::string::npos;
    const auto subsystem = root.read_link(*path + "/subsystem");
    device.device_is_pci =
        subsystem ? last_component(*subsystem) == "pci" : parse_pci_address(last_component(*path)).has_value();

    const auto* const function = add_function(root, nearest_function(*path), facts);
    if (function == nullptr) return;
    device.pci = function->address;
    device.driver = function->driver;
    device.is_vf = function->physical_function.has_value();
    add_identities(root, *function, facts);
}

RdmaDevice read_device(const RootFs& root, const std::string& name, NodeFacts& facts) {
    RdmaDevice device{.name = name};
    const auto directory = root.directory(join_path(class_directory, name));
    if (!directory) {
        note_unreadable(directory.error(), facts);
        return device;
    }
    place_on_pci(root, *directory, device, facts);
    device.sys_image_guid = directory->read_line("sys_image_guid").value_or("");
    device.hca_type = directory->read_line("hca_type").value_or("");
    device.board_id = directory->read_line("board_id").value_or("");
    device.ports = read_ports(root, directory->path(), facts);
    return device;
}

/// RDMA device -> its "uverbsN".
std::map<std::string, std::string> read_uverbs(const RootFs& root) {
    std::map<std::string, std::string> uverbs;
    const auto names = root.list(verbs_directory);
    if (!names) return uverbs;
    for (const auto& name : *names) {
        if (!name.starts_with("uverbs")) continue;
        if (const auto device = root.read_line(join_path(verbs_directory, name) + "/ibdev")) {
            uverbs.emplace(*device, name);
        }
    }
    return uverbs;
}

/// Names in /dev/infiniband. A root without a real /dev (which always has null) cannot tell what is missing there.
Reading<std::set<std::string>> read_device_nodes(const RootFs& root) {
    const auto names = root.list(device_nodes);
    if (names) return {.value = std::set<std::string>(names->begin(), names->end())};
    const bool has_devices = root.exists("/dev") && (root.exists("/dev/null") || !root.exists("/dev/kmsg.txt"));
    if (names.error().code == ENOENT && has_devices) return {.value = std::set<std::string>{}};
    return {.why = names.error().what};
}

void match_data_direct(const RootFs& root, NodeFacts& facts) {
    std::map<std::string, PciAddress> by_vuid;
    for (const auto& [address, function] : facts.pci) {
        if (!function.vuid.empty()) by_vuid.emplace(function.vuid, address);
    }
    if (by_vuid.empty()) return;
    for (auto& device : facts.rdma) {
        if (!device.pci) continue;
        auto& function = facts.pci.at(*device.pci);
        if (function.vuid.empty()) {
            const auto directory = root.directory(function.sysfs_path);
            if (directory) function.vuid = read_vuid(*directory);
        }
        const auto match = by_vuid.find(function.vuid);
        if (match != by_vuid.end() && match->second != *device.pci) device.data_direct = match->second;
    }
}

}  // namespace

void read_rdma(const RootFs& root, NodeFacts& facts) {
    auto names = root.list(class_directory);
    if (!names) {
        // Without the directory there is no RDMA stack; without /sys/class nobody looked.
        if (names.error().code == ENOENT && root.exists("/sys/class")) {
            facts.rdma_readable.value = true;
        } else {
            facts.rdma_readable.why = names.error().what;
        }
        return;
    }
    facts.rdma_readable.value = true;
    std::sort(names->begin(), names->end(), natural_less);
    for (const auto& name : *names) facts.rdma.push_back(read_device(root, name, facts));

    if (facts.rdma.empty()) return;
    const auto uverbs = read_uverbs(root);
    const auto nodes = read_device_nodes(root);
    for (auto& device : facts.rdma) {
        const auto found = uverbs.find(device.name);
        if (found == uverbs.end()) continue;
        device.uverbs = found->second;
        device.uverbs_node.why = nodes.why;
        if (nodes.known()) device.uverbs_node.value = nodes.value->contains(device.uverbs);
    }
    match_data_direct(root, facts);
    const auto* const core = facts.module("ib_core");
    facts.ib_core_builtin = facts.modules_readable && (core == nullptr || core->state == "builtin");
}

}  // namespace gdrcheck::probe
