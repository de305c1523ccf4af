// Small files that root leaves for root: written whole or not at all, read with distrust.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace gdrcheck::state {

/// A directory of ours and who may have written there. Anything another user owns or may write is refused.
struct Place {
    std::string directory;
    uid_t owner = 0;  ///< besides root
};

enum class Durability {
    until_reboot,     ///< a tmpfs: nothing to flush
    survives_reboot,  ///< flushed before it takes its name
};

/// Error.code: ENOENT there is none, EPERM not to be trusted, EFBIG, or what a system call said.
[[nodiscard]] Result<std::string> read_trusted(const Place& place, const std::string& name, std::size_t limit);

/// Makes the directory (0755) when it is missing, writes under a temporary name and renames; mode 0644.
[[nodiscard]] Result<void> write_atomic(const Place& place, const std::string& name, std::string_view content,
                                        Durability durability);

/// Removes the file and what killed writers of it left. No file is no error.
[[nodiscard]] Result<void> remove_file(const Place& place, const std::string& name);

}  // namespace gdrcheck::state
