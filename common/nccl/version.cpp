#include "common/nccl/version.hpp"

#include <fmt/core.h>

#include <charconv>

#include "common/nccl/rules.hpp"

namespace gdrcheck::nccl {
namespace {

bool take_number(std::string_view& text, int& number) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0 || number > 999) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return true;
}

bool take_dot(std::string_view& text) {
    if (text.empty() || text.front() != '.') return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

Result<Version> parse_version(std::string_view text) {
    const auto whole = text;
    if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
    Version version{0, 0, -1};
    const bool well_formed = take_number(text, version.major) && take_dot(text) && take_number(text, version.minor) &&
                             (text.empty() || (take_dot(text) && take_number(text, version.patch) && text.empty()));
    if (!well_formed) {
        return fail(
            fmt::format("NCCL version '{}': not of the form X.Y or X.Y.Z, for example 2.28.9", whole.substr(0, 40)));
    }
    const auto& first = oldest_version();
    const auto& last = newest_version();
    if (version.major != 2 || version.minor < first.minor || version.minor > last.minor) {
        return fail(fmt::format("NCCL version '{}': known are {}.{} to {}.{}", whole.substr(0, 40), first.major,
                                first.minor, last.major, last.minor));
    }
    if (version.patch < 0) version.patch = last_patch(version.minor);
    return version;
}

std::string to_string(const Version& version) {
    return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace gdrcheck::nccl
