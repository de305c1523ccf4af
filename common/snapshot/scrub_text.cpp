#include "common/snapshot/scrub_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/text.hpp"

namespace gdrcheck::snapshot {
namespace {

bool is_hex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name(char c) {
    return is_word(c) || c == '-' || c == '.';
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

template <class Test>
std::size_t run_of(std::string_view text, Test test) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, test) - text.begin());
}

std::uint64_t hex_value(std::string_view digits) {
    return parse_number<std::uint64_t>(digits, 16).value_or(0);
}

/// What was recognised at the beginning of a text, and what takes its place.
struct Match {
    std::size_t length;
    std::string replacement;
};

/// Groups of hexadecimal digits, all of one width: "aabb:ccdd", "00:11:22".
struct Groups {
    std::size_t count = 0;
    std::size_t length = 0;
    std::string digits;
};

Groups read_groups(std::string_view text, std::size_t width, char separator) {
    Groups groups;
    std::size_t at = 0;
    constexpr std::size_t most_groups = 32;
    while (groups.count < most_groups && run_of(text.substr(at), is_hex) == width) {
        groups.digits += lower(text.substr(at, width));
        ++groups.count;
        groups.length = at + width;
        at += width;
        if (at >= text.size() || text[at] != separator) break;
        ++at;
    }
    return groups;
}

std::string write_groups(std::string_view digits, std::size_t width, char separator) {
    std::string text;
    for (std::size_t at = 0; at < digits.size(); at += width) {
        if (at > 0) text += separator;
        text += digits.substr(at, width);
    }
    return text;
}

/// 16 bytes: subnet prefix and interface id, or an IPv4 address in ::ffff:0:0/96 (RoCE v2).
std::string scrub_gid(Identifiers& identifiers, std::string_view digits) {
    const std::uint64_t upper = hex_value(digits.substr(0, 16));
    const std::uint64_t interface = hex_value(digits.substr(16, 16));
    constexpr std::uint64_t mapped = 0xffff;
    if (upper == 0 && interface >> 32 == mapped)
        return fmt::format("{:016x}{:016x}", upper,
                           mapped << 32 | identifiers.ipv4(static_cast<std::uint32_t>(interface)));
    return fmt::format("{:016x}{:016x}", identifiers.subnet(upper), identifiers.guid(interface));
}

std::optional<Match> match_uuid(Identifiers& identifiers, std::string_view text) {
    constexpr std::size_t length = 36;
    if (text.size() < length || (text.size() > length && is_word(text[length]))) return std::nullopt;
    for (std::size_t i = 0; i < length; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !is_hex(text[i])) return std::nullopt;
    }
    return Match{length, identifiers.uuid(lower(text.substr(0, length)))};
}

std::optional<Match> match_guid_or_gid(Identifiers& identifiers, std::string_view text) {
    constexpr std::size_t width = 4;
    const Groups groups = read_groups(text, width, ':');
    constexpr std::size_t guid_groups = 4;
    constexpr std::size_t gid_groups = 8;
    if (groups.count == guid_groups)
        return Match{groups.length,
                     write_groups(fmt::format("{:016x}", identifiers.guid(hex_value(groups.digits))), width, ':')};
    if (groups.count == gid_groups)
        return Match{groups.length, write_groups(scrub_gid(identifiers, groups.digits), width, ':')};
    return std::nullopt;
}

std::optional<Match> match_octets(Identifiers& identifiers, std::string_view text) {
    constexpr std::size_t width = 2;
    constexpr std::size_t mac_octets = 6;
    constexpr std::size_t serial_octets = 8;       // a device serial number as lspci writes it
    constexpr std::size_t infiniband_octets = 20;  // queue pair number and GID, include/linux/if_infiniband.h
    for (const char separator : {':', '-'}) {
        const Groups groups = read_groups(text, width, separator);
        std::string digits;
        if (groups.count == mac_octets) {
            digits = fmt::format("{:012x}", identifiers.mac(hex_value(groups.digits)));
        } else if (groups.count < mac_octets || (separator == '-' && groups.count != serial_octets)) {
            continue;
        } else if (groups.count == infiniband_octets) {
            constexpr std::size_t gid_at = 8;
            digits = "00000000" + scrub_gid(identifiers, std::string_view(groups.digits).substr(gid_at));
        } else {
            // Some other hardware address: its length and its number stay.
            const std::string serial = identifiers.serial(groups.digits);
            digits = std::string(groups.digits.size(), '0');
            std::copy(serial.begin() + 1, serial.end(), digits.begin() + 1);
        }
        return Match{groups.length, write_groups(digits, width, separator)};
    }
    return std::nullopt;
}

