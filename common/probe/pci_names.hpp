// Names of PCI devices that no driver names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/rootfs.hpp"
#include "common/facts/node_facts.hpp"

namespace gdrcheck::probe {

/// The name of a device in the text of a pci.ids file, empty when it has none.
[[nodiscard]] std::string find_pci_name(std::string_view pci_ids, std::uint16_t vendor, std::uint16_t device);

/// Gives every GPU that has no model one: from the root's pci.ids, else "10de:2330".
void name_gpus(const RootFs& root, NodeFacts& facts);

}  // namespace gdrcheck::probe
