#include "spank/task_gpus.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace gdrcheck::spank {
namespace {

constexpr std::size_t shortest_uuid_prefix = 8;  ///< "GPU-" and what makes it unlikely to name two

/// Minor numbers and PCI addresses ("0000:18:00.0", so text order is bus order) rise together.
bool in_one_order(const std::vector<state::JobGpu>& gpus) {
    std::vector<const state::JobGpu*> by_address;
    for (const auto& gpu : gpus) {
        if (!gpu.minor) return false;
        by_address.push_back(&gpu);
    }
    std::sort(by_address.begin(), by_address.end(), [](const auto* a, const auto* b) { return a->bdf < b->bdf; });
    return std::is_sorted(by_address.begin(), by_address.end(),
                          [](const auto* a, const auto* b) { return *a->minor < *b->minor; });
}

std::optional<std::size_t> gpu_of_minor(const std::vector<state::JobGpu>& gpus, int minor) {
    for (std::size_t index = 0; index < gpus.size(); ++index) {
        if (gpus[index].minor == minor) return index;
    }
    return std::nullopt;
}

/// CUDA takes a prefix when it names one device only.
std::optional<std::size_t> gpu_of_uuid(const std::vector<state::JobGpu>& gpus, std::string_view prefix) {
    if (prefix.size() < shortest_uuid_prefix) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t index = 0; index < gpus.size(); ++index) {
        if (gpus[index].uuid.empty() || !std::string_view{gpus[index].uuid}.starts_with(prefix)) continue;
        if (found) return std::nullopt;
        found = index;
    }
    return found;
}

std::optional<std::size_t> gpu_of_index(const std::vector<state::JobGpu>& gpus, const DeviceAccess& access,
                                        std::string_view text) {
    const auto index = parse_number<std::size_t>(text);
    if (!index || *index >= access.open.size()) return std::nullopt;
    return gpu_of_minor(gpus, access.open[*index]);
}

}  // namespace

std::vector<std::size_t> map_task_gpus(const std::optional<std::string>& visible,
                                       const std::vector<state::JobGpu>& gpus, const DeviceAccess& access) {
    const bool indices_hold = access.known && in_one_order(gpus);
    std::vector<std::size_t> mapped;
    if (!visible) {
        if (!indices_hold) return {};
        for (const int minor : access.open) {
            const auto gpu = gpu_of_minor(gpus, minor);
            if (!gpu) return {};
            mapped.push_back(*gpu);
        }
        return mapped;
    }
    for (const auto piece : split(*visible, ',')) {
        const auto word = trim(piece);
        std::optional<std::size_t> gpu;
        if (word.starts_with("GPU-")) {
            gpu = gpu_of_uuid(gpus, word);
        } else if (indices_hold) {
            gpu = gpu_of_index(gpus, access, word);
        }
        if (!gpu || std::find(mapped.begin(), mapped.end(), *gpu) != mapped.end()) return {};
        mapped.push_back(*gpu);
    }
    return mapped;
}

}  // namespace gdrcheck::spank
