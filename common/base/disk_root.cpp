#include "common/base/disk_root.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <system_error>
#include <utility>
#include <vector>

#include <linux/openat2.h>

#include "common/base/walk.hpp"

namespace gdrcheck {
namespace {

/// O_PATH opens nothing, and openat2 refuses it beside flags that say how to open.
constexpr int with_defaults(int flags) {
    return flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY | O_NONBLOCK);
}

constexpr int tries_against_renames = 8;

int open_resolving(int directory, const char* path, int flags, std::uint64_t resolve, Fd& result) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(with_defaults(flags)));
    how.resolve = resolve;
    result = Fd(static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how)));
    return result ? 0 : errno;
}

constexpr std::uint64_t in_root = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
constexpr std::uint64_t without_links = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;

/// What /proc/self/fd says of a descriptor: the only path here that is not inside the root.
std::string name_of_descriptor(int fd) {
    std::array<char, 32> link{};
    *fmt::format_to(link.data(), "/proc/self/fd/{}", fd) = '\0';
    std::string name;
    if (read_link_at(AT_FDCWD, link.data(), name) != 0 || !name.starts_with('/')) name.clear();
    return name;
}

const char* kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFIFO:
            return "is a FIFO, not a file";
        case S_IFSOCK:
            return "is a socket, not a file";
        case S_IFCHR:
            return "is a character device, not a file";
        case S_IFBLK:
            return "is a block device, not a file";
        default:
            return "is not a regular file";
    }
}

}  // namespace

int open_once(int directory, const char* name, int flags, Fd& result) {
    while (true) {
        result = Fd(::openat(directory, name, with_defaults(flags)));
        if (result) return 0;
        if (errno != EINTR) return errno;
    }
}

int read_link_at(int directory, const char* name, std::string& target) {
    std::array<char, PATH_MAX> buffer;
    const auto length = ::readlinkat(directory, name, buffer.data(), buffer.size());
    if (length < 0) return errno;
    target.assign(buffer.data(), static_cast<std::size_t>(length));
    return 0;
}

namespace {

/// 0 for a regular file; else the errno, and in words what it is instead.
int refuse_others(int fd, const char*& refusal) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return errno;
    if (S_ISREG(status.st_mode)) return 0;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    refusal = kind_of(status.st_mode);
    return EINVAL;
}

ssize_t read_at(int fd, char* to, std::size_t length, std::size_t offset) {
    while (true) {
        const auto got = ::pread(fd, to, length, static_cast<off_t>(offset));
        if (got >= 0 || errno != EINTR) return got;
    }
}

}  // namespace

// Four system calls a file are what reading costs, so none is made that tells nothing new. Reading at an offset refuses
// pipes and terminals by itself (ESPIPE); what gives nothing, or all that was asked for, may be a device and is looked
// at. An attribute of sysfs comes whole in one read, so that a short one is its end (fs/kernfs/file.c).
int read_content(int fd, std::size_t limit, bool cut, bool is_attribute, std::string& content, const char*& refusal) {
    std::array<char, 4096> small;
    content.clear();
    while (true) {
        const auto wanted = std::min(small.size(), limit - content.size() + (cut ? 0 : 1));
        if (wanted == 0) return 0;
        const auto got = read_at(fd, small.data(), wanted, content.size());
        if (got < 0) {
            const int error = errno;
            return error == ESPIPE ? refuse_others(fd, refusal) : error;
        }
        const bool is_short = static_cast<std::size_t>(got) < wanted;
        if (content.empty() && (got == 0 || !is_short)) {
            if (const int error = refuse_others(fd, refusal); error != 0) return error;
        }
        content.append(small.data(), static_cast<std::size_t>(got));
        if (content.size() > limit) return EFBIG;
        if (got == 0 || (is_short && is_attribute)) return 0;
    }
}

/// Our own walk: holds a descriptor of every directory on the way, so that nothing is looked up twice and ".." is what
/// was passed, not what the disk says meanwhile.
class DiskRoot::Cursor {
  public:
    explicit Cursor(int root) : root_(root) {}

    [[nodiscard]] bool is_directory() const { return steps_.empty() || steps_.back().is_directory; }

    [[nodiscard]] std::string path() const {
        if (steps_.empty()) return "/";
        std::string path;
        for (const auto& step : steps_) {
            path += '/';
            path += step.name;
        }
        return path;
    }

    void to_root() { steps_.clear(); }

    void up() {
        if (!steps_.empty()) steps_.pop_back();
    }

