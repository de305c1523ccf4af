#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/fd.hpp"
#include "common/snapshot/archive_library.hpp"
#include "common/snapshot/facts_file.hpp"
#include "common/snapshot/snapshot.hpp"

namespace gdrcheck {

#ifdef GDRCHECK_LIBARCHIVE_HEADERS

namespace {

using snapshot::ArchiveLibrary;
using Kind = MemoryTree::Entry::Kind;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t block_bytes = std::size_t{64} << 10;

/// A name from an archive, fit for a terminal and a log line.
std::string printable(std::string_view name) {
    constexpr std::size_t shown = 200;
    std::string text(name.substr(0, shown));
    for (char& c : text)
        if (c < ' ' || c > '~') c = '?';
    return name.size() > shown ? text + "…" : text;
}

/// "./a//b/" and "/a/b" are both "/a/b"; "" is the root itself.
Result<std::string> normalise(std::string_view name, const ArchiveLimits& limits) {
    if (name.size() > limits.path_bytes)
        return fail("the name " + printable(name) + " is longer than " + std::to_string(limits.path_bytes) + " bytes");
    std::string path;
    std::size_t depth = 0;
    while (!name.empty()) {
        const std::size_t slash = name.find('/');
        const std::string_view part = name.substr(0, slash);
        name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") return fail("the name " + printable(path + "/..") + " leads out of the archive");
        if (++depth > limits.depth)
            return fail("the name " + printable(path) + " is deeper than " + std::to_string(limits.depth) +
                        " directories");
        path += '/';
        path += part;
    }
    return path;
}

/// Puts entries together so that the result is a tree: every parent is a directory.
class TreeBuilder {
  public:
    explicit TreeBuilder(const ArchiveLimits& limits) : limits_(limits) {}

    [[nodiscard]] Result<void> count_bytes(std::size_t bytes) {
        bytes_ += bytes;
        if (bytes_ > limits_.total_bytes)
            return fail("it unpacks to more than " + std::to_string(limits_.total_bytes / mebibyte) + " MiB");
        return {};
    }

    [[nodiscard]] Result<void> add(const std::string& path, Kind kind, std::string data) {
        if (auto parents = add_parents(path); !parents) return parents;
        const auto found = tree_.entries.find(path);
        if (found == tree_.entries.end()) return insert(path, kind, std::move(data));
        if (found->second.kind == Kind::directory && kind != Kind::directory && has_children(path))
            return fail(printable(path) + " is a directory and later something else");
        found->second = {kind, std::move(data)};
        return {};
    }

    [[nodiscard]] const MemoryTree::Entry* find(const std::string& path) const {
        const auto found = tree_.entries.find(path);
        return found == tree_.entries.end() ? nullptr : &found->second;
    }

    [[nodiscard]] MemoryTree take() { return std::move(tree_); }

  private:
    [[nodiscard]] Result<void> insert(const std::string& path, Kind kind, std::string data) {
        if (tree_.entries.size() >= limits_.entries)
            return fail("it has more than " + std::to_string(limits_.entries) + " entries");
        if (auto counted = count_bytes(path.size()); !counted) return counted;
        tree_.entries.emplace(path, MemoryTree::Entry{kind, std::move(data)});
        return {};
    }

    [[nodiscard]] Result<void> add_parents(const std::string& path) {
        for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            const std::string parent = path.substr(0, slash);
            if (const auto* entry = find(parent); entry == nullptr) {
                if (auto inserted = insert(parent, Kind::directory, {}); !inserted) return inserted;
            } else if (entry->kind != Kind::directory) {
                return fail(printable(path) + " lies in " + printable(parent) + ", which is no directory");
            }
        }
        return {};
    }

    [[nodiscard]] bool has_children(const std::string& path) const {
        const auto next = tree_.entries.upper_bound(path + "/");
        return next != tree_.entries.end() && next->first.starts_with(path + "/");
    }

    const ArchiveLimits& limits_;
    MemoryTree tree_;
    std::size_t bytes_ = 0;
};

class ArchiveReader {
  public:
    ArchiveReader(const ArchiveLibrary& library, const ArchiveLimits& limits)
        : library_(library), limits_(limits), archive_(library.read_new(), library.read_free), builder_(limits) {}

