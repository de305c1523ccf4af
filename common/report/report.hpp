// Renders; every function returns a string and knows no terminal.
#pragma once

#include <cstdint>
#include <string>

#include "common/checks/check.hpp"
#include "common/env/plan.hpp"
#include "common/facts/node_facts.hpp"
#include "common/policy/policy.hpp"
#include "common/verdict/verdict.hpp"

namespace gdrcheck::report {

struct Style {
    bool colour = false;
    int width = 80;
};

struct NodeReport {
    const NodeFacts& facts;
    const Policy& policy;
    const Verdict& verdict;
    std::int64_t elapsed_us = 0;
    std::string config_file;  ///< empty: none found
};

[[nodiscard]] std::string node_text(const NodeReport& report, const Style& style);
[[nodiscard]] std::string node_json(const NodeReport& report);  ///< schema 1

[[nodiscard]] std::string topo_text(const NodeReport& report, const Style& style);
[[nodiscard]] std::string topo_json(const NodeReport& report);

[[nodiscard]] std::string env_sh(const EnvPlan& plan, const NodeFacts& facts);
[[nodiscard]] std::string env_json(const EnvPlan& plan, const NodeFacts& facts);

[[nodiscard]] std::string config_text(const EffectivePolicy& policy, const Style& style);
[[nodiscard]] std::string config_json(const EffectivePolicy& policy);

[[nodiscard]] std::string checks_text(const Style& style);
[[nodiscard]] std::string checks_json();

[[nodiscard]] std::string explain_text(const CatalogueEntry& entry, const Style& style);
[[nodiscard]] std::string explain_json(const CatalogueEntry& entry);

}  // namespace gdrcheck::report
