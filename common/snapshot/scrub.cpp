#include "common/snapshot/scrub.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <optional>

#include "common/base/text.hpp"
#include "common/snapshot/scrub_device.hpp"
#include "common/snapshot/scrub_rules.hpp"
#include "common/snapshot/scrub_text.hpp"

namespace gdrcheck::snapshot {
namespace {

using Kind = MemoryTree::Entry::Kind;

constexpr const char* removed = "removed";

/// Small numbers and switches identify nothing, whatever the file.
bool is_plain(std::string_view content) {
    constexpr std::size_t longest = 8;
    const std::string_view text = trim(content);
    if (content.size() > longest) return false;
    return text == "Y" || text == "N" || text.find_first_not_of("-0123456789") == std::string_view::npos;
}

template <class Edit>
std::string edit_lines(std::string_view content, Edit edit) {
    std::string result;
    while (!content.empty()) {
        const std::size_t end = content.find('\n');
        result += edit(content.substr(0, end));
        if (end == std::string_view::npos) break;
        result += '\n';
        content.remove_prefix(end + 1);
    }
    return result;
}

template <std::size_t Count>
bool begins_with_any(std::string_view text, const std::array<std::string_view, Count>& beginnings) {
    return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

template <std::size_t Count>
bool contains_any(std::string_view text, const std::array<std::string_view, Count>& words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Settings of NCCL that decide paths, GDR and NICs. Others can name hosts (NCCL_COMM_ID, NCCL_HOSTID) or files of
/// users.
bool decides(std::string_view variable) {
    constexpr auto names = std::to_array<std::string_view>(
        {"NCCL_IB_", "NCCL_NET", "NCCL_TOPO_FILE", "NCCL_P2P", "NCCL_PXN", "NCCL_DMABUF", "NCCL_CROSS_NIC", "NCCL_NVB",
         "NCCL_SOCKET_IFNAME", "NCCL_IGNORE", "NCCL_COLLNET", "NCCL_ALGO", "NCCL_PROTO", "NCCL_MNNVL"});
    return begins_with_any(variable, names);
}

/// Parameters that the checks read or that explain what they find.
bool matters_at_boot(std::string_view parameter) {
    constexpr auto names = std::to_array<std::string_view>({"iommu",
                                                            "intel_iommu",
                                                            "amd_iommu",
                                                            "arm-smmu",
                                                            "pci",
                                                            "nvidia",
                                                            "nouveau",
                                                            "mlx",
                                                            "ib_",
                                                            "rdma",
                                                            "nv_peer",
                                                            "modprobe.blacklist",
                                                            "module_blacklist",
                                                            "rd.driver.blacklist",
                                                            "initcall_blacklist",
                                                            "hugepages",
                                                            "swiotlb",
                                                            "mem_encrypt",
                                                            "numa",
                                                            "lockdown",
                                                            "module.sig_enforce"});
    return begins_with_any(parameter, names);
}

bool speaks_of_gdr(std::string_view line) {
    constexpr auto words = std::to_array<std::string_view>({"nvidia",
                                                            "NVRM",
                                                            "nv_peer",
                                                            "peermem",
                                                            "peer_mem",
                                                            "mlx",
                                                            "ib_",
                                                            "infiniband",
                                                            "InfiniBand",
                                                            "rdma",
                                                            "RDMA",
                                                            "IOMMU",
                                                            "iommu",
                                                            "DMAR",
                                                            "AMD-Vi",
                                                            "ACS",
                                                            "pcieport",
                                                            "PCIe",
                                                            "disagrees about version",
                                                            "Unknown symbol",
                                                            "module verification",
                                                            "Lockdown"});
    return contains_any(line, words);
}

std::string without_comments(std::string_view xml) {
    std::string text(xml);
    for (std::size_t at = text.find("<!--"); at != std::string::npos; at = text.find("<!--", at)) {
        const std::size_t end = std::min(text.find("-->", at + 4), text.size());
        const std::size_t after = std::min(end + 3, text.size());
        std::replace_if(
            text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(after),
            [](char c) { return c != '\n'; }, ' ');
        at = after;
    }
    return text;
}

class Scrubber {
  public:
    explicit Scrubber(std::string_view host) : host_(host) {}

    /// One pass over everything; the first is only for the identifiers in it.
    [[nodiscard]] Scrubbed pass(const MemoryTree& recorded) {
        Scrubbed result;
        result.host = HostNames::replacement;
        for (const auto& [path, code] : recorded.errors)
            result.tree.errors.emplace(scrub_path(identifiers_, path), code);
        for (const auto& [path, entry] : recorded.entries) {
            std::string name = scrub_path(identifiers_, path);
            if (entry.kind != Kind::file) {
                result.tree.entries.emplace(std::move(name),
                                            MemoryTree::Entry{entry.kind, scrub_path(identifiers_, entry.data)});
            } else if (auto content = scrub_file(path, entry.data)) {
                result.tree.entries.emplace(std::move(name), MemoryTree::Entry{Kind::file, std::move(*content)});
            } else {
                result.tree.errors.emplace(name, EACCES);
                result.withheld.push_back(std::move(name));
            }
        }
        return result;
    }

    void begin_replacing() { identifiers_.begin_replacing(); }

  private:
    [[nodiscard]] std::optional<std::string> scrub_file(const std::string& path, const std::string& content) {
        if (content.empty()) return content;  // seen, not read
        auto rule = rule_for(path);
        // A topology file may have any name.
        if (!rule && content.starts_with('<') && content.find("<system") != std::string::npos) rule = Rule::xml;
        if (rule) return apply(*rule, content);
        return is_plain(content) ? std::optional(content) : std::nullopt;
    }

    [[nodiscard]] std::string apply(Rule rule, const std::string& content) {
        switch (rule) {
            case Rule::keep:
                return content;
            case Rule::text:
                return text(content);
            case Rule::free_text:
                return free_text(content);
            case Rule::comments:
                return edit_lines(content, [&](std::string_view line) { return free_text(without_comment(line)); });
            case Rule::settings:
                return edit_lines(content, [&](std::string_view line) { return setting(line); });
            case Rule::xml:
                return free_text(without_comments(content));
            case Rule::serial:
                return edit_lines(content, [&](std::string_view line) { return identifiers_.serial(line); });
            case Rule::host:
                return std::string(HostNames::replacement) + "\n";
            case Rule::vpd:
                return scrub_vpd(identifiers_, content);
            case Rule::config_space:
                return scrub_config_space(identifiers_, content);
            case Rule::cpuinfo:
                return edit_lines(content, [](std::string_view line) { return cpu_line(line); });
            case Rule::command_line:
                return command_line(content);
            case Rule::modules:
                return edit_lines(content, [](std::string_view line) { return module_line(line); });
            case Rule::symbols:
                return edit_lines(content, [](std::string_view line) { return symbol_line(line); });
            case Rule::kernel_log:
                return kernel_log(content);
            case Rule::object:
                return object(content);
        }
        return {};
    }

    [[nodiscard]] std::string text(std::string_view content) { return scrub_text(identifiers_, content); }
    [[nodiscard]] std::string free_text(std::string_view content) {
        return scrub_free_text(identifiers_, host_, content);
    }

    static std::string_view without_comment(std::string_view line) {
        return trim(line).starts_with('#') ? std::string_view("#") : line;
    }

    [[nodiscard]] std::string setting(std::string_view line) {
        const std::string_view kept = without_comment(line);
        const std::size_t equals = kept.find('=');
        if (equals == std::string_view::npos) return free_text(kept);
        const std::string_view value = trim(kept.substr(equals + 1));
        if (decides(trim(kept.substr(0, equals))) || is_plain(value)) return free_text(kept);
        return std::string(kept.substr(0, equals + 1)) + removed;
    }

    static std::string cpu_line(std::string_view line) {
        constexpr auto identifying = std::to_array<std::string_view>({"Serial", "serial", "machine-id"});
        return begins_with_any(line, identifying) ? std::string() : std::string(line);
    }

    [[nodiscard]] std::string command_line(std::string_view content) {
        std::string kept;
        for (const std::string_view parameter : split(first_line(content), ' '))
            if (matters_at_boot(parameter)) kept += (kept.empty() ? "" : " ") + free_text(parameter);
        return kept + "\n";
    }

    /// "mlx5_ib 397312 0 - Live 0xffffffffc0a1b000 (OE)"
    static std::string module_line(std::string_view line) {
        constexpr std::string_view zero = "0x0000000000000000";
        const std::size_t address = line.rfind(" 0x");
        if (address == std::string_view::npos) return std::string(line);
        const std::size_t end = std::min(line.find(' ', address + 1), line.size());
        return std::string(line.substr(0, address + 1)) + std::string(zero) + std::string(line.substr(end));
    }

    /// "ffffffffc0a1b000 t mlx5_ib_query_port	[mlx5_ib]"
    static std::string symbol_line(std::string_view line) {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (line.find(" __crc_") != std::string_view::npos) return std::string(line);
        return std::string(end, '0') + std::string(line.substr(end));
    }

    [[nodiscard]] std::string kernel_log(std::string_view content) {
        std::string kept;
        for (const std::string_view line : split(content, '\n'))
            if (speaks_of_gdr(line)) kept += free_text(line) + "\n";
        return kept;
    }

    [[nodiscard]] std::string object(std::string content) const {
        for (const auto& name : host_.names())
            for (std::size_t at = content.find(name.original); at != std::string::npos;
                 at = content.find(name.original, at))
                content.replace(at, name.original.size(), name.original.size(), 'x');
        return content;
    }

    HostNames host_;
    Identifiers identifiers_;
};

}  // namespace

Scrubbed scrub(const MemoryTree& recorded, std::string_view host) {
    Scrubber scrubber(host);
    static_cast<void>(scrubber.pass(recorded));
    scrubber.begin_replacing();
    return scrubber.pass(recorded);
}

}  // namespace gdrcheck::snapshot
