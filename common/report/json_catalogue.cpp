// `gdrcheck checks --json` and `gdrcheck explain SLUG --json`.
#include <nlohmann/json.hpp>

#include "common/report/report.hpp"

namespace gdrcheck::report {
namespace {

using Json = nlohmann::ordered_json;

Json summary(const CatalogueEntry& entry) {
    return Json{{"slug", entry.slug},
                {"says", entry.says},
                {"severity", to_string(entry.severity)},
                {"structural", entry.structural},
                {"planned", entry.planned}};
}

}  // namespace

std::string checks_json() {
    auto checks = Json::array();
    for (const auto& entry : catalogue()) checks.push_back(summary(entry));
    return Json{{"schema", 1}, {"checks", std::move(checks)}}.dump(2) + '\n';
}

std::string explain_json(const CatalogueEntry& entry) {
    Json json{{"schema", 1}};
    json.update(summary(entry));
    json["drains"] = entry.drains;
    json["meaning"] = entry.meaning;
    json["evidence"] = entry.evidence;
    json["fix"] = entry.fix;
    return json.dump(2) + '\n';
}

}  // namespace gdrcheck::report
