// A directory of the disk that stands for "/": opening things inside it, never outside.
#pragma once

#include <string>
#include <string_view>

#include "common/base/fd.hpp"
#include "common/base/result.hpp"
#include "common/base/rootfs.hpp"

namespace gdrcheck {

class DiskRoot {
  public:
    [[nodiscard]] static Result<DiskRoot> open(const std::string& directory, RootFs::Resolution resolution);

    /// Opens `path` inside the root; 0 or an errno. With `canonical`, its canonical path is put there. Links on the way
    /// go into `recording`, if there is one.
    [[nodiscard]] int open_at(std::string_view path, int flags, Fd& result, std::string* canonical,
                              MemoryTree* recording) const;

    /// Opens `name`, of several components, below an open directory. 0 or an errno; ELOOP: a link is on the way, or the
    /// kernel cannot do this, ask open_at.
    [[nodiscard]] int open_beneath(int directory, const std::string& name, int flags, Fd& result) const;

    /// Likewise `path`, which is its own canonical path when the answer is not ELOOP.
    [[nodiscard]] int open_canonical(std::string_view path, int flags, Fd& result) const;

    /// The text of the link `path`; `canonical` is the link's own path.
    [[nodiscard]] int read_link(std::string_view path, std::string& target, MemoryTree* recording) const;

    /// True when this is the "/" of the process.
    [[nodiscard]] bool is_slash() const;

  private:
    class Cursor;

    [[nodiscard]] int open_by_kernel(std::string_view path, int flags, Fd& result) const;
    [[nodiscard]] bool canonical_path(const Fd& fd, std::string& path) const;

    Fd root_;
    std::string prefix_;  ///< what /proc/self/fd calls the root; empty: it cannot tell
    bool kernel_resolves_ = false;
};

/// Opens `name` in a directory so that nothing can block on it, no terminal is taken and no child inherits it. 0 or an
/// errno.
[[nodiscard]] int open_once(int directory, const char* name, int flags, Fd& result);

/// The text of the link `name` in a directory; "" for the link that `directory` itself is. 0 or an errno.
[[nodiscard]] int read_link_at(int directory, const char* name, std::string& target);

/// Content of an open file: refuses what is no regular file with `refusal` set to what it is. More than `limit` bytes
/// are EFBIG with one byte too many in `content`, or cut where `cut` is set. `is_attribute`: of sysfs. 0 or an errno.
[[nodiscard]] int read_content(int fd, std::size_t limit, bool cut, bool is_attribute, std::string& content,
                               const char*& refusal);

}  // namespace gdrcheck
