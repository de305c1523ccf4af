#include "common/base/rootfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "common/base/disk_root.hpp"
#include "common/base/memory_tree.hpp"
#include "common/base/recording.hpp"
#include "common/base/text.hpp"
#include "common/base/walk.hpp"

namespace gdrcheck {
namespace {

using Entry = MemoryTree::Entry;

constexpr std::size_t longest_recorded_file = std::size_t{1} << 20;  ///< of those read in pieces: config space is 4 KiB

tl::unexpected<Error> failure(std::string_view path, int code, const char* refusal = nullptr) {
    return fail(fmt::format("{}: {}", path, refusal != nullptr ? refusal : std::generic_category().message(code)),
                code);
}

struct DirectoryStream {
    DIR* stream;
    explicit DirectoryStream(Fd fd) : stream(::fdopendir(fd.get())) {
        if (stream != nullptr) static_cast<void>(fd.release());
    }
    DirectoryStream(const DirectoryStream&) = delete;
    DirectoryStream& operator=(const DirectoryStream&) = delete;
    ~DirectoryStream() {
        if (stream != nullptr) ::closedir(stream);
    }
};

int list_directory(Fd fd, std::string_view path, MemoryTree* recording, std::vector<std::string>& names) {
    const DirectoryStream directory(std::move(fd));
    if (directory.stream == nullptr) return errno;
    while (true) {
        errno = 0;
        const dirent* entry = ::readdir(directory.stream);
        if (entry == nullptr) break;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        if (recording != nullptr) record_name(*recording, ::dirfd(directory.stream), path, entry->d_name);
        names.emplace_back(name);
    }
    if (errno != 0) return errno;
    std::sort(names.begin(), names.end());
    return 0;
}

Result<std::string> line_of(Result<std::string> content) {
    if (!content) return content;
    return std::string(first_line(*content));
}

bool is_attribute(std::string_view path) {
    return path.starts_with("/sys/");
}

bool is_one_component(std::string_view name) {
    return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

}  // namespace

struct RootFs::State {
    std::optional<DiskRoot> disk;  ///< else `memory`
    MemoryTree memory;
    MemoryTree* recording = nullptr;

    /// Opens for reading or, with O_PATH, for knowing that it is there; `canonical` only where it is needed.
    [[nodiscard]] int open_disk(std::string_view path, int flags, Fd& fd, std::string& canonical,
                                bool need_path) const {
        std::string* const wanted = need_path || recording != nullptr ? &canonical : nullptr;
        return disk->open_at(path, flags, fd, wanted, recording);
    }

    [[nodiscard]] const std::string* memory_file(std::string_view path, std::string& canonical, int& error) const {
        auto place = find_in(memory, path, recording);
        canonical = std::move(place.path);
        error = place.error != 0 ? place.error : recorded_error(memory, canonical);
        if (error == 0 && place.is_directory) error = EISDIR;
        if (error != 0) return nullptr;
        return &memory.entries.find(canonical)->second.data;
    }

    [[nodiscard]] Result<std::string> read(std::string_view path, std::size_t limit, bool cut) const {
        std::string canonical(path);
        std::string content;
        int error = 0;
        const char* refusal = nullptr;
        if (disk) {
            Fd fd;
            error = open_disk(path, O_RDONLY, fd, canonical, false);
            if (error == 0) error = read_content(fd.get(), limit, cut, is_attribute(path), content, refusal);
        } else if (const auto* data = memory_file(path, canonical, error); data != nullptr) {
            if (data->size() > limit && !cut) error = EFBIG;
            content = data->substr(0, error == 0 ? limit : limit + 1);
        }
        return finish(path, canonical, error, refusal, std::move(content));
    }

