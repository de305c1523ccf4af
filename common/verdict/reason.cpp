// The drain reason: what an administrator sees in `sinfo -R`, where 20 columns hold "gdr: SLUG".
#include <fmt/core.h>

#include <algorithm>

#include "common/verdict/verdict.hpp"

namespace gdrcheck {
namespace {

constexpr std::size_t reason_bytes = 200;
constexpr std::size_t seen_bytes = 60;  ///< of what was seen before a remedy may push it aside

std::string printable(std::string_view text) {
    std::string clean(text);
    std::replace_if(
        clean.begin(), clean.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return clean;
}

std::string shortened(std::string text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    if (bytes < 4) return {};
    text.resize(bytes - 3);
    return text + "...";
}

/// Half a command is worse than none: a remedy that does not fit gives way to the one that tells it.
std::string middle(const std::string& seen, const std::string& remedy, const std::string& slug, std::size_t room) {
    const auto joined = [](const std::string& left, const std::string& right) {
        return left.empty() || right.empty() ? left + right : left + "; " + right;
    };
    for (const auto& command : {remedy, "gdrcheck explain " + slug}) {
        if (command.empty()) continue;
        const auto whole = joined(seen, command);
        if (whole.size() <= room) return whole;
        const auto left = room > command.size() + 2 ? room - command.size() - 2 : 0;
        if (left >= seen_bytes) return joined(shortened(seen, left), command);
    }
    return shortened(seen, room);
}

}  // namespace

std::string drain_reason(const std::vector<Finding>& findings) {
    if (findings.empty()) return {};
    const auto& first = findings.front();
    const auto tail = findings.size() > 1 ? fmt::format(" (+{} more)", findings.size() - 1) : std::string();
    auto head = printable("gdr: " + first.slug);
    if (!first.subject.empty()) head += " " + shortened(printable(first.subject), 80);
    const auto used = head.size() + tail.size() + 2;
    const auto room = used < reason_bytes ? reason_bytes - used : 0;
    const auto text = middle(printable(first.seen), printable(first.remedy), first.slug, room);
    return head + (text.empty() ? "" : ": " + text) + tail;
}

}  // namespace gdrcheck
