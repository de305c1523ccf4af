// The GPU x NIC matrix: path, GDR and NCCL's choice for every pair, in blocks of as many NICs as fit the width.
#pragma once

#include <string>

#include "common/report/report.hpp"

namespace gdrcheck::report {

/// With its legend. Empty when there is no pair to show.
[[nodiscard]] std::string matrix(const NodeFacts& facts, const nccl::Answer& answer, const Style& style);

}  // namespace gdrcheck::report
