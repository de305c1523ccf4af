#include "common/verdict/severity.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace gdrcheck {
namespace {

std::optional<Severity> severity_in(const Policy& policy, const std::string& slug) {
    const auto found = policy.checks.find(slug);
    return found == policy.checks.end() ? std::nullopt : std::optional(found->second);
}

Outcome outcome_of(const Finding& finding, std::optional<Severity> said) {
    if (finding.outcome == Outcome::unknown)
        return Outcome::unknown;  // a severity says what a fact costs: there is none
    if (said) return *said == Severity::fail ? Outcome::fail : Outcome::warn;
    if (finding.severity_fixed) return finding.outcome;
    const auto* entry = find_catalogue_entry(finding.slug);
    return entry == nullptr ? finding.outcome : entry->severity;
}

int rank(Outcome outcome) {
    switch (outcome) {
        case Outcome::fail:
            return 0;
        case Outcome::unknown:
            return 1;
        case Outcome::warn:
            return 2;
    }
    return 3;
}

/// PCI addresses by value (their digits are hexadecimal), names as people count.
bool subject_less(const std::string& left, const std::string& right) {
    const auto left_address = parse_pci_address(left);
    const auto right_address = parse_pci_address(right);
    if (left_address && right_address) return *left_address < *right_address;
    if (left_address.has_value() != right_address.has_value()) return left_address.has_value();
    return natural_less(left, right);
}

}  // namespace

Weighed weigh(std::vector<Finding> findings, const Policy& policy) {
    Weighed weighed;
    std::set<std::size_t> unexcused;
    for (auto& finding : findings) {
        const auto said = severity_in(policy, finding.slug);
        const bool lowered = said && *said != Severity::fail;
        if (finding.outcome != Outcome::unknown) {
            auto& gpus = lowered ? weighed.excused_gpus : unexcused;
            gpus.insert(finding.gpus.begin(), finding.gpus.end());
        }
        if (said == Severity::ignore) continue;
        finding.outcome = outcome_of(finding, said);
        weighed.findings.push_back(std::move(finding));
    }
    for (const auto gpu : unexcused) weighed.excused_gpus.erase(gpu);
    const auto key = [](const Finding& finding) {
        return std::tuple(rank(finding.outcome), std::string_view(finding.slug));
    };
    std::stable_sort(weighed.findings.begin(), weighed.findings.end(), [&](const Finding& left, const Finding& right) {
        if (key(left) != key(right)) return key(left) < key(right);
        return subject_less(left.subject, right.subject);
    });
    return weighed;
}

}  // namespace gdrcheck
