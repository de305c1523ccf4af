// node, topo, env: the commands that judge a node first.
#include "common/env/plan.hpp"
#include "common/report/report.hpp"
#include "prolog/gdrcheck/commands.hpp"
#include "prolog/gdrcheck/node_source.hpp"
#include "prolog/gdrcheck/output.hpp"

namespace gdrcheck::cli {
namespace {

using Render = std::string (*)(const report::NodeReport&);
using RenderText = std::string (*)(const report::NodeReport&, const report::Style&);

int judge_and_print(const NodeOptions& options, Clock::time_point start, Render json, RenderText text) {
    const auto node = judge_node(options);
    if (!node) {
        say(node.error().what);
        return exit_usage;
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    const report::NodeReport report{node->facts, node->policy.policy, node->verdict, elapsed.count(),
                                    node->policy.file};
    const auto result = options.json ? json(report) : text(report, terminal_style());
    return print_result(result, exit_code(node->verdict.verdict));
}

}  // namespace

int run_node(const NodeOptions& options, Clock::time_point start) {
    return judge_and_print(options, start, report::node_json, report::node_text);
}

int run_topo(const NodeOptions& options, Clock::time_point start) {
    return judge_and_print(options, start, report::topo_json, report::topo_text);
}

int run_env(const EnvOptions& options) {
    const auto node = judge_node(options.node);
    if (!node) {
        say(node.error().what);
        return exit_usage;
    }
    const auto plan = plan_environment(node->facts, node->verdict.answers.front(), node->policy.policy);
    const bool json = options.node.json || options.format == "json";
    return print_result(json ? report::env_json(plan, node->facts) : report::env_sh(plan, node->facts), exit_ok);
}

}  // namespace gdrcheck::cli