    [[nodiscard]] Result<std::string> finish(std::string_view path, const std::string& canonical, int error,
                                             const char* refusal, std::string content) const {
        if (recording != nullptr && (error == 0 || error == EFBIG)) record_content(*recording, canonical, content);
        if (recording != nullptr && error == EISDIR) record_seen(recording, canonical, Entry::Kind::directory);
        if (error == 0) return content;
        record_error(recording, canonical, error);
        return failure(path, error, refusal);
    }
};

RootFs::RootFs() : state_(std::make_unique<State>()) {}
RootFs::RootFs(RootFs&&) noexcept = default;
RootFs& RootFs::operator=(RootFs&&) noexcept = default;
RootFs::~RootFs() = default;

Result<RootFs> RootFs::open(const std::string& directory, Resolution resolution) {
    auto disk = DiskRoot::open(directory, resolution);
    if (!disk) return fail(disk.error().what, disk.error().code);
    RootFs root;
    root.state_->disk = std::move(*disk);
    root.live_ = root.state_->disk->is_slash();
    if (root.exists("/sys") || root.exists("/proc")) return root;

    const auto names = root.list("/");
    if (!names)
        return fail(fmt::format("{}: {}", directory, std::generic_category().message(names.error().code)),
                    names.error().code);
    std::vector<std::string> wrappers;
    for (const auto& name : *names) {
        if (root.read_link(name)) continue;  // a link may lead anywhere: it wraps nothing
        if (root.exists(name + "/sys") || root.exists(name + "/proc")) wrappers.push_back(name);
    }
    if (wrappers.size() != 1) return root;
    auto inner = DiskRoot::open(join_path(directory, wrappers.front()), resolution);
    if (!inner) return fail(inner.error().what, inner.error().code);
    root.state_->disk = std::move(*inner);
    return root;
}

RootFs RootFs::from_tree(MemoryTree tree) {
    RootFs root;
    root.state_->memory = without_wrapper(std::move(tree));
    return root;
}

void RootFs::record_into(MemoryTree* recording) {
    state_->recording = recording;
}

Result<std::string> RootFs::read(std::string_view path, std::size_t limit) const {
    return state_->read(path, limit, false);
}

Result<std::string> RootFs::read_prefix(std::string_view path, std::size_t bytes) const {
    return state_->read(path, bytes, true);
}

Result<std::string> RootFs::read_line(std::string_view path) const {
    return line_of(read(path));
}

Result<std::vector<std::string>> RootFs::list(std::string_view path) const {
    std::string canonical(path);
    std::vector<std::string> names;
    int error = 0;
    if (state_->disk) {
        Fd fd;
        error = state_->open_disk(path, O_RDONLY | O_DIRECTORY, fd, canonical, false);
        if (error == 0) error = list_directory(std::move(fd), canonical, state_->recording, names);
    } else {
        auto place = find_in(state_->memory, path, state_->recording);
        canonical = std::move(place.path);
        error = place.error != 0 ? place.error : recorded_error(state_->memory, canonical);
        if (error == 0 && !place.is_directory) error = ENOTDIR;
        if (error == 0) names = names_in(state_->memory, canonical);
        if (state_->recording != nullptr) record_names(*state_->recording, state_->memory, canonical, names);
    }
    if (error != 0) {
        record_error(state_->recording, canonical, error);
        return failure(path, error);
    }
    record_seen(state_->recording, canonical, Entry::Kind::directory);
    return names;
}

Result<std::string> RootFs::resolve(std::string_view path) const {
    std::string canonical(path);
    int error = 0;
    bool is_directory = false;
    if (state_->disk) {
        Fd fd;
        error = state_->open_disk(path, O_PATH, fd, canonical, true);
        struct stat status {};
        if (error == 0 && state_->recording != nullptr)
            is_directory = ::fstat(fd.get(), &status) == 0 && S_ISDIR(status.st_mode);
    } else {
        auto place = find_in(state_->memory, path, state_->recording);
        error = place.error;
        is_directory = place.is_directory;
        canonical = std::move(place.path);
    }
    if (error != 0) {
        record_error(state_->recording, normalized(path), error);
        return failure(path, error);
    }
    record_seen(state_->recording, canonical, is_directory ? Entry::Kind::directory : Entry::Kind::file);
    return canonical;
}

Result<std::string> RootFs::read_link(std::string_view path) const {
    std::string target;
    const int error = state_->disk ? state_->disk->read_link(path, target, state_->recording)
                                   : find_in(state_->memory, path, state_->recording, &target).error;
    if (error == 0) return target;
    if (error != EINVAL) record_error(state_->recording, normalized(path), error);  // EINVAL: not a link
    return failure(path, error);
}

bool RootFs::exists(std::string_view path) const {
    if (state_->recording != nullptr || !state_->disk) return resolve(path).has_value();
    Fd fd;
    std::string unused;
    return state_->open_disk(path, O_PATH, fd, unused, false) == 0;
}

Result<Fd> RootFs::open_file(std::string_view path) const {
    if (state_->disk && state_->recording == nullptr) {
        Fd fd;
        std::string unused;
        if (const int error = state_->open_disk(path, O_RDONLY, fd, unused, false); error != 0)
            return failure(path, error);
        struct stat status {};
        if (::fstat(fd.get(), &status) != 0) return failure(path, errno);
        if (!S_ISREG(status.st_mode)) return failure(path, EINVAL, "is not a regular file");
        return fd;
    }
    auto content = read(path, std::size_t{256} << 20);
    if (!content) return fail(content.error().what, content.error().code);
    Fd fd(::memfd_create("gdrcheck", MFD_CLOEXEC));
    if (!fd) return failure(path, errno);
    for (std::string_view rest = *content; !rest.empty();) {
        const auto written = ::write(fd.get(), rest.data(), rest.size());
        if (written < 0 && errno != EINTR) return failure(path, errno);
        if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::lseek(fd.get(), 0, SEEK_SET) != 0) return failure(path, errno);
    return fd;
}

Result<RootFs::Directory> RootFs::directory(std::string_view path) const {
    Directory result;
    result.root_ = this;
    int error = 0;
    constexpr int flags = O_PATH | O_DIRECTORY;
    if (state_->disk) {
        error = state_->recording == nullptr ? state_->disk->open_canonical(path, flags, result.fd_) : ELOOP;
        result.path_ = path;
        if (error == ELOOP) error = state_->open_disk(path, flags, result.fd_, result.path_, true);
    } else {
        auto place = find_in(state_->memory, path, state_->recording);
        error = place.error == 0 && !place.is_directory ? ENOTDIR : place.error;
        result.path_ = std::move(place.path);
    }
    if (error != 0) {
        record_error(state_->recording, normalized(path), error);
        return failure(path, error);
    }
    record_seen(state_->recording, result.path_, Entry::Kind::directory);
    return result;
}

Result<std::string> RootFs::Directory::read(std::string_view name, std::size_t limit) const {
    const auto& state = *root_->state_;
    const auto path = join_path(path_, name);
    if (!state.disk) return state.read(path, limit, false);
    Fd fd;
    int error = ELOOP;
    if (is_one_component(name)) {
        error = open_once(fd_.get(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW, fd);
    } else if (name.find("..") == std::string_view::npos) {
        error = state.disk->open_beneath(fd_.get(), std::string(name), O_RDONLY, fd);
    }
    if (error == ELOOP) return state.read(path, limit, false);  // a link: resolved inside the root
    std::string content;
    const char* refusal = nullptr;
    if (error == 0) error = read_content(fd.get(), limit, false, is_attribute(path), content, refusal);
    return state.finish(path, path, error, refusal, std::move(content));
}

Result<std::string> RootFs::Directory::read_line(std::string_view name) const {
    return line_of(read(name));
}

Result<std::string> RootFs::Directory::read_link(std::string_view name) const {
    const auto& state = *root_->state_;
    const auto path = join_path(path_, name);
    if (!state.disk || state.recording != nullptr || !is_one_component(name)) return root_->read_link(path);
    std::string target;
    if (const int error = read_link_at(fd_.get(), std::string(name).c_str(), target); error != 0)
        return failure(path, error);
    return target;
}

Result<RootFs::File> RootFs::Directory::open(std::string_view name) const {
    const auto& state = *root_->state_;
    File file;
    file.path_ = join_path(path_, name);
    if (state.recording != nullptr) {
        if (auto whole = state.read(file.path_, longest_recorded_file, false); !whole) {
            return fail(whole.error().what, whole.error().code);
        }
    }
    int error = 0;
    std::string canonical;
    if (!state.disk) {
        file.content_ = state.memory_file(file.path_, canonical, error);
        if (error != 0) return failure(file.path_, error);
        return file;
    }
    if (is_one_component(name))
        error = open_once(fd_.get(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW, file.fd_);
    if (error == ELOOP || !is_one_component(name))
        error = state.open_disk(file.path_, O_RDONLY, file.fd_, canonical, false);
    if (error != 0) return failure(file.path_, error);
    struct stat status {};
    if (::fstat(file.fd_.get(), &status) != 0) return failure(file.path_, errno);
    if (!S_ISREG(status.st_mode)) return failure(file.path_, EINVAL, "is not a regular file");
    return file;
}

Result<std::string> RootFs::File::read_at(std::size_t offset, std::size_t length) const {
    if (content_ != nullptr) {
        return offset >= content_->size() ? std::string() : content_->substr(offset, length);
    }
    std::string bytes(length, '\0');
    std::size_t done = 0;
    while (done < length) {
        const auto got = ::pread(fd_.get(), bytes.data() + done, length - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(path_, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace gdrcheck
