// One function of the PCI bus, and what hangs above it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/rootfs.hpp"
#include "common/facts/node_facts.hpp"

namespace gdrcheck::probe {

inline constexpr std::uint16_t vendor_nvidia = 0x10de;
inline constexpr std::uint16_t vendor_mellanox = 0x15b3;
inline constexpr std::uint16_t vendor_broadcom = 0x1000;
inline constexpr std::uint16_t vendor_intel = 0x8086;
inline constexpr std::uint16_t vendor_amd = 0x1022;

/// Reads the function at `path` and every bridge above it into `facts.pci`. nullptr when `path` is no PCI function.
PciFunction* add_function(const RootFs& root, std::string_view path, NodeFacts& facts);

/// ACS of an open function directory; see pci_config.cpp.
[[nodiscard]] Reading<std::optional<AcsCapability>> read_acs(const RootFs::Directory& function);

/// The VUID (keyword "VU") of a function's vital product data, empty when it has none; see pci_vpd.cpp.
[[nodiscard]] std::string read_vuid(const RootFs::Directory& function);
[[nodiscard]] std::string find_vpd_keyword(std::string_view vpd, std::string_view keyword);

}  // namespace gdrcheck::probe
