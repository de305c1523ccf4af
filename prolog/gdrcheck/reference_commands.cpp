// explain, checks, config: what is known without looking at the node.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "common/checks/check.hpp"
#include "common/policy/nearest.hpp"
#include "common/report/report.hpp"
#include "prolog/gdrcheck/commands.hpp"
#include "prolog/gdrcheck/configuration.hpp"
#include "prolog/gdrcheck/host.hpp"
#include "prolog/gdrcheck/output.hpp"

namespace gdrcheck::cli {
namespace {

constexpr std::size_t most_suggested = 3;

/// Slugs that hold the word come first: "peermem" names six of them.
std::string near_slugs(std::string_view word) {
    struct Candidate {
        bool holds;
        std::size_t distance;
        std::string_view slug;
    };
    std::vector<Candidate> candidates;
    for (const auto& entry : catalogue()) {
        const bool holds = !word.empty() && entry.slug.find(word) != std::string_view::npos;
        candidates.push_back({holds, config::edit_distance(word, entry.slug), entry.slug});
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& left, const auto& right) {
        return left.holds != right.holds ? left.holds : left.distance < right.distance;
    });
    std::string text;
    for (std::size_t i = 0; i < candidates.size() && (i < most_suggested || candidates[i].holds); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", candidates[i].slug);
    }
    return text;
}

}  // namespace

int run_explain(const ExplainOptions& options) {
    const auto* entry = find_catalogue_entry(options.slug);
    if (entry == nullptr) {
        say(fmt::format("explain: unknown slug {}; near: {} ('gdrcheck checks' lists all)",
                        gdrcheck::quoted(options.slug), near_slugs(options.slug)));
        return exit_usage;
    }
    return print_result(options.json ? report::explain_json(*entry) : report::explain_text(*entry, terminal_style()),
                        exit_ok);
}

int run_checks(bool json) {
    return print_result(json ? report::checks_json() : report::checks_text(terminal_style()), exit_ok);
}

int run_config(const ConfigOptions& options) {
    const auto policy = find_configuration(options.config, node_name());
    if (!policy) {
        say(policy.error().what);
        return exit_usage;
    }
    return print_result(options.json ? report::config_json(*policy) : report::config_text(*policy, terminal_style()),
                        exit_ok);
}

}  // namespace gdrcheck::cli
