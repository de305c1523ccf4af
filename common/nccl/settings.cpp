#include "common/nccl/settings.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace gdrcheck::nccl {
namespace {

constexpr std::array<std::pair<std::string_view, Path>, 10> levels{{
    {"LOC", Path::LOC},
    {"NVL", Path::NVL},
    {"NVB", Path::NVB},
    {"C2C", Path::C2C},
    {"PIX", Path::PIX},
    {"PXB", Path::PXB},
    {"P2C", Path::P2C},
    {"PXN", Path::PXN},
    {"PHB", Path::PHB},
    {"SYS", Path::SYS},
}};

std::optional<long> leading_integer(std::string_view text) {
    long number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    return number;
}

std::optional<Path> named_level(std::string_view text) {
    for (const auto& [name, path] : levels) {
        if (name == text) return path;
    }
    return std::nullopt;
}

/// paths.cc ncclGetLevel: a word, or the old numbers 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and above SYS.
std::optional<Path> parse_level(std::string_view text) {
    if (const auto named = named_level(text)) return named;
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    switch (leading_integer(text).value_or(9)) {
        case 0:
            return Path::LOC;
        case 1:
            return Path::PIX;
        case 2:
            return Path::PXB;
        case 3:
            return Path::PHB;
        default:
            return Path::SYS;
    }
}

bool flag(const NodeFacts& facts, std::string_view key, bool otherwise) {
    const auto* text = facts.nccl_setting(key);
    if (text == nullptr) return otherwise;
    const auto number = leading_integer(*text);
    return number ? *number != 0 : otherwise;
}

std::string text_of(const NodeFacts& facts, std::string_view key) {
    const auto* text = facts.nccl_setting(key);
    return text == nullptr ? std::string{} : *text;
}

void read_merge_level(const NodeFacts& facts, Settings& settings) {
    const auto text = text_of(facts, "NCCL_NET_MERGE_LEVEL");
    const auto level = named_level(text);
    if (!level) return;
    if (*level == Path::LOC) {
        settings.merge_nothing = true;
    } else {
        settings.merge_level = level;
    }
}

void read_net_devices(const NodeFacts& facts, Settings& settings) {
    const auto text = text_of(facts, "NCCL_NETDEVS_POLICY");
    if (text == "ALL" || text == "all") settings.net_devices = Settings::NetDevices::all;
    if (text.starts_with("MAX:") || text.starts_with("max:")) {
        const auto limit = leading_integer(std::string_view(text).substr(4)).value_or(0);
        if (limit <= 0 || limit > 1024) return;
        settings.net_devices = Settings::NetDevices::limited;
        settings.net_devices_limit = static_cast<int>(limit);
    }
}

}  // namespace

HcaFilter parse_hca_filter(std::string_view text) {
    HcaFilter filter;
    if (text.starts_with('^')) {
        filter.exclude = true;
        text.remove_prefix(1);
    }
    if (text.starts_with('=')) {
        filter.exact = true;
        text.remove_prefix(1);
    }
    while (!text.empty()) {
        const auto comma = text.find(',');
        auto item = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
        if (item.empty()) continue;
        HcaFilter::Item parsed;
        const auto colon = item.find(':');
        parsed.name = item.substr(0, colon);
        if (colon != std::string_view::npos) {
            parsed.port = static_cast<int>(leading_integer(item.substr(colon + 1)).value_or(-1));
        }
        filter.items.push_back(std::move(parsed));
    }
    return filter;
}

bool HcaFilter::takes(std::string_view device, int port) const {
    if (items.empty()) return !exclude;  // an empty list matches every device (misc/socket.cc matchIfList)
    for (const auto& item : items) {
        const bool name_matches = exact ? device == item.name : device.starts_with(item.name);
        if (name_matches && (item.port == -1 || item.port == port)) return !exclude;
    }
    return exclude;
}

Settings read_settings(const NodeFacts& facts, const Rules& rules) {
    Settings settings;
    settings.hca = parse_hca_filter(text_of(facts, "NCCL_IB_HCA"));
    if (const auto* level = facts.nccl_setting("NCCL_NET_GDR_LEVEL")) settings.gdr_level = parse_level(*level);
    if (const auto* read = facts.nccl_setting("NCCL_NET_GDR_READ")) {
        const auto number = leading_integer(*read);
        if (number && *number >= 0) settings.gdr_read = *number != 0;
    }
    settings.gdr_c2c = flag(facts, "NCCL_NET_GDR_C2C", rules.net_gdr_c2c_default);
    settings.pxn_c2c = flag(facts, "NCCL_PXN_C2C", rules.pxn_c2c_default);
    settings.pxn_disabled = flag(facts, "NCCL_PXN_DISABLE", false);
    settings.dmabuf_enabled = flag(facts, "NCCL_DMABUF_ENABLE", true);
    settings.merge_vfs = flag(facts, "NCCL_IB_MERGE_VFS", true);
    settings.merge_nics = flag(facts, "NCCL_IB_MERGE_NICS", true);
    settings.data_direct = flag(facts, "NCCL_IB_DATA_DIRECT", true);
    settings.ib_disabled = flag(facts, "NCCL_IB_DISABLE", false);
    settings.net = text_of(facts, "NCCL_NET");
    settings.net_plugin = text_of(facts, "NCCL_NET_PLUGIN");
    read_merge_level(facts, settings);
    read_net_devices(facts, settings);
    return settings;
}

}  // namespace gdrcheck::nccl
