#include "common/state/marker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "common/state/json_text.hpp"

namespace gdrcheck::state {
namespace {

constexpr std::size_t largest_file = 16UL * 1024;
constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_node = 255;
constexpr std::size_t most_resumes = 64;
constexpr std::int64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 2;

std::optional<std::vector<std::int64_t>> resumes_of(const nlohmann::json& object) {
    const auto found = object.find("resumes");
    if (found == object.end() || !found->is_array() || found->size() > most_resumes) return std::nullopt;
    std::vector<std::int64_t> times;
    for (const auto& element : *found) {
        if (!element.is_number_integer()) return std::nullopt;
        const auto time = element.get<std::int64_t>();
        if (time < 0 || time > most_seconds) return std::nullopt;
        times.push_back(time);
    }
    return times;
}

}  // namespace

std::string to_json(const Marker& marker) {
    const auto skipped = marker.resumes.size() > most_resumes ? marker.resumes.size() - most_resumes : 0;
    const std::vector<std::int64_t> latest(marker.resumes.begin() + static_cast<std::ptrdiff_t>(skipped),
                                           marker.resumes.end());
    const nlohmann::json json{{"schema", 1},
                              {"node", plain_text(marker.node, longest_node)},
                              {"reason", plain_text(marker.reason, longest_reason)},
                              {"time", marker.time_s},
                              {"told", marker.told},
                              {"settled", marker.settled},
                              {"resumes", latest}};
    return json.dump(-1, ' ', true) + "\n";
}

Result<Marker> parse_marker(std::string_view text) {
    const auto json = parse_object(text);
    if (!json) return tl::unexpected(json.error());
    auto node = text_of(*json, "node", longest_node);
    auto reason = text_of(*json, "reason", longest_reason);
    const auto time = number_of(*json, "time", 0, most_seconds);
    const auto told = truth_of(*json, "told");
    const auto settled = truth_of(*json, "settled");
    auto resumes = resumes_of(*json);
    if (!node || !reason || !time || !told || !settled || !resumes)
        return fail("lacks a node, reason, time, told, settled or resumes that makes sense");
    return Marker{std::move(*node), std::move(*reason), *time, *told, *settled, std::move(*resumes)};
}

Result<void> write_marker(const Place& place, const Marker& marker) {
    return write_atomic(place, marker_name, to_json(marker), Durability::survives_reboot);
}

Result<Marker> read_marker(const Place& place) {
    const auto text = read_trusted(place, marker_name, largest_file);
    if (!text) return tl::unexpected(text.error());
    auto marker = parse_marker(*text);
    if (!marker) return fail(fmt::format("{}/{} {}", place.directory, marker_name, marker.error().what));
    return marker;
}

Result<void> remove_marker(const Place& place) {
    return remove_file(place, marker_name);
}

}  // namespace gdrcheck::state
