// Small strict parsers for what kernel files hold.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gdrcheck {

/// Without blanks, tabs and line ends at both sides.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The pieces between `separator`s, empty ones included; "" has one empty piece.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The part of `text` up to the first line end, trimmed.
[[nodiscard]] std::string_view first_line(std::string_view text);

/// The last component of a path: "nvidia" of "../../bus/pci/drivers/nvidia".
[[nodiscard]] std::string_view last_component(std::string_view path);

/// `name` below `directory`: "/sys/bus", and "/bus" below "/".
[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);

/// For messages: in quotes, unprintable bytes as \xNN, cut at 60 characters.
[[nodiscard]] std::string quoted(std::string_view text);

/// The whole of `text` as a number, nothing before or after it; nullopt when it is not one or does not fit.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Likewise "2.5"; no exponent, infinity or hexadecimal.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// "0x10de" as sysfs writes it.
template <class T>
[[nodiscard]] std::optional<T> parse_hex(std::string_view text) {
    if (!text.starts_with("0x")) return std::nullopt;
    return parse_number<T>(text.substr(2), 16);
}

}  // namespace gdrcheck