    [[nodiscard]] Result<MemoryTree> read(int fd) {
        if (!archive_) return fail("out of memory", ENOMEM);
        // These three and no others: libarchive runs external programs for formats that it does not know itself.
        library_.read_support_filter_gzip(archive_.get());
        library_.read_support_filter_xz(archive_.get());
        library_.read_support_filter_zstd(archive_.get());
        library_.read_support_format_tar(archive_.get());
        if (library_.read_open_fd(archive_.get(), fd, block_bytes) != ARCHIVE_OK) return broken();

        for (;;) {
            archive_entry* entry = nullptr;
            const int status = library_.read_next_header(archive_.get(), &entry);
            if (status == ARCHIVE_EOF) return builder_.take();
            if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return broken();
            if (auto taken = take_entry(entry); !taken) return tl::unexpected(taken.error());
        }
    }

  private:
    [[nodiscard]] tl::unexpected<Error> broken() const {
        const char* text = library_.error_string(archive_.get());
        return fail(text != nullptr ? printable(text) : "no readable tar archive");
    }

    [[nodiscard]] Result<void> check_stream() const {
        constexpr int compressed_once = 2;  // one filter, and the file itself
        if (library_.filter_count(archive_.get()) > compressed_once) return fail("it is compressed more than once");
        // Headers are no contents: without this, an archive of nothing but long headers is read to its end.
        constexpr std::size_t headers_per_entry = 2048;
        const auto unpacked = static_cast<std::size_t>(library_.filter_bytes(archive_.get(), 0));
        if (unpacked > limits_.total_bytes + limits_.entries * headers_per_entry)
            return fail("it unpacks to more than " + std::to_string(unpacked / mebibyte) + " MiB");
        return {};
    }

    [[nodiscard]] Result<void> take_entry(archive_entry* entry) {
        if (auto stream = check_stream(); !stream) return stream;
        const char* name = library_.entry_pathname(entry);
        if (name == nullptr) name = library_.entry_pathname_utf8(entry);
        if (name == nullptr) return fail("an entry has no readable name");
        auto path = normalise(name, limits_);
        if (!path) return tl::unexpected(path.error());

        const auto size = library_.entry_size(entry);
        if (size < 0 || static_cast<std::size_t>(size) > limits_.file_bytes) return too_large(*path);
        if (path->empty()) return {};

        if (const char* target = library_.entry_hardlink(entry); target != nullptr) return copy(*path, target);
        switch (library_.entry_filetype(entry)) {
            case AE_IFREG:
                return take_file(*path);
            case AE_IFDIR:
                return builder_.add(*path, Kind::directory, {});
            case AE_IFLNK:
                return take_link(*path, library_.entry_symlink(entry));
            case AE_IFCHR:
                return builder_.add(*path, Kind::file, {});
            default:
                return {};
        }
    }

    [[nodiscard]] Result<void> take_file(const std::string& path) {
        std::string data;
        std::array<char, block_bytes> block;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        for (;;) {
            const la_ssize_t got = library_.read_data(archive_.get(), block.data(), block.size());
            if (got == 0) break;
            if (got < 0) return fail(printable(path) + ": " + broken().value().what);
            const auto bytes = static_cast<std::size_t>(got);
            if (data.size() + bytes > limits_.file_bytes) return too_large(path);
            if (auto counted = builder_.count_bytes(bytes); !counted) return counted;
            data.append(block.data(), bytes);
        }
        return builder_.add(path, Kind::file, std::move(data));
    }

    [[nodiscard]] Result<void> take_link(const std::string& path, const char* target) {
        if (target == nullptr || *target == '\0') return fail(printable(path) + " is a link without a target");
        std::string text(target);
        if (text.size() > limits_.path_bytes) return fail("the link " + printable(path) + " has too long a target");
        if (auto counted = builder_.count_bytes(text.size()); !counted) return counted;
        return builder_.add(path, Kind::link, std::move(text));
    }

