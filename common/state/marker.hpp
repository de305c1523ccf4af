// The marker of our own drain: /var/lib/gdrcheck/drained. It says which drain may be taken back by us, and how often we
// did lately; it survives the reboot that mends the node.
//
//   {"schema": 1, "node": "n1", "reason": "gdr: peermem-missing …", "time": 1767225600, "told": true,
//    "settled": true, "resumes": [1767139200]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/state/trusted_file.hpp"

namespace gdrcheck::state {

struct Marker {
    std::string node;
    std::string reason;                 ///< whole; empty: no drain of ours stands, only `resumes` are remembered
    std::int64_t time_s = 0;            ///< when the marker was written
    bool told = false;                  ///< slurmctld has our reason; false: it was not asked yet or did not answer
    bool settled = false;               ///< the race for the budget is decided
    std::vector<std::int64_t> resumes;  ///< when we resumed this node, oldest first

    bool operator==(const Marker&) const = default;
};

inline constexpr const char* default_state_directory = GDRCHECK_STATE_DIRECTORY;
inline constexpr const char* marker_name = "drained";

[[nodiscard]] Result<void> write_marker(const Place& place, const Marker& marker);
/// Error.code is ENOENT when there is none.
[[nodiscard]] Result<Marker> read_marker(const Place& place);
[[nodiscard]] Result<void> remove_marker(const Place& place);

[[nodiscard]] std::string to_json(const Marker& marker);
[[nodiscard]] Result<Marker> parse_marker(std::string_view text);

}  // namespace gdrcheck::state
