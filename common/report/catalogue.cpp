// `gdrcheck checks` and `gdrcheck explain`: what the catalogue says, for people.
#include <fmt/core.h>

#include <algorithm>

#include "common/report/report.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

constexpr std::size_t narrowest = 40;
constexpr std::size_t slug_width = 16;
constexpr std::size_t severity_width = 6;

std::size_t width_of(const Style& style) {
    return std::max(style.width > 0 ? static_cast<std::size_t>(style.width) : narrowest, narrowest);
}

std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// Lines that begin with blanks are commands: they keep their form, and wrap only where they must.
void append_section(std::string& out, std::string_view title, std::string_view text, std::size_t width) {
    constexpr std::size_t indent = 2;
    out += fmt::format("\n{}\n", title);
    while (!text.empty()) {
        const auto line = next_line(text);
        const auto lead = std::min(line.find_first_not_of(' '), line.size());
        const std::string margin(indent + lead, ' ');
        if (lead > 0 && margin.size() + line.size() - lead <= width) {
            out += margin + std::string(line.substr(lead)) + '\n';
        } else {
            append_wrapped(out, line.substr(lead), margin, margin.size() + (lead > 0 ? 4 : 0), width);
        }
    }
}

std::string attributes(const CatalogueEntry& entry) {
    std::string text = to_string(entry.severity);
    if (entry.structural) text += ", structural";
    if (!entry.drains) text += ", never drains";
    if (entry.planned) text += ", planned: not examined by this release";
    return text;
}

}  // namespace

std::string checks_text(const Style& style) {
    std::string out = fmt::format("{:<{}}{:<{}}{}\n", "SLUG", slug_width, "", severity_width, "SAYS");
    bool any_planned = false;
    for (const auto& entry : catalogue()) {
        any_planned = any_planned || entry.planned;
        const auto lead =
            fmt::format("{:<{}}{:<{}}", entry.slug, slug_width, to_string(entry.severity), severity_width);
        auto says = std::string(entry.says);
        if (entry.structural) says += " [structural]";
        if (entry.planned) says += " [planned]";
        append_wrapped(out, says, lead, slug_width + severity_width, width_of(style));
    }
    out += '\n';
    append_wrapped(out, "[structural]: the same tomorrow; drains only with [expect] gdr = true.", "", 0,
                   width_of(style));
    if (any_planned) {
        append_wrapped(out, "[planned]: part of the contract, not examined by this release.", "", 0, width_of(style));
    }
    append_wrapped(
        out, R"(Severity of any: [checks.SLUG] severity = "fail", "warn" or "ignore". More: gdrcheck explain SLUG)", "",
        0, width_of(style));
    return out;
}

std::string explain_text(const CatalogueEntry& entry, const Style& style) {
    const auto width = width_of(style);
    std::string out;
    append_wrapped(out, entry.says, fmt::format("{}: ", entry.slug), 2, width);
    append_wrapped(out, attributes(entry), "Default: ", 2, width);
    append_section(out, "Meaning", entry.meaning, width);
    append_section(out, "Evidence", entry.evidence, width);
    append_section(out, "Fix", entry.fix, width);
    return out;
}

}  // namespace gdrcheck::report
