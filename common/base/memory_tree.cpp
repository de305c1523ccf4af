#include "common/base/memory_tree.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/walk.hpp"

namespace gdrcheck {
namespace {

using Entry = MemoryTree::Entry;

bool has_children(const MemoryTree& tree, const std::string& path) {
    const auto prefix = path + '/';
    const auto entry = tree.entries.lower_bound(prefix);
    if (entry != tree.entries.end() && entry->first.starts_with(prefix)) return true;
    const auto error = tree.errors.lower_bound(prefix);
    return error != tree.errors.end() && error->first.starts_with(prefix);
}

/// Stands at a canonical path, kept without the final slash: "" is the root.
class MemoryCursor {
  public:
    explicit MemoryCursor(const MemoryTree& tree) : tree_(&tree) {}

    [[nodiscard]] bool is_directory() const { return is_directory_; }
    [[nodiscard]] std::string path() const { return path_.empty() ? "/" : path_; }

    void to_root() {
        path_.clear();
        is_directory_ = true;
    }

    void up() { path_.resize(path_.empty() ? 0 : path_.rfind('/')); }

    int down(const std::string& name, std::string& target) {
        const auto next = join_path(path_, name);
        const auto found = tree_->entries.find(next);
        if (found != tree_->entries.end() && found->second.kind == Entry::Kind::link) {
            target = found->second.data;
            return target.empty() ? ENOENT : 0;
        }
        const bool is_entry = found != tree_->entries.end();
        const bool is_directory = is_entry ? found->second.kind == Entry::Kind::directory : has_children(*tree_, next);
        const bool is_error = recorded_error(*tree_, next) != 0;
        if (!is_entry && !is_directory && !is_error) {
            // What lies in a directory that could not be read is unknown, not absent.
            const int error = recorded_error(*tree_, path_);
            return error == EACCES || error == EPERM || error == EIO ? error : ENOENT;
        }
        path_ = next;
        is_directory_ = is_directory || (!is_entry && is_error);
        return 0;
    }

  private:
    const MemoryTree* tree_;
    std::string path_;
    bool is_directory_ = true;
};

bool has_sys_or_proc(const MemoryTree& tree, const std::string& prefix) {
    return std::any_of(tree.entries.begin(), tree.entries.end(), [&](const auto& item) {
        std::string_view path = item.first;
        if (!path.starts_with(prefix)) return false;
        path.remove_prefix(prefix.size());
        return path == "/sys" || path.starts_with("/sys/") || path == "/proc" || path.starts_with("/proc/");
    });
}

}  // namespace

int recorded_error(const MemoryTree& tree, std::string_view path) {
    const auto found = tree.errors.find(path);
    return found == tree.errors.end() ? 0 : found->second;
}

MemoryPlace find_in(const MemoryTree& tree, std::string_view path, MemoryTree* recording, std::string* last_link) {
    MemoryCursor cursor(tree);
    const int error = walk(cursor, path, recording, last_link);
    if (error == 0) return {.error = 0, .path = cursor.path(), .is_directory = cursor.is_directory()};
    // An error met on the way is recorded under the path that was asked for.
    const int recorded = recorded_error(tree, normalized(path));
    return {.error = recorded != 0 ? recorded : error, .path = normalized(path)};
}

std::vector<std::string> names_in(const MemoryTree& tree, std::string_view directory) {
    const auto prefix = directory == "/" ? std::string("/") : std::string(directory) + '/';
    std::vector<std::string> names;
    const auto collect = [&](const auto& map) {
        for (auto item = map.lower_bound(prefix); item != map.end() && item->first.starts_with(prefix);) {
            const auto rest = std::string_view(item->first).substr(prefix.size());
            const auto slash = rest.find('/');
            auto name = std::string(rest.substr(0, slash));
            if (slash == std::string_view::npos) {
                ++item;
            } else {
                item = map.lower_bound(prefix + name + static_cast<char>('/' + 1));  // past everything below it
            }
            if (!name.empty()) names.push_back(std::move(name));
        }
    };
    collect(tree.entries);
    collect(tree.errors);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

MemoryTree without_wrapper(MemoryTree tree) {
    if (has_sys_or_proc(tree, "")) return tree;
    std::vector<std::string> wrappers;
    for (const auto& name : names_in(tree, "/")) {
        if (has_sys_or_proc(tree, '/' + name)) wrappers.push_back('/' + name);
    }
    if (wrappers.size() != 1) return tree;
    const auto prefix = wrappers.front() + '/';
    MemoryTree inner;
    for (auto& [path, entry] : tree.entries) {
        if (path.starts_with(prefix)) inner.entries.emplace(path.substr(prefix.size() - 1), std::move(entry));
    }
    for (const auto& [path, error] : tree.errors) {
        if (path.starts_with(prefix)) inner.errors.emplace(path.substr(prefix.size() - 1), error);
    }
    return inner;
}

}  // namespace gdrcheck
