#include "common/facts/pci_address.hpp"

#include <fmt/core.h>

#include <charconv>

namespace gdrcheck {
namespace {

/// Takes the hexadecimal digits up to `end` characters off the front of `text`.
template <class T>
bool take_hex(std::string_view& text, std::size_t min_digits, std::size_t max_digits, T& value) {
    std::uint32_t number = 0;
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + std::min(text.size(), max_digits), number, 16);
    const auto digits = static_cast<std::size_t>(stop - text.data());
    if (error != std::errc{} || digits < min_digits) return false;
    text.remove_prefix(digits);
    value = static_cast<T>(number);
    return true;
}

bool take(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
    PciAddress address;
    const auto first_colon = text.find(':');
    if (first_colon != std::string_view::npos && text.find(':', first_colon + 1) != std::string_view::npos) {
        if (!take_hex(text, 4, 8, address.domain) || !take(text, ':')) return std::nullopt;
    }
    if (!take_hex(text, 2, 2, address.bus) || !take(text, ':')) return std::nullopt;
    if (!take_hex(text, 2, 2, address.device) || !take(text, '.')) return std::nullopt;
    if (!take_hex(text, 1, 1, address.function) || !text.empty()) return std::nullopt;
    if (address.device > 0x1f || address.function > 7) return std::nullopt;
    return address;
}

std::string to_string(const PciAddress& address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device, address.function);
}

}  // namespace gdrcheck
