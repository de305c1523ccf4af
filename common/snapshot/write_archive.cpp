#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "common/base/fd.hpp"
#include "common/snapshot/archive_library.hpp"
#include "common/snapshot/snapshot.hpp"

namespace gdrcheck {

#ifdef GDRCHECK_LIBARCHIVE_HEADERS

namespace {

using snapshot::ArchiveLibrary;
using Kind = MemoryTree::Entry::Kind;

tl::unexpected<Error> failed(const std::string& doing) {
    const int code = errno;
    return fail(doing + ": " + std::strerror(code), code);
}

std::string directory_of(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : file.substr(0, slash);
}

/// A file beside the target that vanishes unless it is renamed to it.
class TemporaryFile {
  public:
    static Result<TemporaryFile> beside(const std::string& target) {
        std::string name = target + ".XXXXXX";
        Fd fd(::mkostemp(name.data(), O_CLOEXEC));
        if (!fd) return failed("no temporary file in " + directory_of(target));
        return TemporaryFile(std::move(name), std::move(fd));
    }
    TemporaryFile(TemporaryFile&& other) noexcept : name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_)) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!name_.empty()) ::unlink(name_.c_str());
    }

    [[nodiscard]] int fd() const { return fd_.get(); }

    [[nodiscard]] Result<void> become(const std::string& target) {
        constexpr mode_t readable_by_all = 0644;
        if (::fchmod(fd_.get(), readable_by_all) != 0) return failed("fchmod");
        if (::fsync(fd_.get()) != 0) return failed("fsync");
        if (::rename(name_.c_str(), target.c_str()) != 0) return failed("rename");
        name_.clear();
        // The new name survives a crash once its directory is on disk; where that cannot be had, the file is still
        // whole.
        if (const Fd directory(::open(directory_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); directory)
            ::fsync(directory.get());
        return {};
    }

  private:
    TemporaryFile(std::string name, Fd fd) : name_(std::move(name)), fd_(std::move(fd)) {}
    std::string name_;
    Fd fd_;
};

class ArchiveWriter {
  public:
    explicit ArchiveWriter(const ArchiveLibrary& library)
        : library_(library), archive_(library.write_new(), library.write_free), entry_(nullptr, library.entry_free) {}

    [[nodiscard]] Result<void> write(int fd, const MemoryTree& tree) {
        if (!archive_) return fail("out of memory", ENOMEM);
        // Without the time stamp that gzip would put into its header, the same tree gives the same bytes.
        if (library_.write_add_filter_gzip(archive_.get()) != ARCHIVE_OK ||
            library_.write_set_filter_option(archive_.get(), "gzip", "timestamp", nullptr) != ARCHIVE_OK ||
            library_.write_set_format_pax_restricted(archive_.get()) != ARCHIVE_OK ||
            library_.write_open_fd(archive_.get(), fd) != ARCHIVE_OK)
            return broken();
        for (const auto& [path, entry] : tree.entries)
            if (auto written = write_entry(path, entry); !written) return written;
        if (library_.write_close(archive_.get()) != ARCHIVE_OK) return broken();
        return {};
    }

  private:
    [[nodiscard]] Result<void> write_entry(const std::string& path, const MemoryTree::Entry& entry) {
        constexpr time_t fixed_time = 315532800;  // 1980-01-01: tar warns of times at or before 1970
        entry_.reset(library_.entry_new());
        if (!entry_) return fail("out of memory", ENOMEM);
        const std::size_t leading = path.find_first_not_of('/');
        if (leading == std::string::npos) return {};
        library_.entry_set_pathname(entry_.get(), path.c_str() + leading);
        library_.entry_set_mtime(entry_.get(), fixed_time, 0);
        switch (entry.kind) {
            case Kind::file:
                library_.entry_set_filetype(entry_.get(), AE_IFREG);
                library_.entry_set_perm(entry_.get(), 0644);
                library_.entry_set_size(entry_.get(), static_cast<la_int64_t>(entry.data.size()));
                break;
            case Kind::directory:
                library_.entry_set_filetype(entry_.get(), AE_IFDIR);
                library_.entry_set_perm(entry_.get(), 0755);
                break;
            case Kind::link:
                library_.entry_set_filetype(entry_.get(), AE_IFLNK);
                library_.entry_set_perm(entry_.get(), 0777);
                library_.entry_set_symlink(entry_.get(), entry.data.c_str());
                break;
        }
        // A warning says that a name is not in the locale's character set; its bytes are written as they are.
        if (const int status = library_.write_header(archive_.get(), entry_.get());
            status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return broken();
        return entry.kind == Kind::file ? write_data(entry.data) : Result<void>{};
    }

    [[nodiscard]] Result<void> write_data(const std::string& data) {
        for (std::size_t done = 0; done < data.size();) {
            const la_ssize_t wrote = library_.write_data(archive_.get(), data.data() + done, data.size() - done);
            if (wrote <= 0) return broken();
            done += static_cast<std::size_t>(wrote);
        }
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> broken() const {
        const int code = library_.error_number(archive_.get());
        const char* text = library_.error_string(archive_.get());
        std::string what = text != nullptr ? text : "libarchive gave no reason";
        if (code > 0) what += std::string(" (") + std::strerror(code) + ")";
        return fail(std::move(what), code);
    }

    const ArchiveLibrary& library_;
    std::unique_ptr<archive, decltype(ArchiveLibrary::write_free)> archive_;
    std::unique_ptr<archive_entry, decltype(ArchiveLibrary::entry_free)> entry_;
};

Result<void> pack(const std::string& file, const MemoryTree& tree) {
    // A rename would replace /dev/null or a FIFO as readily as an old snapshot.
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        return fail("it exists and is no regular file", EEXIST);
    const auto library = snapshot::open_archive_library();
    if (!library) return tl::unexpected(library.error());
    auto temporary = TemporaryFile::beside(file);
    if (!temporary) return tl::unexpected(temporary.error());
    if (auto written = ArchiveWriter(*library).write(temporary->fd(), tree); !written) return written;
    return temporary->become(file);
}

}  // namespace

Result<void> write_archive(const std::string& file, const MemoryTree& tree) {
    return pack(file, tree).map_error([&](const Error& error) {
        return Error{"cannot write snapshot " + file + ": " + error.what, error.code};
    });
}

#else

Result<void> write_archive(const std::string& file, const MemoryTree&) {
    return fail("cannot write snapshot " + file + ": built without libarchive", ENOTSUP);
}

#endif

}  // namespace gdrcheck