    [[nodiscard]] Result<void> copy(const std::string& path, const char* target) {
        const auto original = normalise(target, limits_);
        if (!original) return tl::unexpected(original.error());
        const auto* entry = builder_.find(*original);
        if (entry == nullptr || entry->kind == Kind::directory)
            return fail(printable(path) + " is a hard link to " + printable(*original) +
                        ", which no earlier entry holds");
        if (auto counted = builder_.count_bytes(entry->data.size()); !counted) return counted;
        return builder_.add(path, entry->kind, std::string(entry->data));
    }

    [[nodiscard]] tl::unexpected<Error> too_large(const std::string& path) const {
        return fail(printable(path) + " is larger than " + std::to_string(limits_.file_bytes / mebibyte) + " MiB");
    }

    const ArchiveLibrary& library_;
    const ArchiveLimits& limits_;
    std::unique_ptr<archive, decltype(ArchiveLibrary::read_free)> archive_;
    TreeBuilder builder_;
};

std::string top_name(std::string_view path) {
    return std::string(path.substr(0, path.find('/', 1)));
}

/// The one top directory that holds a node; "" when the node is at the top (the rule of RootFs::open).
Result<std::string> node_directory(const MemoryTree& tree) {
    const auto holds_node = [&](const std::string& top) {
        return tree.entries.contains(top + "/sys") || tree.entries.contains(top + "/proc") ||
               tree.entries.contains(top + snapshot::facts_path);
    };
    if (holds_node("")) return std::string();
    std::set<std::string> tops;
    for (const auto& [path, entry] : tree.entries)
        if (auto top = top_name(path); top != path && !tops.contains(top) && holds_node(top))
            tops.insert(std::move(top));
    if (tops.empty()) return fail("it is no snapshot: neither sys nor proc at its top or under one directory");
    if (tops.size() > 1)
        return fail("it holds several nodes (" + printable(tops.begin()->substr(1)) + ", " +
                    printable(std::next(tops.begin())->substr(1)) + ", …); unpack it and give one directory");
    return *tops.begin();
}

MemoryTree below(MemoryTree tree, const std::string& top) {
    if (top.empty()) return tree;
    MemoryTree node;
    const std::string prefix = top + "/";
    for (auto at = tree.entries.lower_bound(prefix); at != tree.entries.end() && at->first.starts_with(prefix);) {
        auto moved = tree.entries.extract(at++);
        moved.key().erase(0, top.size());
        node.entries.insert(node.entries.end(), std::move(moved));
    }
    return node;
}

Result<Fd> open_archive(const std::string& file, const ArchiveLimits& limits) {
    Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return fail(std::strerror(errno), errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail(std::strerror(errno), errno);
    if (S_ISDIR(status.st_mode)) return fail("is a directory", EISDIR);
    if (!S_ISREG(status.st_mode)) return fail("is no regular file", EINVAL);
    if (static_cast<std::size_t>(status.st_size) > limits.packed_bytes)
        return fail("is larger than " + std::to_string(limits.packed_bytes / mebibyte) + " MiB", EFBIG);
    return fd;
}

Result<MemoryTree> unpack(const std::string& file, const ArchiveLimits& limits) {
    const auto fd = open_archive(file, limits);
    if (!fd) return tl::unexpected(fd.error());
    const auto library = snapshot::open_archive_library();
    if (!library) return tl::unexpected(library.error());
    auto tree = ArchiveReader(*library, limits).read(fd->get());
    if (!tree) return tree;
    const auto top = node_directory(*tree);
    if (!top) return tl::unexpected(top.error());
    auto node = below(std::move(*tree), *top);
    if (auto facts = read_facts(node); facts) {
        node.errors = std::move(facts->errors);
    } else if (facts.error().code != ENOENT) {
        return tl::unexpected(facts.error());
    }
    return node;
}

}  // namespace

Result<MemoryTree> read_archive(const std::string& file, const ArchiveLimits& limits) {
    return unpack(file, limits).map_error([&](const Error& error) {
        return Error{"cannot read snapshot " + file + ": " + error.what, error.code};
    });
}

#else

Result<MemoryTree> read_archive(const std::string& file, const ArchiveLimits&) {
    return fail("cannot read snapshot " + file + ": built without libarchive; unpack it and give its directory",
                ENOTSUP);
}

#endif

}  // namespace gdrcheck
