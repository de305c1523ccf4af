// The PCI bus: of every function its class, of those that matter here everything. NICs are added by read_rdma, which
// knows them.
#include <cerrno>

#include "common/base/text.hpp"
#include "common/probe/pci_function.hpp"
#include "common/probe/probe.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::string_view bus = "/sys/bus/pci/devices";
constexpr std::string_view broadcom_links = "/sys/kernel/pci_switch_link/virtual_switch_links";

constexpr std::uint32_t base_class_display = 0x03;
constexpr std::uint32_t base_class_system = 0x08;  ///< Data Direct functions are DMA controllers (0x080100)
constexpr std::uint32_t class_nvswitch = 0x068000;
constexpr std::uint16_t data_direct_device = 0x2100;  ///< mlx5_ib data_direct.c, kernel 6.12
constexpr std::uint32_t class_data_direct = 0x080100;

bool may_matter(std::uint32_t class_code) {
    const auto base = class_code >> 16;
    return base == base_class_display || base == base_class_system || class_code == class_nvswitch;
}

bool is_data_direct(const PciFunction& function) {
    return function.vendor == vendor_mellanox &&
           (function.device == data_direct_device || function.class_code == class_data_direct);
}

/// A number of an attribute file. What is gone is no function any more; what cannot be read leaves the bus unknown.
template <class T>
T hex_file(const RootFs& root, const std::string& path, NodeFacts& facts) {
    const auto text = root.read_line(path);
    if (text) return parse_hex<T>(*text).value_or(T{});
    if (text.error().code != ENOENT && text.error().code != ENODEV) facts.pci_readable = {.why = text.error().what};
    return T{};
}

void read_broadcom_links(const RootFs& root, NodeFacts& facts) {
    const auto switches = root.list(broadcom_links);
    if (!switches) return;
    for (const auto& name : *switches) {
        const auto from = parse_pci_address(name);
        if (!from) continue;
        const auto peers = root.list(join_path(broadcom_links, name));
        if (!peers) continue;
        for (const auto& peer_name : *peers) {
            if (const auto to = parse_pci_address(peer_name)) facts.broadcom_links.emplace_back(*from, *to);
        }
    }
}

}  // namespace

void read_pci(const RootFs& root, NodeFacts& facts) {
    const auto names = root.list(bus);
    if (!names) {
        facts.pci_readable.why = names.error().what;
        return;
    }
    facts.pci_readable.value = true;
    for (const auto& name : *names) {
        const auto address = parse_pci_address(name);
        if (!address) continue;
        const auto path = join_path(bus, name);
        const auto class_code = hex_file<std::uint32_t>(root, path + "/class", facts);
        facts.pci_classes.emplace(*address, class_code);
        if (!may_matter(class_code)) continue;
        const auto vendor = hex_file<std::uint16_t>(root, path + "/vendor", facts);
        if (vendor != vendor_nvidia && vendor != vendor_mellanox) continue;
        if (const auto canonical = root.resolve(path)) add_function(root, *canonical, facts);
    }
    for (auto& [address, function] : facts.pci) {
        if (!is_data_direct(function)) continue;
        if (const auto directory = root.directory(function.sysfs_path)) function.vuid = read_vuid(*directory);
    }
    read_broadcom_links(root, facts);
}

}  // namespace gdrcheck::probe
