// The parts of the catalogue, in the order of the contract. For catalogue.cpp alone.
#pragma once

#include <span>

#include "common/checks/check.hpp"

namespace gdrcheck {

[[nodiscard]] std::span<const CatalogueEntry> peermem_entries();
[[nodiscard]] std::span<const CatalogueEntry> transport_entries();
[[nodiscard]] std::span<const CatalogueEntry> network_entries();
[[nodiscard]] std::span<const CatalogueEntry> topology_entries();
[[nodiscard]] std::span<const CatalogueEntry> pcie_entries();
[[nodiscard]] std::span<const CatalogueEntry> measured_entries();

}  // namespace gdrcheck
