// What a finding costs: the catalogue's default, what the check knew better, and what [checks.SLUG] says of both.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "common/checks/check.hpp"

namespace gdrcheck {

struct Weighed {
    std::vector<Finding> findings;  ///< most severe first, then by slug and subject
    /// GPUs without GDR for which policy took every finding that explains them below "fail": the administrator knows.
    std::set<std::size_t> excused_gpus;
};

[[nodiscard]] Weighed weigh(std::vector<Finding> findings, const Policy& policy);

}  // namespace gdrcheck
