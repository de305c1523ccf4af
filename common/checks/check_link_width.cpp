// PCIe links of GPUs, NICs and the bridges between them that trained with fewer lanes than both ends have.
#include <fmt/core.h>

#include <map>
#include <set>

#include "common/checks/causes.hpp"
#include "common/checks/pci_path.hpp"

namespace gdrcheck {
namespace {

constexpr int widest_link = 32;

/// A width that says something: 0 is what virtual machines report, 255 what the kernel writes for "unknown".
std::optional<int> told(std::optional<int> width) {
    return width && *width > 0 && *width <= widest_link ? width : std::nullopt;
}

bool is_narrow(const PciFunction& function) {
    const auto current = told(function.current_link_width);
    const auto most = told(function.max_link_width);
    return current && most && *current < *most;
}

Finding narrow(const PciFunction& function) {
    Finding finding{.slug = "link-width", .subject = to_string(function.address)};
    finding.seen = fmt::format("/sys/bus/pci/devices/{}: current_link_width {}, max_link_width {}", finding.subject,
                               *function.current_link_width, *function.max_link_width);
    finding.why = "fewer lanes are less bandwidth, and NCCL does not see it: it reads the maximum";
    finding.remedy = fmt::format("lspci -vv -s {} | grep Lnk; reseat the card", finding.subject);
    return finding;
}

class Survey {
  public:
    explicit Survey(const NodeFacts& facts) : facts_(facts) {}

    void endpoint(const PciFunction& function) {
        if (is_narrow(function)) narrow_.insert(function.address);
    }

    /// Bridges above an endpoint, nearest first: 0 is the port it hangs on, 1 the upstream port of that switch, 2 the
    /// port that hangs on, and so on. A bridge is wider than the link where its partner is the narrow end; a link is
    /// told once.
    void bridges(const PciFunction& endpoint, const std::vector<PciAddress>& chain) {
        for (std::size_t i = 0; i < chain.size(); ++i) {
            const auto* bridge = facts_.function(chain[i]);
            if (bridge == nullptr || !is_narrow(*bridge)) continue;
            const bool faces_down = i % 2 == 0;
            const PciFunction* partner = nullptr;
            if (faces_down) partner = i == 0 ? &endpoint : facts_.function(chain[i - 1]);
            if (!faces_down && i + 1 < chain.size()) partner = facts_.function(chain[i + 1]);
            if (partner != nullptr) {
                const auto partner_most = told(partner->max_link_width);
                if (partner_most && *partner_most <= *bridge->current_link_width) continue;
                if (narrow_.contains(partner->address)) continue;
            }
            narrow_.insert(bridge->address);
        }
    }

    [[nodiscard]] std::vector<Finding> findings() const {
        std::vector<Finding> found;
        for (const auto& address : narrow_) found.push_back(narrow(*facts_.function(address)));
        return found;
    }

  private:
    const NodeFacts& facts_;
    std::set<PciAddress> narrow_;
};

std::vector<Finding> run(const CheckInput& input) {
    Survey survey(input.facts);
    for (const auto& gpu : input.answer.gpus) {
        const auto* function =
            gpu.gpu < input.facts.gpus.size() ? input.facts.function(input.facts.gpus[gpu.gpu].pci) : nullptr;
        if (function != nullptr) survey.endpoint(*function);
    }
    for (const auto& nic : input.answer.nics) {
        const auto* function = nic.used && nic.pci ? input.facts.function(*nic.pci) : nullptr;
        if (function != nullptr) survey.endpoint(*function);
    }
    for (const auto& path : selected_paths(input)) {
        survey.bridges(*path.gpu, path.gpu_side);
        survey.bridges(*path.nic, path.nic_side);
    }
    return survey.findings();
}

}  // namespace

extern const Check check_link_width;
const Check check_link_width{"check_link_width", run};

}  // namespace gdrcheck
