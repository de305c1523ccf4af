// `gdrcheck env --json`.
#include "common/report/json_parts.hpp"
#include "common/report/report.hpp"

namespace gdrcheck::report {
namespace {

Json json_variables(const std::vector<Variable>& variables) {
    auto json = Json::object();
    for (const auto& [name, value] : variables) json[name] = value;
    return json;
}

}  // namespace

std::string env_json(const EnvPlan& plan, const NodeFacts& facts) {
    Json json{{"schema", 1}, {"version", GDRCHECK_VERSION}, {"host", facts.host}};
    json["node"] = json_variables(plan.node);
    auto gpus = Json::array();
    for (const auto& each : plan.gpus) {
        if (each.gpu >= facts.gpus.size()) continue;
        const auto& gpu = facts.gpus[each.gpu];
        gpus.push_back({{"bdf", to_string(gpu.pci)},
                        {"index", each.gpu},
                        {"minor", gpu.minor ? Json(*gpu.minor) : Json()},
                        {"uuid", text_or_null(gpu.uuid)},
                        {"variables", json_variables(each.variables)}});
    }
    json["gpus"] = std::move(gpus);
    json["withheld"] = plan.withheld;
    return to_text(json);
}

}  // namespace gdrcheck::report
