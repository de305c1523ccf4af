// Serial numbers in what a PCI device says of itself: vital product data and config space, both binary.
#pragma once

#include <string>

#include "common/snapshot/identifiers.hpp"

namespace gdrcheck::snapshot {

/// Keeps the layout, the product's fields (PN, EC, capabilities) and a valid checksum; every other value becomes a
/// serial number of the same length. What does not parse is cut off.
[[nodiscard]] std::string scrub_vpd(Identifiers& identifiers, std::string vpd);

/// Replaces the Device Serial Number capability, and clears the window through which VPD was read last.
[[nodiscard]] std::string scrub_config_space(Identifiers& identifiers, std::string config);

}  // namespace gdrcheck::snapshot
