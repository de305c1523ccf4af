// An NCCL release, "2.28.9".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace gdrcheck::nccl {

struct Version {
    int major = 2;
    int minor = 28;
    int patch = 9;

    auto operator<=>(const Version&) const = default;
};

/// "2.28.9", or "2.28" which means the last release of 2.28. Error: what is wrong and which versions are known.
[[nodiscard]] Result<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

/// Assumed when neither --nccl nor [nccl] assume says otherwise.
inline constexpr Version default_version{2, 28, 9};

}  // namespace gdrcheck::nccl
