// The PCI bus: of every function its class, of those that matter here everything. NICs are added by read_rdma, which
// knows them.
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

bool matters(std::uint32_t class_code, std::uint16_t vendor, std::uint16_t device) {
    if (vendor == vendor_nvidia) return class_code >> 16 == base_class_display || class_code == class_nvswitch;
    return vendor == vendor_mellanox && (device == data_direct_device || class_code == class_data_direct);
}

template <class T>
T hex_file(const RootFs& root, const std::string& path) {
    const auto text = root.read_line(path);
    return text ? parse_hex<T>(*text).value_or(T{}) : T{};
}

void read_broadcom_links(const RootFs& root, NodeFacts& facts) {
    const auto switches = root.list(broadcom_links);
    if (!switches) return;
    for (const auto& name : *switches) {
        const auto from = parse_pci_address(name);
        if (!from) continue;
        const auto peers = root.list(std::string(broadcom_links) + '/' + name);
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
    facts.pci_functions_total = static_cast<int>(names->size());
    bool has_broadcom_switch = false;
    for (const auto& name : *names) {
        const auto path = std::string(bus) + '/' + name;
        const auto class_code = hex_file<std::uint32_t>(root, path + "/class");
        if (!may_matter(class_code)) continue;
        if (!matters(class_code, hex_file<std::uint16_t>(root, path + "/vendor"),
                     hex_file<std::uint16_t>(root, path + "/device"))) {
            continue;
        }
        const auto canonical = root.resolve(path);
        if (canonical) add_function(root, *canonical, facts);
    }
    for (auto& [address, function] : facts.pci) {
        has_broadcom_switch = has_broadcom_switch || function.vendor == vendor_broadcom;
        if (!matters(function.class_code, function.vendor, function.device) || function.vendor != vendor_mellanox)
            continue;
        if (const auto directory = root.directory(function.sysfs_path)) function.vuid = read_vuid(*directory);
    }
    if (has_broadcom_switch) read_broadcom_links(root, facts);
}

}  // namespace gdrcheck::probe
