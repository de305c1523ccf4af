#include "common/report/json_parts.hpp"

#include <cmath>
#include <cstdint>

#include "common/report/labels.hpp"

namespace gdrcheck::report {
namespace {

constexpr double largest_whole = 1e15;

Json gpu_address_json(const NodeFacts& facts, std::size_t gpu) {
    return gpu < facts.gpus.size() ? Json(to_string(facts.gpus[gpu].pci)) : Json();
}

Json json_gpu(const NodeFacts& facts, const nccl::GpuAnswer& answer) {
    const auto& gpu = facts.gpus[answer.gpu];
    const auto* function = facts.function(gpu.pci);
    Json json{{"bdf", to_string(gpu.pci)}, {"index", answer.gpu}};
    json["minor"] = gpu.minor ? Json(*gpu.minor) : Json();
    json["uuid"] = text_or_null(gpu.uuid);
    json["model"] = gpu.model;
    json["numa"] = function != nullptr && function->numa_node ? Json(*function->numa_node) : Json();
    json["status"] = nccl::to_string(answer.status);
    json["nic"] = text_or_null(answer.nic);
    json["path"] = answer.nic.empty() ? Json() : Json(nccl::to_string(answer.path));
    json["via"] = nccl::to_string(answer.via);
    json["relay"] = answer.relay ? gpu_address_json(facts, *answer.relay) : Json();
    json["why"] = text_or_null(answer.why);
    json["selected"] = answer.selected;
    json["gdr_capable"] = answer.model.gdr;
    json["model_known"] = answer.model.known;
    return json;
}

Json json_ports(const RdmaDevice& device) {
    auto ports = Json::array();
    for (const auto& port : device.ports) {
        ports.push_back({{"port", port.number}, {"state", port_state(port)}, {"gbps", json_number(port.gbps)}});
    }
    return ports;
}

Json json_nic(const RdmaDevice& device, const nccl::NicAnswer& nic) {
    Json json{{"name", nic.name}};
    json["bdf"] = device.pci ? Json(to_string(*device.pci)) : Json();
    json["compute"] = nic.used;
    json["link_layer"] = device.ports.empty() ? Json() : text_or_null(device.ports.front().link_layer);
    json["dmabuf"] = nccl::to_string(nic.transport.dmabuf);
    json["ports"] = json_ports(device);
    json["driver"] = text_or_null(device.driver);
    json["merged_into"] = text_or_null(nic.merged_into);
    json["unused_why"] = text_or_null(nic.unused_why);
    json["data_direct"] = nic.data_direct && nic.pci ? Json(to_string(*nic.pci)) : Json();
    return json;
}

}  // namespace

std::string to_text(const Json& json) {
    return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json json_number(double value) {
    if (std::isfinite(value) && std::abs(value) < largest_whole && value == std::floor(value)) {
        return static_cast<std::int64_t>(value);
    }
    return value;
}

Json json_gpus(const NodeFacts& facts, const nccl::Answer& answer) {
    auto gpus = Json::array();
    for (const auto& gpu : answer.gpus) {
        if (gpu.gpu < facts.gpus.size()) gpus.push_back(json_gpu(facts, gpu));
    }
    return gpus;
}

Json json_nics(const NodeFacts& facts, const nccl::Answer& answer) {
    auto nics = Json::array();
    for (const auto& nic : answer.nics) {
        if (const auto* device = find_device(facts, nic.name)) nics.push_back(json_nic(*device, nic));
    }
    return nics;
}

Json json_pairs(const NodeFacts& facts, const nccl::Answer& answer) {
    auto pairs = Json::array();
    for (const auto& pair : answer.pairs) {
        pairs.push_back({{"gpu", gpu_address_json(facts, pair.gpu)},
                         {"nic", pair.nic},
                         {"path", nccl::to_string(pair.path)},
                         {"gdr_recv", pair.gdr_recv},
                         {"gdr_send", pair.gdr_send},
                         {"via", nccl::to_string(pair.via)}});
    }
    return pairs;
}

Json json_findings(const Verdict& verdict) {
    auto findings = Json::array();
    for (const auto& finding : verdict.findings) {
        findings.push_back({{"slug", finding.slug},
                            {"outcome", to_string(finding.outcome)},
                            {"subject", finding.subject},
                            {"seen", finding.seen},
                            {"why", finding.why},
                            {"remedy", finding.remedy},
                            {"structural", finding.structural}});
    }
    return findings;
}

}  // namespace gdrcheck::report
