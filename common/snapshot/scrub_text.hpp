// Finds what identifies a machine in text, by its form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/snapshot/identifiers.hpp"

namespace gdrcheck::snapshot {

/// The names by which text may call this host: "gpu7.example.com", "gpu7", and its domain.
class HostNames {
  public:
    explicit HostNames(std::string_view host);
    struct Name {
        std::string original;
        std::string replacement;
    };
    [[nodiscard]] const std::vector<Name>& names() const { return names_; }

    static constexpr const char* replacement = "host-1";

  private:
    std::vector<Name> names_;  ///< longest first
};

/// GUIDs (1122:3344:5566:7788 and 0x1122334455667788), GIDs, MAC and InfiniBand hardware addresses, UUIDs, names made
/// of an address (enx…, ibx…, rocex…), user@host and /home/<user>: what is known by its form alone.
[[nodiscard]] std::string scrub_text(Identifiers& identifiers, std::string_view text);

/// The same, the host's names, and IPv4 and IPv6 addresses. Not for a driver's or a kernel's own files: "1.2.3.4" is a
/// version there, and a host may be called "nvidia".
[[nodiscard]] std::string scrub_free_text(Identifiers& identifiers, const HostNames& host, std::string_view text);

/// The same for a path or a link's target, whose parts are names that must stay what they are: no host names, no
/// user@host.
[[nodiscard]] std::string scrub_path(Identifiers& identifiers, std::string_view path);

}  // namespace gdrcheck::snapshot