    int down(const std::string& name, std::string& target) {
        Step step;
        step.name = name;
        if (const int error = open_once(here(), name.c_str(), O_PATH | O_NOFOLLOW, step.fd); error != 0) return error;
        struct stat status {};
        if (::fstat(step.fd.get(), &status) != 0) return errno;
        if (S_ISLNK(status.st_mode)) return read_link_at(step.fd.get(), "", target);
        step.is_directory = S_ISDIR(status.st_mode);
        steps_.push_back(std::move(step));
        return 0;
    }

    /// Opens what the cursor stands on.
    int open(int flags, Fd& result) const {
        if (is_directory()) return open_once(here(), ".", flags, result);
        const int parent = steps_.size() > 1 ? steps_[steps_.size() - 2].fd.get() : root_;
        return open_once(parent, steps_.back().name.c_str(), flags | O_NOFOLLOW, result);
    }

  private:
    struct Step {
        std::string name;
        Fd fd;
        bool is_directory = false;
    };

    [[nodiscard]] int here() const { return steps_.empty() ? root_ : steps_.back().fd.get(); }

    int root_;
    std::vector<Step> steps_;
};

Result<DiskRoot> DiskRoot::open(const std::string& directory, RootFs::Resolution resolution) {
    DiskRoot root;
    if (const int error = open_once(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY, root.root_); error != 0) {
        return fail(fmt::format("{}: {}", directory, std::generic_category().message(error)), error);
    }
    root.prefix_ = name_of_descriptor(root.root_.get());
    // A kernel before 5.6 has no openat2, and some container run-times forbid it.
    Fd probe;
    root.kernel_resolves_ =
        resolution == RootFs::Resolution::kernel && open_resolving(root.root_.get(), ".", O_PATH, in_root, probe) == 0;
    return root;
}

int DiskRoot::open_by_kernel(std::string_view path, int flags, Fd& result) const {
    const std::string terminated(path.empty() ? "/" : path);
    int error = 0;
    for (int i = 0; i < tries_against_renames; ++i) {
        error = open_resolving(root_.get(), terminated.c_str(), flags, in_root, result);
        if (error != EAGAIN && error != EINTR) return error;
    }
    return error;
}

int DiskRoot::open_beneath(int directory, const std::string& name, int flags, Fd& result) const {
    if (!kernel_resolves_) return ELOOP;
    const int error = open_resolving(directory, name.c_str(), flags, without_links, result);
    const bool no_answer = error == EAGAIN || error == EXDEV || error == EINTR;
    return no_answer ? ELOOP : error;
}

int DiskRoot::open_canonical(std::string_view path, int flags, Fd& result) const {
    if (path.size() < 2 || path.front() != '/' || normalized(path) != path) return ELOOP;
    return open_beneath(root_.get(), std::string(path.substr(1)), flags, result);
}

bool DiskRoot::canonical_path(const Fd& fd, std::string& path) const {
    if (prefix_.empty()) return false;
    path = name_of_descriptor(fd.get());
    if (path.empty() || path.ends_with(" (deleted)")) return false;
    if (prefix_ == "/") return true;
    if (!path.starts_with(prefix_)) return false;
    path.erase(0, prefix_.size());
    if (path.empty()) path.assign(1, '/');
    return path.front() == '/';
}

int DiskRoot::open_at(std::string_view path, int flags, Fd& result, std::string* canonical,
                      MemoryTree* recording) const {
    if (kernel_resolves_ && recording == nullptr) {
        const int error = open_by_kernel(path, flags, result);
        if (error != EAGAIN) {
            if (error != 0 || canonical == nullptr || canonical_path(result, *canonical)) return error;
        }
    }
    Cursor cursor(root_.get());
    if (const int error = walk(cursor, path, recording); error != 0) return error;
    if (canonical != nullptr) *canonical = cursor.path();
    return cursor.open(flags, result);
}

int DiskRoot::read_link(std::string_view path, std::string& target, MemoryTree* recording) const {
    if (kernel_resolves_ && recording == nullptr) {
        Fd link;
        const int error = open_by_kernel(path, O_PATH | O_NOFOLLOW, link);
        if (error == 0) {
            const int not_read = read_link_at(link.get(), "", target);
            return not_read == ENOENT ? EINVAL : not_read;  // ENOENT: the descriptor is not one of a link
        }
        if (error != EAGAIN) return error;
    }
    Cursor cursor(root_.get());
    return walk(cursor, path, recording, &target);
}

bool DiskRoot::is_slash() const {
    struct stat mine {};
    struct stat slash {};
    return ::fstat(root_.get(), &mine) == 0 && ::stat("/", &slash) == 0 && mine.st_dev == slash.st_dev &&
           mine.st_ino == slash.st_ino;
}

}  // namespace gdrcheck
