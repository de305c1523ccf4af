#include "common/probe/pci_function.hpp"

#include "common/base/text.hpp"

namespace gdrcheck::probe {
namespace {

constexpr std::uint32_t class_bridge = 0x06;

template <class T>
T hex_attribute(const RootFs::Directory& function, std::string_view name) {
    const auto text = function.read_line(name);
    return text ? parse_hex<T>(*text).value_or(T{}) : T{};
}

std::optional<int> integer_attribute(const RootFs::Directory& function, std::string_view name) {
    const auto text = function.read_line(name);
    return text ? parse_number<int>(*text) : std::nullopt;
}

PciFunction read_function(const RootFs::Directory& directory, const PciAddress& address, const NodeFacts& facts) {
    PciFunction function;
    function.address = address;
    function.sysfs_path = directory.path();
    const auto known = facts.pci_classes.find(address);
    function.class_code =
        known != facts.pci_classes.end() ? known->second : hex_attribute<std::uint32_t>(directory, "class");
    function.vendor = hex_attribute<std::uint16_t>(directory, "vendor");
    function.device = hex_attribute<std::uint16_t>(directory, "device");
    if (function.vendor == vendor_broadcom) {  // whose switches NCCL tells apart by them
        function.subsystem_vendor = hex_attribute<std::uint16_t>(directory, "subsystem_vendor");
        function.subsystem_device = hex_attribute<std::uint16_t>(directory, "subsystem_device");
    }
    function.numa_node = integer_attribute(directory, "numa_node");
    function.max_link_speed = directory.read_line("max_link_speed").value_or("");
    function.current_link_speed = directory.read_line("current_link_speed").value_or("");
    function.max_link_width = integer_attribute(directory, "max_link_width");
    function.current_link_width = integer_attribute(directory, "current_link_width");
    function.acs = read_acs(directory);
    if (function.class_code >> 16 != class_bridge) {
        if (const auto driver = directory.read_link("driver")) function.driver = last_component(*driver);
        if (const auto parent = directory.read_link("physfn")) {
            function.physical_function = parse_pci_address(last_component(*parent));
        }
    }
    return function;
}

}  // namespace

PciFunction* add_function(const RootFs& root, std::string_view path, NodeFacts& facts) {
    PciFunction* added = nullptr;
    // The bridge above a function is the directory above it. Ends: a step either shortens the path or adds a function.
    std::string place(path);
    while (const auto address = parse_pci_address(last_component(place))) {
        auto known = facts.pci.find(*address);
        if (known == facts.pci.end()) {
            const auto directory = root.directory(place);
            if (!directory || parse_pci_address(last_component(directory->path())) != address) break;
            known = facts.pci.emplace(*address, read_function(*directory, *address, facts)).first;
            place = directory->path();
        }
        if (added == nullptr) added = &known->second;
        place.resize(place.rfind('/'));
    }
    return added;
}

}  // namespace gdrcheck::probe
