// Names for what identifies a machine: the same original gets the same replacement, and replacements sort as their
// originals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gdrcheck::snapshot {

enum class Identifier { guid, subnet, mac, ipv4, ipv6, uuid, serial, user };

/// Used in two passes over the same tree: the first collects, the second replaces. A replacement's number is the place
/// of its original among all originals of its kind, so it cannot be known before all have been seen.
class Identifiers {
  public:
    void begin_replacing();

    /// All arguments are in their plain form, lower case, without separators. Zero and broadcast values stay.
    [[nodiscard]] std::uint64_t guid(std::uint64_t value);
    [[nodiscard]] std::uint64_t subnet(std::uint64_t value);
    [[nodiscard]] std::uint64_t mac(std::uint64_t value);
    [[nodiscard]] std::uint32_t ipv4(std::uint32_t value);
    [[nodiscard]] std::string ipv6(std::string_view text);
    [[nodiscard]] std::string uuid(std::string_view text);
    [[nodiscard]] std::string user(std::string_view text);
    /// As long as the original; X and digits. Serial numbers too short to be numbered become X only.
    [[nodiscard]] std::string serial(std::string_view text);

  private:
    [[nodiscard]] std::uint64_t number(Identifier kind, std::string_view key);

    static constexpr std::size_t kinds = 8;
    std::array<std::map<std::string, std::uint64_t, std::less<>>, kinds> known_;
};

}  // namespace gdrcheck::snapshot
