// NCCL topology files: XML whose root is <system version="1">.
#pragma once

#include <string>
#include <string_view>

#include "common/facts/node_facts.hpp"

namespace gdrcheck::probe {

[[nodiscard]] Reading<TopologyElement> parse_topology(std::string_view text, const std::string& path);

}  // namespace gdrcheck::probe
