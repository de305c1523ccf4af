#include "common/snapshot/identifiers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gdrcheck::snapshot {
namespace {

/// Hexadecimal of a fixed width sorts as the number does.
std::string key_of(std::uint64_t value) {
    return fmt::format("{:016x}", value);
}

}  // namespace

void Identifiers::begin_replacing() {
    for (auto& originals : known_) {
        std::uint64_t place = 0;
        for (auto& [original, number] : originals) number = ++place;
    }
}

std::uint64_t Identifiers::number(Identifier kind, std::string_view key) {
    auto& originals = known_.at(static_cast<std::size_t>(kind));
    const auto found = originals.find(key);
    return found != originals.end() ? found->second : originals.emplace(key, 0).first->second;
}

std::uint64_t Identifiers::guid(std::uint64_t value) {
    constexpr std::uint64_t locally_administered = 0x0200'0000'0000'0000;
    if (value == 0 || value == ~std::uint64_t{0}) return value;
    return locally_administered | number(Identifier::guid, key_of(value));
}

std::uint64_t Identifiers::subnet(std::uint64_t value) {
    constexpr std::uint64_t link_local = 0xfe80'0000'0000'0000;  // also InfiniBand's default subnet prefix
    constexpr std::uint64_t unique_local = 0xfd00'0000'0000'0000;
    if (value == 0 || value == link_local) return value;
    return unique_local | number(Identifier::subnet, key_of(value));
}

std::uint64_t Identifiers::mac(std::uint64_t value) {
    constexpr std::uint64_t locally_administered = 0x0200'0000'0000;
    constexpr std::uint64_t broadcast = 0xffff'ffff'ffff;
    if (value == 0 || value == broadcast) return value;
    return locally_administered | number(Identifier::mac, key_of(value));
}

std::uint32_t Identifiers::ipv4(std::uint32_t value) {
    constexpr std::uint32_t benchmarking = 198U << 24 | 18U << 16;  // 198.18.0.0/15, RFC 2544: nobody's
    constexpr std::uint32_t loopback = 127;
    constexpr std::uint32_t netmask = 255;
    if (value == 0 || value >> 24 == loopback || value >> 24 == netmask) return value;
    return benchmarking + static_cast<std::uint32_t>(number(Identifier::ipv4, key_of(value)));
}

std::string Identifiers::ipv6(std::string_view text) {
    if (text == "::" || text == "::1") return std::string(text);
    return fmt::format("2001:db8::{:x}", number(Identifier::ipv6, text));  // RFC 3849: documentation
}

std::string Identifiers::uuid(std::string_view text) {
    if (text.find_first_not_of("0-") == std::string_view::npos) return std::string(text);
    return fmt::format("00000000-0000-4000-8000-{:012x}", number(Identifier::uuid, text));
}

std::string Identifiers::user(std::string_view text) {
    return fmt::format("user{}", number(Identifier::user, text));
}

std::string Identifiers::serial(std::string_view text) {
    // By length first, as the replacements sort: what was scrubbed once stays as it is.
    const std::string digits = std::to_string(number(Identifier::serial, fmt::format("{:08}{}", text.size(), text)));
    std::string replacement(text.size(), '0');
    if (!replacement.empty()) replacement.front() = 'X';
    if (digits.size() < text.size()) {
        std::copy(digits.begin(), digits.end(), replacement.end() - static_cast<std::ptrdiff_t>(digits.size()));
    } else {
        std::fill(replacement.begin(), replacement.end(), 'X');
    }
    return replacement;
}

}  // namespace gdrcheck::snapshot
