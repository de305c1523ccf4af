#include "common/report/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "common/report/labels.hpp"
#include "common/report/terminal_text.hpp"

namespace gdrcheck::report {
namespace {

struct Word {
    const char* text;
    Colour colour;
};

Word word_for(NodeVerdict verdict) {
    switch (verdict) {
        case NodeVerdict::ok:
            return {"OK", Colour::green};
        case NodeVerdict::degraded:
            return {"DEGRADED", Colour::yellow};
        case NodeVerdict::unknown:
            return {"UNKNOWN", Colour::cyan};
        case NodeVerdict::fail:
            return {"FAIL", Colour::red};
        case NodeVerdict::not_applicable:
            return {"NOT APPLICABLE", Colour::cyan};
    }
    return {"UNKNOWN", Colour::cyan};
}

/// "4 NICs InfiniBand 400 Gb/s", or each kind with its count where they differ.
std::string nics_line(const NodeFacts& facts, const nccl::Answer& answer) {
    std::vector<std::pair<std::string, std::size_t>> kinds;
    std::size_t total = 0;
    for (const auto& nic : answer.nics) {
        const auto* device = find_device(facts, nic.name);
        if (!nic.used || device == nullptr) continue;
        ++total;
        for (const auto& port : device->ports) {
            const auto& used = nic.used_ports;
            if (!used.empty() && std::find(used.begin(), used.end(), port.number) == used.end()) continue;
            const auto kind = fmt::format("{} {} Gb/s", port.link_layer, rate_label(port.gbps));
            const auto same =
                std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
            if (same == kinds.end()) {
                kinds.emplace_back(kind, 1);
            } else {
                ++same->second;
            }
        }
    }
    auto text = counted(total, "NIC");
    if (kinds.size() == 1) return text + " " + kinds.front().first;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        text += fmt::format("{}{} x {}", i == 0 ? " (" : ", ", kinds[i].second, kinds[i].first);
    }
    return kinds.empty() ? text : text + ")";
}

std::string gpus_line(const NodeFacts& facts, const nccl::Answer& answer) {
    if (facts.gpus.empty()) return "0 GPUs";
    auto text = answer.gpus.size() == facts.gpus.size()
                    ? counted(facts.gpus.size(), "GPU")
                    : fmt::format("{} of {}", answer.gpus.size(), counted(facts.gpus.size(), "GPU"));
    const auto& model = facts.gpus.front().model;
    const bool alike =
        std::all_of(facts.gpus.begin(), facts.gpus.end(), [&](const auto& gpu) { return gpu.model == model; });
    return alike && !model.empty() ? text + " " + model : text;
}

std::string basis_line(const nccl::Answer& answer) {
    const auto& transport = answer.transport;
    const bool has_source = transport.dmabuf != nccl::Tristate::unknown && !transport.dmabuf_source.empty();
    const auto source = has_source ? " (" + transport.dmabuf_source + ")" : std::string();
    return fmt::format("NCCL {} assumed, DMA-BUF {}{}, peermem {}", nccl::to_string(answer.version),
                       nccl::to_string(transport.dmabuf), source, nccl::to_string(transport.peermem));
}

}  // namespace

std::string summary(const NodeReport& report, const Style& style) {
    const auto width = static_cast<std::size_t>(std::max(style.width, 40));
    const auto& answer = first_answer(report.verdict);
    const auto word = word_for(report.verdict.verdict);
    auto head = report.facts.host;
    if (!report.verdict.why.empty()) head += (head.empty() ? "" : ": ") + report.verdict.why;

    std::string out;
    append_wrapped(out, printable(head), std::string(word.text) + "  ", 2, width);
    out.replace(0, std::string_view(word.text).size(), painted(word.text, word.colour, style.colour));

    if (report.verdict.verdict == NodeVerdict::not_applicable && report.facts.gpus.empty()) return out;
    append_wrapped(out, printable(gpus_line(report.facts, answer) + ", " + nics_line(report.facts, answer)), "  ", 2,
                   width);
    if (report.verdict.verdict == NodeVerdict::not_applicable) return out;
    append_wrapped(out, printable(basis_line(answer)), "  ", 2, width);
    if (!answer.topology_used.empty()) {
        append_wrapped(out, printable("topology file " + answer.topology_used), "  ", 2, width);
    }
    return out;
}

}  // namespace gdrcheck::report
