// Following a path inside a root, one component at a time: absolute links start again at the root, ".." stops there.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/rootfs.hpp"
#include "common/base/text.hpp"

namespace gdrcheck {

inline constexpr int max_links_followed = 40;  ///< MAXSYMLINKS of Linux

/// Components of `path` in reverse order, so that the next one is at the back. A trailing slash asks for a directory.
inline void push_components(std::vector<std::string>& pending, std::string_view path) {
    if (path.ends_with('/')) pending.emplace_back(".");
    while (!path.empty()) {
        const auto slash = path.rfind('/');
        const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
        if (!name.empty()) pending.emplace_back(name);
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
    }
}

/// `path` with ".", ".." and double slashes taken out by text alone.
inline std::string normalized(std::string_view path) {
    std::vector<std::string> pending;
    push_components(pending, path);
    std::string result;
    for (; !pending.empty(); pending.pop_back()) {
        const auto& name = pending.back();
        if (name == ".") continue;
        if (name == "..") {
            result.resize(result.empty() ? 0 : result.rfind('/'));
        } else {
            result += '/';
            result += name;
        }
    }
    return result.empty() ? "/" : result;
}

/// Moves `cursor` from the root to `path`; the answer is 0 or an errno. A cursor has
///   bool is_directory() const, std::string path() const (canonical), void to_root(), void up(),
///   int down(name, std::string& target): goes into `name`, or fills `target` when that is a link and stays.
/// With `last_link`, a link in last place is not followed: its text is put there and the cursor stays in its directory.
/// Links on the way are put into `recording`, if there is one.
template <class Cursor>
[[nodiscard]] int walk(Cursor& cursor, std::string_view path, MemoryTree* recording, std::string* last_link = nullptr) {
    std::vector<std::string> pending;
    push_components(pending, path);
    int links = 0;
    while (!pending.empty()) {
        const std::string name = std::move(pending.back());
        pending.pop_back();
        if (!cursor.is_directory()) return ENOTDIR;
        if (name == ".") continue;
        if (name == "..") {
            cursor.up();
            continue;
        }
        std::string target;
        if (const int error = cursor.down(name, target); error != 0) return error;
        if (target.empty()) continue;
        if (recording != nullptr) {
            recording->entries.insert_or_assign(join_path(cursor.path(), name),
                                                MemoryTree::Entry{MemoryTree::Entry::Kind::link, target});
        }
        if (pending.empty() && last_link != nullptr) {
            *last_link = std::move(target);
            return 0;
        }
        if (++links > max_links_followed) return ELOOP;
        if (target.front() == '/') cursor.to_root();
        push_components(pending, target);
    }
    return last_link != nullptr ? EINVAL : 0;
}

}  // namespace gdrcheck