/// 0x946dae0300a7c108: a GUID as topology files write it, or a kernel address.
std::optional<Match> match_hex_number(Identifiers& identifiers, std::string_view text) {
    if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
    constexpr std::size_t shortest = 11;  // 0xffffffff is a mask
    constexpr std::size_t longest = 16;
    const std::size_t digits = run_of(text.substr(2), is_hex);
    if (digits < shortest || digits > longest) return std::nullopt;
    const std::uint64_t value = hex_value(text.substr(2, digits));
    const bool kernel_address = value >> 48 == 0xffff;
    return Match{2 + digits, fmt::format("0x{:0{}x}", kernel_address ? 0 : identifiers.guid(value), digits)};
}

/// enx0c42a1b2c3d4, ibx946dae0300a7c108: systemd and rdma-core name devices by address.
std::optional<Match> match_address_name(Identifiers& identifiers, std::string_view text) {
    for (const std::string_view prefix : {"enx", "wlx", "ibx", "iwx", "opax", "rocex", "usnicx"}) {
        if (!text.starts_with(prefix)) continue;
        constexpr std::size_t mac_digits = 12;
        constexpr std::size_t shortest = 10;
        constexpr std::size_t longest = 16;
        const std::string_view address = text.substr(prefix.size(), run_of(text.substr(prefix.size()), is_hex));
        const std::size_t end = prefix.size() + address.size();
        if (address.size() < shortest || address.size() > longest ||
            (end < text.size() && is_word(text[end]) && text[end] != '_'))
            continue;
        const std::uint64_t value = hex_value(address);
        return Match{end, address.size() == mac_digits ? fmt::format("{}{:012x}", prefix, identifiers.mac(value))
                                                       : fmt::format("{}{:016x}", prefix, identifiers.guid(value))};
    }
    return std::nullopt;
}

std::optional<Match> match_home(Identifiers& identifiers, std::string_view text) {
    constexpr std::string_view home = "/home/";
    if (!text.starts_with(home)) return std::nullopt;
    const std::string_view name = text.substr(home.size(), run_of(text.substr(home.size()), is_name));
    if (name.empty()) return std::nullopt;
    return Match{home.size() + name.size(), std::string(home) + identifiers.user(name)};
}

std::optional<Match> match_ipv4(Identifiers& identifiers, std::string_view text) {
    std::uint32_t value = 0;
    std::size_t at = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0 && (at >= text.size() || text[at++] != '.')) return std::nullopt;
        constexpr std::size_t most_digits = 3;
        const std::size_t digits = run_of(text.substr(at), is_digit);
        if (digits == 0 || digits > most_digits) return std::nullopt;
        const auto octet = parse_number<std::uint8_t>(text.substr(at, digits));
        if (!octet) return std::nullopt;
        value = value << 8 | *octet;
        at += digits;
    }
    if (at < text.size() && (is_word(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]))))
        return std::nullopt;
    const std::uint32_t address = identifiers.ipv4(value);
    return Match{at, fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255)};
}

std::optional<Match> match_ipv6(Identifiers& identifiers, std::string_view text) {
    // With dots: "::ffff:10.0.0.1"
    std::string_view address = text.substr(0, run_of(text, [](char c) { return is_hex(c) || c == ':' || c == '.'; }));
    while (address.ends_with('.')) address.remove_suffix(1);
    const auto colons = std::ranges::count(address, ':');
    constexpr std::ptrdiff_t full = 7;
    if (colons < 2 || colons > full || (address.find("::") == std::string_view::npos && colons != full))
        return std::nullopt;
    return Match{address.size(), identifiers.ipv6(lower(address))};
}

