#include "common/state/trusted_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "common/base/fd.hpp"

namespace gdrcheck::state {
namespace {

tl::unexpected<Error> failed(const std::string& path, const char* doing, int error) {
    return fail(fmt::format("{}: {}: {}", path, doing, std::strerror(error)), error);
}

/// Why what `status` describes must not be believed; nullptr: nothing against it.
const char* distrust(const struct stat& status, uid_t owner) {
    if (status.st_uid != 0 && status.st_uid != owner) return "is owned by another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by others";
    return nullptr;
}

Result<Fd> open_directory(const Place& place) {
    Fd directory(::open(place.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return failed(place.directory, "open", errno);
    struct stat status {};
    if (::fstat(directory.get(), &status) != 0) return failed(place.directory, "stat", errno);
    if (const auto* why = distrust(status, place.owner)) return fail(fmt::format("{} {}", place.directory, why), EPERM);
    return directory;
}

/// The umask is slurmd's: what was made gets its mode by name.
Result<Fd> make_directory(const Place& place) {
    const bool made = ::mkdir(place.directory.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) return failed(place.directory, "mkdir", errno);
    auto directory = open_directory(place);
    if (directory && made && ::fchmod(directory->get(), 0755) != 0) return failed(place.directory, "chmod", errno);
    return directory;
}

int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const auto written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

std::string temporary_prefix(const std::string& name) {
    return "." + name + ".";
}

int fill(int directory, const std::string& temporary, std::string_view content, Durability durability) {
    const Fd file(::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return errno;
    if (const int error = write_all(file.get(), content); error != 0) return error;
    if (::fchmod(file.get(), 0644) != 0) return errno;
    if (durability == Durability::survives_reboot && ::fsync(file.get()) != 0) return errno;
    return 0;
}

}  // namespace

Result<std::string> read_trusted(const Place& place, const std::string& name, std::size_t limit) {
    const auto directory = open_directory(place);
    if (!directory) return tl::unexpected(directory.error());
    const auto path = place.directory + "/" + name;
    const Fd file(::openat(directory->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) return failed(path, "open", errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed(path, "stat", errno);
    if (!S_ISREG(status.st_mode)) return fail(path + " is no regular file", EPERM);
    if (const auto* why = distrust(status, place.owner)) return fail(fmt::format("{} {}", path, why), EPERM);
    std::string content(limit + 1, '\0');
    std::size_t size = 0;
    while (size < content.size()) {
        const auto got = ::read(file.get(), content.data() + size, content.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(path, "read", errno);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    if (size > limit) return fail(fmt::format("{} has more than {} bytes", path, limit), EFBIG);
    content.resize(size);
    return content;
}

Result<void> write_atomic(const Place& place, const std::string& name, std::string_view content,
                          Durability durability) {
    const auto directory = make_directory(place);
    if (!directory) return tl::unexpected(directory.error());
    const auto path = place.directory + "/" + name;
    // The process number keeps two writers apart; a file of that name is of a dead one.
    const auto temporary = temporary_prefix(name) + std::to_string(::getpid());
    ::unlinkat(directory->get(), temporary.c_str(), 0);
    int error = fill(directory->get(), temporary, content, durability);
    if (error == 0 && ::renameat(directory->get(), temporary.c_str(), directory->get(), name.c_str()) != 0)
        error = errno;
    if (error != 0) {
        ::unlinkat(directory->get(), temporary.c_str(), 0);
        return failed(path, "write", error);
    }
    if (durability == Durability::survives_reboot && ::fsync(directory->get()) != 0)
        return failed(path, "flush", errno);
    return {};
}

Result<void> remove_file(const Place& place, const std::string& name) {
    auto directory = open_directory(place);
    if (!directory) {
        if (directory.error().code == ENOENT) return {};
        return tl::unexpected(directory.error());
    }
    if (::unlinkat(directory->get(), name.c_str(), 0) != 0 && errno != ENOENT)
        return failed(place.directory + "/" + name, "remove", errno);
    const int fd = ::dup(directory->get());
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd < 0 ? nullptr : ::fdopendir(fd), &::closedir);
    if (!listing) {
        if (fd >= 0) ::close(fd);
        return {};
    }
    const auto prefix = temporary_prefix(name);
    while (const auto* entry = ::readdir(listing.get())) {
        const std::string_view found(static_cast<const char*>(entry->d_name));
        if (found.starts_with(prefix)) ::unlinkat(directory->get(), std::string(found).c_str(), 0);
    }
    return {};
}

}  // namespace gdrcheck::state
