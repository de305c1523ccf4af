// Looking things up in a MemoryTree the way a kernel would: links, "..", link loops, recorded errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/rootfs.hpp"

namespace gdrcheck {

struct MemoryPlace {
    int error = 0;     ///< errno of getting there
    std::string path;  ///< canonical; "/" for the root
    bool is_directory = false;
};

/// With `last_link`, a link in last place is not followed but put there. Links on the way go into `recording`.
[[nodiscard]] MemoryPlace find_in(const MemoryTree& tree, std::string_view path, MemoryTree* recording = nullptr,
                                  std::string* last_link = nullptr);

/// errno that reading or listing `path` gave when it was recorded, 0 for none.
[[nodiscard]] int recorded_error(const MemoryTree& tree, std::string_view path);

/// Names directly below the canonical path `directory`, sorted.
[[nodiscard]] std::vector<std::string> names_in(const MemoryTree& tree, std::string_view directory);

/// The tree below the one top directory that has sys or proc, when the top has neither.
[[nodiscard]] MemoryTree without_wrapper(MemoryTree tree);

}  // namespace gdrcheck
