// Takes what identifies a machine out of a recorded tree. What is kept and why: snapshot.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/rootfs.hpp"

namespace gdrcheck::snapshot {

struct Scrubbed {
    MemoryTree tree;
    std::string host;                   ///< what the host is called now
    std::vector<std::string> withheld;  ///< files that no rule knows; MemoryTree::errors has EACCES for each
};

[[nodiscard]] Scrubbed scrub(const MemoryTree& recorded, std::string_view host);

}  // namespace gdrcheck::snapshot
