// Every read of the system goes through a RootFs: a directory that stands for "/", or a snapshot held in memory.
// Links, absolute or with "..", are resolved inside the root; no read leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/fd.hpp"
#include "common/base/result.hpp"

namespace gdrcheck {

/// A tree held in memory: what a snapshot archive unpacks to. Keys are canonical paths, "/sys/…", no links followed.
struct MemoryTree {
    struct Entry {
        enum class Kind { file, directory, link } kind = Kind::file;
        std::string data;  ///< content of a file, target of a link
    };
    std::map<std::string, Entry, std::less<>> entries;
    std::map<std::string, int, std::less<>> errors;  ///< path -> errno that reading or listing it gave (EACCES, EIO)
};

class RootFs {
  public:
    /// Who follows links inside the root: openat2(RESOLVE_IN_ROOT) where the kernel has it (5.6), or our own walk,
    /// which is also what recording uses, because only a walk sees the links it follows.
    enum class Resolution { kernel, own };

    /// `directory` stands for "/". A directory that has neither sys nor proc and exactly one sub-directory that has one
    /// is taken for that sub-directory (an unpacked snapshot). Error names the path and the cause.
    [[nodiscard]] static Result<RootFs> open(const std::string& directory, Resolution resolution = Resolution::kernel);
    /// The same rule for the one top directory.
    [[nodiscard]] static RootFs from_tree(MemoryTree tree);

    /// From now on every successful read, link and listing, and every EACCES, EIO or other surprise, is also put into
    /// `recording` under its canonical path: what was read is what a snapshot must hold. nullptr ends it.
    void record_into(MemoryTree* recording);

    RootFs(RootFs&&) noexcept;
    RootFs& operator=(RootFs&&) noexcept;
    ~RootFs();

    static constexpr std::size_t usual_limit = std::size_t{64} * 1024;

    /// Whole content, at most `limit` bytes (more is an error). A file that is no regular file (FIFO, device) is
    /// refused. Error.code is the errno (ENOENT, EACCES, EIO, ELOOP, …).
    [[nodiscard]] Result<std::string> read(std::string_view path, std::size_t limit = usual_limit) const;

    /// The first `bytes` of a file, or all of a shorter one: /proc/cpuinfo is megabytes where cores are many.
    [[nodiscard]] Result<std::string> read_prefix(std::string_view path, std::size_t bytes) const;

    /// First line without its newline and outer blanks: the form of most sysfs attributes.
    [[nodiscard]] Result<std::string> read_line(std::string_view path) const;

    /// Names in a directory, sorted, without "." and "..".
    [[nodiscard]] Result<std::vector<std::string>> list(std::string_view path) const;

    /// Canonical absolute path inside the root, all links followed ("/sys/devices/pci0000:20/…").
    [[nodiscard]] Result<std::string> resolve(std::string_view path) const;

    /// The text of a link, not followed.
    [[nodiscard]] Result<std::string> read_link(std::string_view path) const;

    [[nodiscard]] bool exists(std::string_view path) const;

    /// A descriptor for a library that wants one (libkmod), opened inside the root; memory trees give a memfd.
    [[nodiscard]] Result<Fd> open_file(std::string_view path) const;

    /// A file of which only some bytes are wanted: each dword of PCI config space is a transaction on the bus.
    class File {
      public:
        /// Up to `length` bytes at `offset`; fewer at the end of what may be read.
        [[nodiscard]] Result<std::string> read_at(std::size_t offset, std::size_t length) const;

      private:
        friend class RootFs;
        Fd fd_;
        const std::string* content_ = nullptr;  ///< in a memory tree
        std::string path_;
    };

    /// A directory opened once, for reading several of its files by name without walking the path again.
    class Directory {
      public:
        [[nodiscard]] Result<std::string> read(std::string_view name, std::size_t limit = usual_limit) const;
        [[nodiscard]] Result<std::string> read_line(std::string_view name) const;
        [[nodiscard]] Result<std::string> read_link(std::string_view name) const;
        [[nodiscard]] Result<File> open(std::string_view name) const;
        [[nodiscard]] const std::string& path() const { return path_; }  ///< canonical, inside the root

      private:
        friend class RootFs;
        const RootFs* root_ = nullptr;
        Fd fd_;
        std::string path_;
    };
    [[nodiscard]] Result<Directory> directory(std::string_view path) const;

    /// True when this is the running system ("/").
    [[nodiscard]] bool is_live() const { return live_; }

  private:
    RootFs();
    struct State;
    std::unique_ptr<State> state_;
    bool live_ = false;
};

}  // namespace gdrcheck
