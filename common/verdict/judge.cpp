#include <fmt/core.h>

#include <algorithm>

#include "common/checks/causes.hpp"
#include "common/verdict/severity.hpp"
#include "common/verdict/verdict.hpp"
#include "common/verdict/what_if.hpp"

namespace gdrcheck {
namespace {

/// GPUs of the job that this node has, each once.
std::optional<std::vector<std::size_t>> valid_scope(const NodeFacts& facts, const JudgeOptions& options) {
    if (!options.scope) return std::nullopt;
    std::vector<std::size_t> scope;
    for (const auto gpu : *options.scope) {
        if (gpu < facts.gpus.size() && std::find(scope.begin(), scope.end(), gpu) == scope.end()) scope.push_back(gpu);
    }
    return scope;
}

nccl::Options options_for(const NodeFacts& facts, const Policy& policy, const JudgeOptions& judge_options,
                          const nccl::Version& version) {
    nccl::Options options;
    options.version = version;
    if (policy.nccl.nvlink == "yes") options.nvlink = nccl::NvlinkMode::yes;
    if (policy.nccl.nvlink == "no") options.nvlink = nccl::NvlinkMode::no;
    if (policy.nccl.net == "ib") options.net = nccl::NetMode::ib;
    if (policy.nccl.net == "plugin") options.net = nccl::NetMode::plugin;
    options.compute = policy.nics.compute;
    options.exclude = policy.nics.exclude;
    options.scope = valid_scope(facts, judge_options);
    options.require = to_string(policy.policy.require);
    options.dmabuf_probed = judge_options.dmabuf_probed;
    return options;
}

bool all_have_gdr(const nccl::Answer& answer) {
    return std::all_of(answer.gpus.begin(), answer.gpus.end(), [](const auto& gpu) { return has_gdr(gpu.status); });
}

/// A GPU that would have GDR if a port whose state could not be read were ACTIVE is not staged but unknown.
void doubt_unread_ports(const NodeFacts& facts, const nccl::Options& options, nccl::Answer& answer) {
    std::string why;
    for (const auto& device : facts.rdma) {
        for (const auto& port : device.ports) {
            if (!port.state && why.empty())
                why = port.state_why.empty() ? "a port's state is unreadable" : port.state_why;
        }
    }
    if (why.empty() || all_have_gdr(answer)) return;
    const auto then = nccl::judge_like_nccl(with_unread_ports_active(facts), options);
    for (auto& gpu : answer.gpus) {
        const auto* changed = find_gpu(then, gpu.gpu);
        if (!lacks_gdr(gpu.status) || changed == nullptr || lacks_gdr(changed->status)) continue;
        gpu.status = nccl::GpuStatus::unknown;
        gpu.why = why;
    }
}

std::string seen_of(const nccl::GpuAnswer& gpu, const nccl::Answer& answer) {
    std::vector<std::string> reasons;
    for (const auto& nic : answer.nics) {
        if (!nic.used) reasons.push_back(nic.name + ": " + nic.unused_why);
    }
    if (!reasons.empty() && gpu.status == nccl::GpuStatus::no_nic) return "no NIC for NCCL: " + enumerate(reasons, 3);
    return gpu.why.empty() ? fmt::format("NCCL's answer for this GPU is {}", nccl::to_string(gpu.status)) : gpu.why;
}

/// A GPU without GDR that no check explained: never leave a fail without a word.
void explain_the_rest(const NodeFacts& facts, const nccl::Answer& answer, std::vector<Finding>& findings) {
    std::set<std::size_t> explained;
    for (const auto& finding : findings) explained.insert(finding.gpus.begin(), finding.gpus.end());
    for (const auto& gpu : answer.gpus) {
        if (!lacks_gdr(gpu.status) || explained.contains(gpu.gpu)) continue;
        Finding finding{.slug = gpu.status == nccl::GpuStatus::no_nic ? "rdma-missing" : "path-far",
                        .outcome = Outcome::fail,
                        .subject = gpu_address(facts, gpu.gpu)};
        finding.seen = seen_of(gpu, answer);
        finding.why = "NCCL stages this GPU's traffic through host memory";
        finding.remedy = "gdrcheck topo";
        finding.structural = finding.slug == "path-far";
        finding.gpus = {gpu.gpu};
        findings.push_back(std::move(finding));
    }
}

std::vector<Finding> run_checks(const NodeFacts& facts, const Policy& policy, const JudgeOptions& options,
                                const std::vector<nccl::Answer>& answers) {
    const auto& answer = answers.front();
    auto with_transport = answer;
    auto with_ports_up = answer;
    if (!all_have_gdr(answer)) {
        const auto mended = with_working_transport(facts);
        const auto asked = with_working_transport(options_for(facts, policy, options, answer.version), facts);
        with_transport = nccl::judge_like_nccl(mended, asked);
        with_ports_up = nccl::judge_like_nccl(with_active_ports(mended), asked);
    }
    const CheckInput input{facts, policy, answer, answers, with_transport, with_ports_up};
    std::vector<Finding> findings;
    for (const auto* check : all_checks()) {
        auto found = check->run(input);
        std::move(found.begin(), found.end(), std::back_inserter(findings));
    }
    return findings;
}

/// Why the question does not arise on this node; empty: it does.
std::string not_applicable_why(const NodeFacts& facts, const Policy& policy, const nccl::Answer& answer) {
    if (answer.net_plugin) return "NCCL does not use its IB transport here: " + answer.net_plugin_why;
    if (!readable(facts.pci_readable)) return {};
    if (facts.gpus.empty()) return "no NVIDIA GPU";
    if (answer.gpus.empty()) return "no GPU of this node is asked for";
    const bool any_device = std::any_of(facts.rdma.begin(), facts.rdma.end(),
                                        [&](const auto& device) { return in_policy(policy, device.name); });
    if (any_device || !readable(facts.rdma_readable) || expects_nics(policy)) return {};
    return facts.rdma.empty() ? "no RDMA device" : "no RDMA device left by [nics] compute and exclude";
}

/// What still counts where GDR is not applicable: that a GPU or NIC is missing, and why it is not applicable.
bool counts_without_gdr(const Finding& finding) {
    return finding.slug == "gpu-missing" || finding.slug == "rdma-missing" || finding.slug == "net-plugin";
}

bool staged_in_every_version(const std::vector<nccl::Answer>& answers, std::size_t gpu) {
    return std::all_of(answers.begin(), answers.end(), [&](const auto& answer) {
        const auto* found = find_gpu(answer, gpu);
        return found != nullptr && lacks_gdr(found->status);
    });
}

bool drains(const Finding& finding, const Policy& policy, const std::vector<nccl::Answer>& answers) {
    if (finding.outcome != Outcome::fail) return false;
    const auto* entry = find_catalogue_entry(finding.slug);
    if (entry == nullptr || !entry->drains) return false;
    if (finding.structural && !policy.expect.gdr) return false;
    if (finding.gpus.empty()) return true;  // it does not hang on what NCCL makes of it
    return std::any_of(finding.gpus.begin(), finding.gpus.end(),
                       [&](std::size_t gpu) { return staged_in_every_version(answers, gpu); });
}

struct Count {
    std::size_t total = 0;
    std::size_t staged = 0;  ///< without GDR and not excused by policy
    std::size_t excused = 0;
    std::size_t unknown = 0;
};

Count count_gpus(const nccl::Answer& answer, const std::set<std::size_t>& excused) {
    Count count;
    count.total = answer.gpus.size();
    for (const auto& gpu : answer.gpus) {
        if (gpu.status == nccl::GpuStatus::unknown) ++count.unknown;
        if (!lacks_gdr(gpu.status)) continue;
        ++(excused.contains(gpu.gpu) ? count.excused : count.staged);
    }
    return count;
}

bool has_outcome(const std::vector<Finding>& findings, Outcome outcome) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const auto& finding) { return finding.outcome == outcome; });
}

