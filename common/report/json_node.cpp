// `gdrcheck node --json`, schema 1.
#include "common/report/json_parts.hpp"
#include "common/report/labels.hpp"
#include "common/report/report.hpp"

namespace gdrcheck::report {
namespace {

Json json_transport(const nccl::Transport& transport) {
    return {{"peermem", {{"state", nccl::to_string(transport.peermem)}, {"why", transport.peermem_why}}},
            {"dmabuf",
             {{"state", nccl::to_string(transport.dmabuf)},
              {"why", transport.dmabuf_why},
              {"source", transport.dmabuf_source}}}};
}

Json json_releases(const Verdict& verdict) {
    auto releases = Json::array();
    for (const auto& answer : verdict.answers) releases.push_back(nccl::to_string(answer.version));
    return releases;
}

}  // namespace

std::string node_json(const NodeReport& report) {
    const auto& answer = first_answer(report.verdict);
    Json json{{"schema", 1}, {"version", GDRCHECK_VERSION}, {"host", report.facts.host}};
    json["assumed_nccl"] = report.policy.nccl.assume;
    json["verdict"] = to_string(report.verdict.verdict);
    json["drain"] = report.verdict.drain;
    json["elapsed_us"] = report.elapsed_us;
    json["transport"] = json_transport(answer.transport);
    json["gpus"] = json_gpus(report.facts, answer);
    json["nics"] = json_nics(report.facts, answer);
    json["pairs"] = json_pairs(report.facts, answer);
    json["findings"] = json_findings(report.verdict);
    json["drain_reason"] = report.verdict.drain ? Json(report.verdict.drain_reason) : Json();
    json["why"] = report.verdict.why;
    json["on_fail"] = to_string(report.policy.policy.on_fail);
    json["config"] = text_or_null(report.config_file);
    json["nccl_releases"] = json_releases(report.verdict);
    json["nvlink_inferred"] = answer.nvlink_inferred;
    json["topology_file"] = text_or_null(answer.topology_used);
    return to_text(json);
}

}  // namespace gdrcheck::report
