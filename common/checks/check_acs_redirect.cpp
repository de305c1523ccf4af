// Bridges between a GPU and its NIC that send peer traffic up to the root complex and back. The bits are those of
// drivers/pci/p2pdma.c pci_bridge_has_acs_redir(); the bridges those it walks, the common one included.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/checks/causes.hpp"
#include "common/checks/pci_path.hpp"

namespace gdrcheck {
namespace {

enum class Side { gpu, nic, common };

constexpr std::uint16_t redirecting = acs::request_redirect | acs::completion_redirect | acs::egress_control;

/// Redirect bits that are wrong on this bridge. Two patterns of rdma-core's rdma_topo are right with some of them set:
/// a guest with ATS, where DirectTrans lets translated requests pass, and ConnectX Data Direct, where the NIC's port
/// redirects completions and the GPU's port requests.
std::uint16_t wrong_bits(std::uint16_t control, Side side, bool data_direct, bool virtual_machine) {
    auto allowed = std::uint16_t{0};
    if (virtual_machine && (control & acs::direct_translated) != 0) {
        allowed = acs::request_redirect | acs::completion_redirect;
    } else if (data_direct) {
        if (side != Side::gpu) allowed |= acs::completion_redirect;
        if (side != Side::nic) allowed |= acs::request_redirect;
    }
    return static_cast<std::uint16_t>(control & redirecting & ~unsigned{allowed});
}

std::string name_bits(std::uint16_t bits) {
    std::vector<std::string> names;
    if ((bits & acs::request_redirect) != 0) names.emplace_back("ReqRedir+");
    if ((bits & acs::completion_redirect) != 0) names.emplace_back("CmpltRedir+");
    if ((bits & acs::egress_control) != 0) names.emplace_back("EgressCtrl+");
    return fmt::format("{}", fmt::join(names, " "));
}

struct Survey {
    std::map<std::uint16_t, std::set<PciAddress>> wrong;  ///< by the bits that are
    std::set<PciAddress> unreadable;
    std::string unreadable_why;
    std::string first_pair;
};

void look_at(const CheckInput& input, const PciPath& path, const PciAddress& address, Side side, Survey& survey) {
    const auto* bridge = input.facts.function(address);
    if (bridge == nullptr || !bridge->acs.known()) {
        survey.unreadable.insert(address);
        if (survey.unreadable_why.empty()) {
            survey.unreadable_why =
                bridge == nullptr ? to_string(address) + " is not in /sys/bus/pci/devices" : bridge->acs.why;
        }
        return;
    }
    if (!bridge->acs.value->has_value()) return;
    const auto bits =
        wrong_bits((*bridge->acs.value)->control, side, path.data_direct, is_virtual_machine(input.facts));
    if (bits == 0) return;
    survey.wrong[bits].insert(address);
    if (survey.first_pair.empty()) {
        survey.first_pair = fmt::format("{} and {}", to_string(path.gpu->address), path.nic_name);
    }
}

std::vector<std::string> names_of(const std::set<PciAddress>& addresses) {
    std::vector<std::string> names;
    names.reserve(addresses.size());
    for (const auto& address : addresses) names.push_back(to_string(address));
    return names;
}

Finding redirects(std::uint16_t bits, const std::set<PciAddress>& bridges, const std::string& pair) {
    Finding finding{.slug = "acs-redirect", .subject = to_string(*bridges.begin())};
    finding.seen = fmt::format("ACSCtl {} on {} of the path between {}", name_bits(bits),
                               bridges.size() == 1 ? "a bridge" : fmt::format("{} bridges", bridges.size()), pair);
    if (bridges.size() > 1) finding.seen += " and others: " + enumerate(names_of(bridges), 8);
    finding.why = "traffic between GPU and NIC goes up to the root complex and back: slow, or a hang";
    finding.remedy =
        fmt::format("setpci -s {} ECAP_ACS+0x6.w=0000{}", finding.subject, bridges.size() > 1 ? " (each of them)" : "");
    return finding;
}

std::vector<Finding> run(const CheckInput& input) {
    Survey survey;
    for (const auto& path : selected_paths(input)) {
        if (!path.common) continue;  // through the host bridge anyway
        for (const auto& bridge : path.gpu_side) look_at(input, path, bridge, Side::gpu, survey);
        for (const auto& bridge : path.nic_side) look_at(input, path, bridge, Side::nic, survey);
        look_at(input, path, *path.common, Side::common, survey);
    }
    std::vector<Finding> findings;
    for (const auto& [bits, bridges] : survey.wrong) findings.push_back(redirects(bits, bridges, survey.first_pair));
    if (!survey.unreadable.empty()) {
        Finding finding{.slug = "acs-redirect", .outcome = Outcome::unknown};
        finding.subject = to_string(*survey.unreadable.begin());
        finding.seen = survey.unreadable_why.empty() ? "PCI config space beyond 64 bytes could not be read"
                                                     : survey.unreadable_why;
        if (survey.unreadable.size() > 1)
            finding.seen += fmt::format(" (and {} other bridges)", survey.unreadable.size() - 1);
        finding.why = "whether bridges redirect peer traffic is not known";
        finding.remedy =
            "run gdrcheck, or take the snapshot, as root: config space beyond 64 bytes needs CAP_SYS_ADMIN";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace

extern const Check check_acs_redirect;
const Check check_acs_redirect{"check_acs_redirect", run};

}  // namespace gdrcheck
