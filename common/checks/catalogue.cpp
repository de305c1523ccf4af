#include "common/checks/catalogue.hpp"

#include <algorithm>

namespace gdrcheck {

std::span<const CatalogueEntry> catalogue() {
    static const auto all = [] {
        std::vector<CatalogueEntry> entries;
        for (const auto part : {peermem_entries(), transport_entries(), network_entries(), topology_entries(),
                                pcie_entries(), measured_entries()}) {
            entries.insert(entries.end(), part.begin(), part.end());
        }
        return entries;
    }();
    return all;
}

const CatalogueEntry* find_catalogue_entry(std::string_view slug) {
    const auto entries = catalogue();
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.slug == slug; });
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace gdrcheck
