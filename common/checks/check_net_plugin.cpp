// A fabric whose NCCL plugin has rules of its own.
#include "common/checks/check.hpp"

namespace gdrcheck {
namespace {

std::vector<Finding> run(const CheckInput& input) {
    if (!input.answer.net_plugin || input.facts.gpus.empty()) return {};
    Finding finding{.slug = "net-plugin", .subject = "NCCL"};
    finding.seen = input.answer.net_plugin_why;
    finding.why =
        "a network plugin tells NCCL itself what it can do with GPU memory: gdrcheck's rules are not its rules";
    finding.remedy = "[nccl] net = \"ib\" in gdrcheck.toml, if NCCL does use its IB transport here";
    return {finding};
}

}  // namespace

extern const Check check_net_plugin;
const Check check_net_plugin{"check_net_plugin", run};

}  // namespace gdrcheck