std::optional<Match> match_host(const HostNames& host, std::string_view text) {
    for (const auto& name : host.names()) {
        const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
        const std::string_view begin = text.substr(0, name.original.size());
        if (!std::ranges::equal(begin, name.original, same)) continue;
        const std::size_t end = name.original.size();
        if (end < text.size() && (is_word(text[end]) || text[end] == '-')) continue;
        return Match{end, name.replacement};
    }
    return std::nullopt;
}

/// "root@buildhost": who built a driver, and where.
std::optional<Match> match_user_at_host(std::string_view text) {
    const std::size_t user = run_of(text, is_name);
    if (user == 0 || user >= text.size() || text[user] != '@') return std::nullopt;
    const std::size_t host = run_of(text.substr(user + 1), is_name);
    if (host == 0) return std::nullopt;
    // NVIDIA's build farm stands in every released driver.
    if (text.starts_with("dvs-builder@") || text.starts_with("buildmeister@"))
        return Match{user + 1 + host, std::string(text.substr(0, user + 1 + host))};
    return Match{user + 1 + host, "user@host"};
}

std::optional<Match> match_form(Identifiers& identifiers, std::string_view text) {
    if (auto match = match_uuid(identifiers, text)) return match;
    if (auto match = match_guid_or_gid(identifiers, text)) return match;
    if (auto match = match_octets(identifiers, text)) return match;
    if (auto match = match_hex_number(identifiers, text)) return match;
    if (auto match = match_address_name(identifiers, text)) return match;
    return match_home(identifiers, text);
}

/// Tries `match` wherever a word may begin. It sees a bounded piece of the text: the work stays linear.
template <class Matcher>
std::string replace_matches(std::string_view text, Matcher match) {
    constexpr std::size_t longest_match = 512;
    std::string result;
    result.reserve(text.size());
    char before = ' ';
    while (!text.empty()) {
        const bool may_begin = !is_word(before) || before == '_' || text.front() == '/';
        std::optional<Match> found;
        if (may_begin) found = match(text.substr(0, longest_match), before);
        const std::size_t taken = found ? found->length : 1;
        result += found ? std::string_view(found->replacement) : text.substr(0, 1);
        before = text[taken - 1];
        text.remove_prefix(taken);
    }
    return result;
}

}  // namespace

HostNames::HostNames(std::string_view host) {
    const std::string full = lower(host);
    constexpr std::size_t shortest = 2;
    if (full.size() < shortest || full == "localhost") return;
    names_.push_back({full, replacement});
    const std::size_t dot = full.find('.');
    if (dot == std::string::npos) return;
    if (dot >= shortest) names_.push_back({full.substr(0, dot), replacement});
    const std::string domain = full.substr(dot + 1);
    if (domain.find('.') != std::string::npos) names_.push_back({domain, "example.org"});  // "local" is a word
    std::ranges::stable_sort(names_, std::greater<>{}, [](const Name& name) { return name.original.size(); });
}

std::string scrub_text(Identifiers& identifiers, std::string_view text) {
    return replace_matches(text, [&](std::string_view rest, char) -> std::optional<Match> {
        if (auto match = match_user_at_host(rest)) return match;
        return match_form(identifiers, rest);
    });
}

std::string scrub_free_text(Identifiers& identifiers, const HostNames& host, std::string_view text) {
    return replace_matches(text, [&](std::string_view rest, char before) -> std::optional<Match> {
        if (auto match = match_user_at_host(rest)) return match;
        if (auto match = match_host(host, rest)) return match;
        if (auto match = match_form(identifiers, rest)) return match;
        if (auto match = match_ipv6(identifiers, rest)) return match;
        return before == '.' ? std::nullopt : match_ipv4(identifiers, rest);
    });
}

std::string scrub_path(Identifiers& identifiers, std::string_view path) {
    return replace_matches(path, [&](std::string_view rest, char) { return match_form(identifiers, rest); });
}

}  // namespace gdrcheck::snapshot
