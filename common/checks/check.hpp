// A check is a name and a function from facts, policy and NCCL's answer to findings. One .cpp per check; CMake collects
// them into the table that all_checks() returns, so adding a check is adding one file.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/checks/finding.hpp"
#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {

struct CheckInput {
    const NodeFacts& facts;
    const Policy& policy;
    const nccl::Answer& answer;                    ///< of the first assumed version
    const std::vector<nccl::Answer>& all_answers;  ///< one per assumed version, the first included
    /// What NCCL would answer if every NIC had a working transport, and if besides every port were ACTIVE: a GPU that
    /// would have GDR then is staged for want of that, one that would not is staged by the distance. Both are `answer`
    /// itself where no GPU lacks GDR.
    const nccl::Answer& with_transport;
    const nccl::Answer& with_ports_up;
};

struct Check {
    std::string_view name;  ///< file name without .cpp; a check may produce several slugs
    std::vector<Finding> (*run)(const CheckInput&);
};

[[nodiscard]] std::span<const Check* const> all_checks();

/// An entry of the catalogue: what `gdrcheck checks` and `gdrcheck explain` show; catalogue*.cpp hold them.
struct CatalogueEntry {
    std::string_view slug;
    std::string_view says;  ///< one line
    Outcome severity;       ///< default: fail or warn
    bool structural;
    bool drains;                ///< false: never drains, whatever its severity
    bool planned;               ///< true: in the contract, not examined by this release
    std::string_view meaning;   ///< for explain: paragraphs
    std::string_view evidence;  ///< files and values looked at
    std::string_view fix;       ///< commands, per distribution where they differ
};

[[nodiscard]] std::span<const CatalogueEntry> catalogue();
[[nodiscard]] const CatalogueEntry* find_catalogue_entry(std::string_view slug);

}  // namespace gdrcheck
