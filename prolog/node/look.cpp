#include "prolog/node/look.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/disk_root.hpp"
#include "common/base/fd.hpp"
#include "common/base/text.hpp"
#include "common/env/plan.hpp"
#include "common/probe/probe.hpp"
#include "common/verdict/verdict.hpp"
#include "prolog/order/order_text.hpp"

namespace gdrcheck::node {
namespace {

constexpr int second_look_after_ms = 250;
constexpr std::size_t largest_topology_file = 4UL * 1024 * 1024;
constexpr std::array verdicts{NodeVerdict::ok, NodeVerdict::degraded, NodeVerdict::unknown, NodeVerdict::fail,
                              NodeVerdict::not_applicable};

probe::Options probe_options(const LookRequest& request) {
    probe::Options options;
    options.host = request.job.node;
    options.topology_file_path = request.policy.nccl.topo_file;
    if (options.topology_file_path.empty()) return options;
    Fd file;
    const char* refusal = nullptr;
    int error = open_once(AT_FDCWD, options.topology_file_path.c_str(), O_RDONLY, file);
    if (error == 0)
        error = read_content(file.get(), largest_topology_file, false, false, options.topology_file_text, refusal);
    if (refusal != nullptr) options.topology_file_error = refusal;
    if (error != 0) options.topology_file_error = std::strerror(error);
    return options;
}

Result<JudgeOptions> judge_options(const NodeFacts& facts, const LookRequest& request) {
    JudgeOptions options;
    options.versions.clear();
    for (const auto& text : request.policy.nccl.assume) {
        const auto version = nccl::parse_version(text);
        if (!version) return tl::unexpected(version.error());
        options.versions.push_back(*version);
    }
    // A list that names a GPU this node does not show is answered by judging the whole node.
    if (!request.gpus.empty())
        if (auto scope = resolve_gpus(facts, request.gpus)) options.scope = std::move(*scope);
    return options;
}

/// The reason of a fail or unknown that does not drain has the same form.
std::string reason_of(const Verdict& verdict) {
    if (!verdict.drain_reason.empty()) return verdict.drain_reason;
    std::vector<Finding> told;
    for (const auto& finding : verdict.findings)
        if (finding.outcome == Outcome::fail) told.push_back(finding);
    return drain_reason(told);
}

std::string line_for_user(const std::string& node, const Verdict& verdict, std::string_view reason) {
    constexpr std::string_view prefix = "gdr: ";
    if (verdict.verdict == NodeVerdict::fail && reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
    return fmt::format("gdrcheck: {}: {}: {}", node, to_string(verdict.verdict),
                       verdict.verdict == NodeVerdict::fail && !reason.empty() ? reason : verdict.why);
}

void add_variables(state::JobRecord& job, const NodeFacts& facts, const EnvPlan& plan) {
    job.variables = plan.node;
    for (const auto& planned : plan.gpus) {
        for (auto& gpu : job.gpus)
            if (planned.gpu < facts.gpus.size() && gpu.bdf == to_string(facts.gpus[planned.gpu].pci))
                gpu.variables = planned.variables;
    }
}

void add_gpus(state::JobRecord& job, const NodeFacts& facts, const nccl::Answer& answer) {
    for (const auto& judged : answer.gpus) {
        const auto& gpu = facts.gpus[judged.gpu];
        job.gpus.push_back({to_string(gpu.pci), gpu.minor, gpu.uuid, {}});
    }
}

Look failed(const LookRequest& request, std::string why) {
    Look look{request.job, {}};
    look.found.own_failure = order::one_line(why, 150);
    look.job.verdict = to_string(NodeVerdict::unknown);
    look.job.line = fmt::format("gdrcheck: {}: not judged: {}", request.job.node, look.found.own_failure);
    return look;
}

Look look_once(const LookRequest& request) {
    const auto directory = expand_probe_root(request.policy.probe.root, request.job.node);
    if (!directory) return failed(request, directory.error().what);
    const auto root = RootFs::open(*directory);
    if (!root) return failed(request, root.error().what);
    const auto facts = probe::read_node(*root, probe_options(request));
    const auto options = judge_options(facts, request);
    if (!options) return failed(request, options.error().what);
    const auto verdict = judge(facts, request.policy, *options);

    Look look{request.job, {verdict.verdict, verdict.drain, reason_of(verdict), {}}};
    look.job.verdict = to_string(verdict.verdict);
    look.job.refuse = verdict.verdict == NodeVerdict::fail;
    look.job.line = line_for_user(request.job.node, verdict, look.found.reason);
    add_gpus(look.job, facts, verdict.answers.front());
    if (request.variables && verdict.verdict != NodeVerdict::not_applicable)
        add_variables(look.job, facts, plan_environment(facts, verdict.answers.front(), request.policy));
    return look;
}

}  // namespace

std::string to_text(const Look& look) {
    return fmt::format("{}\n{}\n{}\n", look.found.drain ? 1 : 0, order::one_line(look.found.reason),
                       order::one_line(look.found.own_failure)) +
           state::to_json(look.job);
}

Result<Look> parse_look(std::string_view text) {
    std::array<std::string_view, 3> head;
    for (auto& line : head) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return fail("the worker's answer is cut off");
        line = text.substr(0, end);
        text.remove_prefix(end + 1);
    }
    auto job = state::parse_job(text);
    if (!job) return fail("the worker's answer " + job.error().what);
    Look look{std::move(*job), {NodeVerdict::unknown, head[0] == "1", std::string(head[1]), std::string(head[2])}};
    for (const auto verdict : verdicts)
        if (look.job.verdict == to_string(verdict)) look.found.verdict = verdict;
    return look;
}

Look look(const LookRequest& request) {
    const auto work = [&request] {
        auto first = look_once(request);
        if (!first.found.drain || !request.twice) return to_text(first);
        // Ports come up and modules finish loading.
        std::this_thread::sleep_for(std::chrono::milliseconds(second_look_after_ms));
        return to_text(look_once(request));
    };
    const auto answer = run_with_deadline(work, request.policy.policy.deadline_ms + second_look_after_ms);
    if (!answer) return failed(request, answer.error().what);
    auto parsed = parse_look(*answer);
    if (!parsed) return failed(request, parsed.error().what);
    return std::move(*parsed);
}

}  // namespace gdrcheck::node
