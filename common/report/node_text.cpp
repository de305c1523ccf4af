// `gdrcheck node` for people: the verdict, the matrix, the findings, at one glance.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/report/labels.hpp"
#include "common/report/matrix.hpp"
#include "common/report/report.hpp"
#include "common/report/summary.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::size_t indent = 6;

Colour colour_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::fail:
            return Colour::red;
        case Outcome::warn:
            return Colour::yellow;
        case Outcome::unknown:
            return Colour::cyan;
    }
    return Colour::none;
}

/// Findings of one slug that differ in subject only, or in what was seen: told once.
struct Group {
    const Finding* first = nullptr;
    std::vector<std::pair<std::string, std::string>> lines;  ///< subjects, seen
};

void add_to(Group& group, const Finding& finding) {
    const auto same = std::find_if(group.lines.begin(), group.lines.end(),
                                   [&](const auto& line) { return line.second == finding.seen; });
    if (same == group.lines.end()) {
        group.lines.emplace_back(finding.subject, finding.seen);
    } else if (!finding.subject.empty()) {
        same->first += (same->first.empty() ? "" : ", ") + finding.subject;
    }
}

std::vector<Group> group(const std::vector<Finding>& findings) {
    std::vector<Group> groups;
    for (const auto& finding : findings) {
        const auto same = [&](const Group& candidate) {
            const auto& first = *candidate.first;
            return first.slug == finding.slug && first.outcome == finding.outcome && first.why == finding.why &&
                   first.remedy == finding.remedy;
        };
        auto found = std::find_if(groups.begin(), groups.end(), same);
        if (found == groups.end()) found = groups.insert(groups.end(), Group{&finding, {}});
        add_to(*found, finding);
    }
    return groups;
}

void append_group(std::string& out, const Group& group, const Style& style, std::size_t width) {
    const auto& first = *group.first;
    out += '\n';
    out += painted(fmt::format("{:<8}", to_string(first.outcome)), colour_of(first.outcome), style.colour);
    out += painted(printable(first.slug), Colour::bold, style.colour) + '\n';
    const std::string blanks(indent, ' ');
    const auto append = [&](const std::string& text, const std::string& lead) {
        append_wrapped(out, printable(text), blanks + lead, indent + lead.size(), width);
    };
    for (const auto& [subject, seen] : group.lines)
        append(seen.starts_with(subject) ? seen : subject + ": " + seen, "");
    if (!first.why.empty()) append("(" + first.why + ")", "");
    if (!first.remedy.empty()) append(first.remedy, "-> ");
}

std::string other_versions(const Verdict& verdict) {
    std::string out;
    for (std::size_t i = 1; i < verdict.answers.size(); ++i) {
        const auto& answer = verdict.answers[i];
        std::map<std::string, std::size_t> counts;
        for (const auto& gpu : answer.gpus) ++counts[nccl::to_string(gpu.status)];
        std::string text;
        for (const auto& [status, count] : counts) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted(count, "GPU"), status);
        }
        out += fmt::format("NCCL {}: {}\n", nccl::to_string(answer.version), text.empty() ? "no GPU" : text);
    }
    return out;
}

/// "mlx5_2, mlx5_3 (port 1 is DOWN)": NICs that NCCL leaves out, by reason.
std::string unused_nics(const nccl::Answer& answer) {
    std::vector<std::pair<std::string, std::string>> reasons;
    for (const auto& nic : answer.nics) {
        if (nic.used) continue;
        const auto same = std::find_if(reasons.begin(), reasons.end(),
                                       [&](const auto& reason) { return reason.first == nic.unused_why; });
        if (same == reasons.end()) {
            reasons.emplace_back(nic.unused_why, nic.name);
        } else {
            same->second += ", " + nic.name;
        }
    }
    std::string text;
    for (const auto& [why, names] : reasons) {
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", names, why.empty() ? "" : " (" + why + ")");
    }
    return text;
}

std::string why_not_drained(const Verdict& verdict, const Policy& policy) {
    const bool structural = std::all_of(verdict.findings.begin(), verdict.findings.end(), [](const auto& finding) {
        return finding.outcome != Outcome::fail || finding.structural;
    });
    if (structural && !policy.expect.gdr) return "the same tomorrow; [expect] gdr = true drains all the same";
    if (verdict.answers.size() > 1) return "not every assumed NCCL version stages";
    return "draining does not answer this";
}

/// What a prolog would make of this verdict; empty: nothing.
std::string action_line(const NodeReport& report) {
    const auto& verdict = report.verdict;
    const auto on_fail = report.policy.policy.on_fail;
    if (!verdict.drain) {
        if (verdict.verdict != NodeVerdict::fail) return {};
        return "would not drain: " + why_not_drained(verdict, report.policy);
    }
    if (on_fail == OnFail::drain) return "would drain: " + verdict.drain_reason;
    const auto* policy = on_fail == OnFail::off ? "policy: off" : "policy: report only";
    return std::string(policy) + (report.config_file.empty() ? " (no gdrcheck.toml found)" : "") +
           "; would drain: " + verdict.drain_reason;
}

}  // namespace

std::string node_text(const NodeReport& report, const Style& style) {
    const auto width = static_cast<std::size_t>(std::max(style.width, 40));
    const auto& answer = first_answer(report.verdict);
    auto out = summary(report, style);
    if (report.verdict.verdict == NodeVerdict::not_applicable && report.verdict.findings.empty()) return out;

    const auto pairs = matrix(report.facts, answer, style);
    if (!pairs.empty()) out += '\n' + pairs;
    const auto unused = unused_nics(answer);
    if (!unused.empty()) append_wrapped(out, printable(unused), "not used: ", 10, width);
    out += other_versions(report.verdict);
    for (const auto& each : group(report.verdict.findings)) append_group(out, each, style, width);
    const auto action = action_line(report);
    if (!action.empty()) {
        out += '\n';
        append_wrapped(out, printable(action), "", 2, width);
    }
    return out;
}

}  // namespace gdrcheck::report
