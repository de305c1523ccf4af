// gdrcheck/facts.json of a snapshot: what is no file of the node.
#pragma once

#include <string>

#include "common/snapshot/snapshot.hpp"

namespace gdrcheck::snapshot {

inline constexpr const char* facts_path = "/gdrcheck/facts.json";

[[nodiscard]] std::string to_json(const SnapshotFacts& facts);
[[nodiscard]] Result<SnapshotFacts> facts_from_json(const std::string& text);

}  // namespace gdrcheck::snapshot
