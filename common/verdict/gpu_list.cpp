// GPUs as people and Slurm name them: device minor, UUID, MIG id, PCI address.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/verdict/verdict.hpp"

namespace gdrcheck {
namespace {

constexpr std::size_t most_items = 1024;  ///< the list can come from a job

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// As the user wrote it, fit for a terminal.
std::string quoted(std::string_view item) {
    std::string text(item.substr(0, 64));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return "--gpus: '" + text + "'";
}

std::string present(const NodeFacts& facts) {
    if (facts.gpus.empty()) return "this node has no GPU";
    std::string text = "this node has";
    for (std::size_t i = 0; i < facts.gpus.size() && i < 16; ++i) {
        const auto& gpu = facts.gpus[i];
        text += fmt::format("{} {}", i == 0 ? "" : ",", to_string(gpu.pci));
        if (gpu.minor) text += fmt::format(" (minor {})", *gpu.minor);
    }
    if (facts.gpus.size() > 16) text += ", ...";
    return text;
}

template <class Predicate>
std::vector<std::size_t> matching(const NodeFacts& facts, Predicate predicate) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
        if (predicate(facts.gpus[i])) found.push_back(i);
    }
    return found;
}

std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && value >= 0;
    return whole ? std::optional(value) : std::nullopt;
}

Result<std::size_t> by_minor(const NodeFacts& facts, std::string_view item, int minor) {
    const auto found = matching(facts, [&](const Gpu& gpu) { return gpu.minor == minor; });
    if (!found.empty()) return found.front();
    const bool none_known =
        std::none_of(facts.gpus.begin(), facts.gpus.end(), [](const auto& gpu) { return gpu.minor; });
    if (none_known && !facts.gpus.empty()) {
        return fail(
            fmt::format("{}: device minors are not known (/proc/driver/nvidia/gpus is not there); "
                        "name the GPU by PCI address: {}",
                        quoted(item), present(facts)));
    }
    return fail(fmt::format("{}: no GPU with device minor {}; {}", quoted(item), minor, present(facts)));
}

Result<std::size_t> by_uuid(const NodeFacts& facts, std::string_view item, std::string_view uuid) {
    const auto wanted = lower(uuid);
    const auto found = matching(facts, [&](const Gpu& gpu) { return lower(gpu.uuid).starts_with(wanted); });
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
        return fail(
            fmt::format("{}: {} GPUs have a UUID that begins so; {}", quoted(item), found.size(), present(facts)));
    }
    const bool none_known =
        std::none_of(facts.gpus.begin(), facts.gpus.end(), [](const auto& gpu) { return !gpu.uuid.empty(); });
    const auto* cause = none_known && !facts.gpus.empty() ? "the driver tells no UUID" : "no GPU with this UUID";
    return fail(fmt::format("{}: {}; {}", quoted(item), cause, present(facts)));
}

Result<std::size_t> by_address(const NodeFacts& facts, std::string_view item, const PciAddress& address) {
    const auto found = matching(facts, [&](const Gpu& gpu) { return gpu.pci == address; });
    if (!found.empty()) return found.front();
    return fail(fmt::format("{}: no GPU at {}; {}", quoted(item), to_string(address), present(facts)));
}

Result<std::size_t> with_instance(const NodeFacts& facts, std::string_view item, std::size_t gpu,
                                  std::string_view instance) {
    const auto& mig = facts.gpus[gpu].mig;
    const bool exists = std::any_of(mig.begin(), mig.end(), [&](const std::string& candidate) {
        return candidate == instance || candidate.starts_with(std::string(instance) + "/");
    });
    if (exists) return gpu;
    std::string known;
    for (const auto& candidate : mig) known += (known.empty() ? "" : ", ") + candidate;
    return fail(fmt::format("{}: GPU {} has no MIG instance {}; {}", quoted(item), to_string(facts.gpus[gpu].pci),
                            instance, mig.empty() ? "MIG is off" : "it has " + known));
}

/// MIG-GPU-<uuid>/<gi>/<ci>, the form before R470 and the one that names the GPU. MIG-<uuid> names none.
Result<std::size_t> by_mig_id(const NodeFacts& facts, std::string_view item) {
    const auto rest = item.substr(4);
    if (!lower(rest).starts_with("gpu-")) {
        return fail(
            fmt::format("{}: only NVML can tell the GPU of a MIG UUID; write MIG-GPU-<uuid>/<gi>/<ci>, or the GPU's "
                        "UUID, minor or PCI address",
                        quoted(item)));
    }
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos || slash + 1 == rest.size()) {
        return fail(fmt::format("{}: a MIG id of this form is MIG-GPU-<uuid>/<gi>/<ci>", quoted(item)));
    }
    const auto gpu = by_uuid(facts, item, rest.substr(0, slash));
    if (!gpu) return gpu;
    return with_instance(facts, item, *gpu, rest.substr(slash + 1));
}

/// <minor>:<gi> or <minor>:<gi>:<ci>.
Result<std::size_t> by_minor_and_instance(const NodeFacts& facts, std::string_view item) {
    const auto colon = item.find(':');
    const auto minor = parse_number(item.substr(0, colon));
    std::string instance(item.substr(colon + 1));
    std::replace(instance.begin(), instance.end(), ':', '/');
    if (!minor || instance.empty()) return fail(fmt::format("{}: not a GPU; {}", quoted(item), present(facts)));
    const auto gpu = by_minor(facts, item, *minor);
    if (!gpu) return gpu;
    return with_instance(facts, item, *gpu, instance);
}

Result<std::size_t> resolve(const NodeFacts& facts, std::string_view item) {
    if (item.empty())
        return fail("--gpus: an empty item; write device minors, UUIDs, MIG ids or PCI addresses, with commas");
    if (const auto minor = parse_number(item)) return by_minor(facts, item, *minor);
    const auto kind = lower(item.substr(0, 4));
    if (kind == "gpu-") {
        if (item.size() == 4) return fail(fmt::format("{}: a UUID without digits", quoted(item)));
        return by_uuid(facts, item, item);
    }
    if (kind == "mig-") return by_mig_id(facts, item);
    if (const auto address = parse_pci_address(item)) return by_address(facts, item, *address);
    if (item.find(':') != std::string_view::npos && item.find('.') == std::string_view::npos) {
        return by_minor_and_instance(facts, item);
    }
    return fail(fmt::format("{}: neither a device minor, a UUID (GPU-...), a MIG id nor a PCI address; {}",
                            quoted(item), present(facts)));
}

}  // namespace

Result<std::vector<std::size_t>> resolve_gpus(const NodeFacts& facts, std::string_view list) {
    std::vector<std::size_t> gpus;
    for (std::size_t items = 0;; ++items) {
        if (items == most_items) return fail(fmt::format("--gpus: more than {} items", most_items));
        const auto comma = list.find(',');
        const auto gpu = resolve(facts, trimmed(list.substr(0, comma)));
        if (!gpu) return tl::unexpected(gpu.error());
        if (std::find(gpus.begin(), gpus.end(), *gpu) == gpus.end()) gpus.push_back(*gpu);
        if (comma == std::string_view::npos) return gpus;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace gdrcheck
