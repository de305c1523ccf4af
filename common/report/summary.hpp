// The first lines of node and topo: the verdict, and what it was reached on.
#pragma once

#include <string>

#include "common/report/report.hpp"

namespace gdrcheck::report {

[[nodiscard]] std::string summary(const NodeReport& report, const Style& style);

}  // namespace gdrcheck::report
