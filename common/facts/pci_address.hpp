// The address of a PCI function, written DDDD:BB:DD.F (a domain may have more than four digits: VMD is 10000:…).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gdrcheck {

struct PciAddress {
    std::uint32_t domain = 0;
    std::uint8_t bus = 0;
    std::uint8_t device = 0;
    std::uint8_t function = 0;

    auto operator<=>(const PciAddress&) const = default;
};

/// "0000:18:00.0" or "18:00.0" (domain 0), any case; nvidia-smi's eight-digit domain is accepted. nullopt: not an
/// address.
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text);

/// Lower case, four-digit domain (more where the value needs them): the form sysfs uses.
[[nodiscard]] std::string to_string(const PciAddress& address);

}  // namespace gdrcheck
