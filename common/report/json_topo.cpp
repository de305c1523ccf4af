// `gdrcheck topo --json`.
#include "common/report/json_parts.hpp"
#include "common/report/labels.hpp"
#include "common/report/pci_tree.hpp"
#include "common/report/report.hpp"

namespace gdrcheck::report {
namespace {

Json json_acs(const PciFunction& function) {
    if (!function.acs.value) return {{"state", "unknown"}, {"why", function.acs.why}};
    if (!*function.acs.value) return {{"state", "none"}};
    return {{"state", redirects(function) ? "redirects" : "direct"}, {"control", (*function.acs.value)->control}};
}

Json json_link(const PciFunction& function) {
    Json json;
    json["width"] = function.current_link_width ? Json(*function.current_link_width) : Json();
    json["max_width"] = function.max_link_width ? Json(*function.max_link_width) : Json();
    json["speed"] = text_or_null(function.current_link_speed);
    json["max_speed"] = text_or_null(function.max_link_speed);
    return json;
}

Json json_function(const NodeFacts& facts, const PciTree& tree, const PciFunction& function) {
    Json json{{"bdf", to_string(function.address)}, {"kind", kind_of(facts, function)}};
    json["class"] = function.class_code;
    json["vendor"] = function.vendor;
    json["device"] = function.device;
    if (!is_bridge(function)) json["driver"] = text_or_null(function.driver);
    json["numa"] = function.numa_node ? Json(*function.numa_node) : Json();
    json["link"] = json_link(function);
    if (is_bridge(function)) json["acs"] = json_acs(function);
    auto names = Json::array();
    for (const auto* device : devices_on(facts, function.address)) names.push_back(device->name);
    if (!names.empty()) json["rdma"] = std::move(names);
    auto children = Json::array();
    for (const auto& child : tree.below(function.address)) children.push_back(to_string(child));
    json["children"] = std::move(children);
    return json;
}

Json json_host_bridges(const PciTree& tree) {
    auto host_bridges = Json::array();
    for (const auto& host_bridge : tree.host_bridges) {
        auto children = Json::array();
        for (const auto& child : host_bridge.children) children.push_back(to_string(child));
        host_bridges.push_back({{"name", host_bridge.name}, {"children", std::move(children)}});
    }
    return host_bridges;
}

}  // namespace

std::string topo_json(const NodeReport& report) {
    const auto& answer = first_answer(report.verdict);
    const auto tree = pci_tree(report.facts);
    Json json{{"schema", 1}, {"version", GDRCHECK_VERSION}, {"host", report.facts.host}};
    json["assumed_nccl"] = report.policy.nccl.assume;
    json["verdict"] = to_string(report.verdict.verdict);
    json["findings"] = json_findings(report.verdict);
    json["host_bridges"] = json_host_bridges(tree);
    auto functions = Json::array();
    for (const auto& entry : report.facts.pci) functions.push_back(json_function(report.facts, tree, entry.second));
    json["functions"] = std::move(functions);
    json["gpus"] = json_gpus(report.facts, answer);
    json["nics"] = json_nics(report.facts, answer);
    json["pairs"] = json_pairs(report.facts, answer);
    return to_text(json);
}

}  // namespace gdrcheck::report