NodeVerdict verdict_of(const std::vector<Finding>& findings, const Count& count, const NodeFacts& facts) {
    if (count.staged > 0 || has_outcome(findings, Outcome::fail)) return NodeVerdict::fail;
    const bool blind = facts.gpus.empty() || (facts.rdma.empty() && !readable(facts.rdma_readable));
    if (count.unknown > 0 || blind) return NodeVerdict::unknown;
    if (count.excused > 0 || has_outcome(findings, Outcome::warn)) return NodeVerdict::degraded;
    return NodeVerdict::ok;
}

std::string slugs_of(const std::vector<Finding>& findings, Outcome outcome) {
    std::vector<std::string> slugs;
    for (const auto& finding : findings) {
        if (finding.outcome != outcome) continue;
        if (std::find(slugs.begin(), slugs.end(), finding.slug) == slugs.end()) slugs.push_back(finding.slug);
    }
    return enumerate(slugs);
}

std::string of_gpus(std::size_t part, std::size_t total) {
    return fmt::format("{} of {} {}", part, total, total == 1 ? "GPU" : "GPUs");
}

std::string headline(const Verdict& verdict, const Count& count, const NodeFacts& facts) {
    switch (verdict.verdict) {
        case NodeVerdict::fail: {
            const auto slugs = slugs_of(verdict.findings, Outcome::fail);
            if (count.staged == 0) return slugs;
            return of_gpus(count.staged, count.total) + " without GDR" + (slugs.empty() ? "" : ": " + slugs);
        }
        case NodeVerdict::unknown:
            if (facts.gpus.empty()) return facts.pci_readable.why;
            if (count.unknown == 0) return facts.rdma_readable.why;
            return of_gpus(count.unknown, count.total) + " could not be judged";
        case NodeVerdict::degraded: {
            const auto slugs = slugs_of(verdict.findings, Outcome::warn);
            if (count.excused == 0) return slugs;
            return of_gpus(count.excused, count.total) + " without GDR, which [checks] accepts";
        }
        case NodeVerdict::ok:
            return of_gpus(count.total, count.total) + " with GDR";
        case NodeVerdict::not_applicable:
            break;
    }
    return {};
}

