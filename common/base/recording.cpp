#include "common/base/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "common/base/disk_root.hpp"
#include "common/base/text.hpp"

namespace gdrcheck {

using Entry = MemoryTree::Entry;

namespace {

void record_link(MemoryTree& recording, const std::string& path, std::string target) {
    recording.entries.insert_or_assign(path, Entry{Entry::Kind::link, std::move(target)});
}

}  // namespace

void record_error(MemoryTree* recording, std::string_view path, int code) {
    if (recording == nullptr || code == ENOENT || code == ENOTDIR || code == EISDIR || code == EFBIG) return;
    recording->errors.insert_or_assign(std::string(path), code);
}

void record_content(MemoryTree& recording, const std::string& path, const std::string& content) {
    auto& entry = recording.entries[path];
    entry.kind = Entry::Kind::file;
    if (content.size() > entry.data.size()) entry.data = content;
}

void record_seen(MemoryTree* recording, std::string path, Entry::Kind kind) {
    if (recording != nullptr && path != "/") recording->entries.try_emplace(std::move(path), Entry{kind, {}});
}

void record_name(MemoryTree& recording, int directory, std::string_view directory_path, const char* name) {
    struct stat status {};
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    const auto path = join_path(directory_path, name);
    if (S_ISLNK(status.st_mode)) {
        std::string target;
        if (read_link_at(directory, name, target) == 0) record_link(recording, path, std::move(target));
    } else {
        record_seen(&recording, path, S_ISDIR(status.st_mode) ? Entry::Kind::directory : Entry::Kind::file);
    }
}

void record_names(MemoryTree& recording, const MemoryTree& tree, std::string_view directory,
                  const std::vector<std::string>& names) {
    for (const auto& name : names) {
        auto path = join_path(directory, name);
        const auto found = tree.entries.find(path);
        if (found == tree.entries.end()) {
            record_seen(&recording, std::move(path), Entry::Kind::directory);
        } else if (found->second.kind == Entry::Kind::link) {
            record_link(recording, path, found->second.data);
        } else {
            record_seen(&recording, std::move(path), found->second.kind);
        }
    }
}

}  // namespace gdrcheck