/// The findings a drain rests on come first: the reason names the first.
std::string reason_for(const Verdict& verdict, Outcome outcome, const Policy& policy) {
    std::vector<Finding> told;
    std::copy_if(verdict.findings.begin(), verdict.findings.end(), std::back_inserter(told),
                 [&](const auto& finding) { return finding.outcome == outcome; });
    // Policy may ignore the slug that says why the node is unknown, and drain for unknown all the same.
    if (told.empty())
        told.push_back({.slug = "unknown", .outcome = outcome, .seen = verdict.why, .remedy = "gdrcheck node"});
    std::stable_partition(told.begin(), told.end(),
                          [&](const auto& finding) { return drains(finding, policy, verdict.answers); });
    return drain_reason(told);
}

void decide_drain(Verdict& verdict, const Policy& policy) {
    if (verdict.verdict == NodeVerdict::fail) {
        verdict.drain = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                    [&](const auto& finding) { return drains(finding, policy, verdict.answers); });
        if (verdict.drain) verdict.drain_reason = reason_for(verdict, Outcome::fail, policy);
    } else if (verdict.verdict == NodeVerdict::unknown && policy.policy.on_unknown_drain) {
        verdict.drain = true;
        verdict.drain_reason = reason_for(verdict, Outcome::unknown, policy);
    }
}

}  // namespace

const char* to_string(NodeVerdict verdict) {
    switch (verdict) {
        case NodeVerdict::ok:
            return "ok";
        case NodeVerdict::degraded:
            return "degraded";
        case NodeVerdict::unknown:
            return "unknown";
        case NodeVerdict::fail:
            return "fail";
        case NodeVerdict::not_applicable:
            return "not-applicable";
    }
    return "unknown";
}

int exit_code(NodeVerdict verdict) {
    switch (verdict) {
        case NodeVerdict::ok:
        case NodeVerdict::degraded:
        case NodeVerdict::not_applicable:
            return 0;
        case NodeVerdict::fail:
            return 1;
        case NodeVerdict::unknown:
            return 3;
    }
    return 3;
}

// A GPU without GDR fails the node unless [checks.SLUG] takes every slug that explains it below "fail": that is how an
// administrator accepts what cannot be changed. The node is then degraded, never ok. `drain` tells whether draining
// answers the fail, whatever [policy] on_fail does with it.
Verdict judge(const NodeFacts& facts, const Policy& policy, const JudgeOptions& options) {
    Verdict verdict;
    auto versions = options.versions;
    if (versions.empty()) versions.push_back(nccl::default_version);
    for (const auto& version : versions) {
        const auto asked = options_for(facts, policy, options, version);
        verdict.answers.push_back(nccl::judge_like_nccl(facts, asked));
        doubt_unread_ports(facts, asked, verdict.answers.back());
    }
    const auto& answer = verdict.answers.front();
    const auto moot = not_applicable_why(facts, policy, answer);
    auto findings = run_checks(facts, policy, options, verdict.answers);
    if (moot.empty()) explain_the_rest(facts, answer, findings);
    auto weighed = weigh(std::move(findings), policy);
    verdict.findings = std::move(weighed.findings);
    if (!moot.empty()) {
        std::erase_if(verdict.findings, [](const auto& finding) { return !counts_without_gdr(finding); });
        if (!has_outcome(verdict.findings, Outcome::fail)) {
            verdict.verdict = NodeVerdict::not_applicable;
            verdict.why = moot;
            return verdict;
        }
    }
    const auto count = moot.empty() ? count_gpus(answer, weighed.excused_gpus) : Count{};
    verdict.verdict = verdict_of(verdict.findings, count, facts);
    verdict.why = headline(verdict, count, facts);
    decide_drain(verdict, policy);
    return verdict;
}

}  // namespace gdrcheck
