// A small file tree in code, held in memory or written to a temporary directory.
//   Tree{}.file("/sys/class/x/state", "4: ACTIVE\n").link("/sys/x", "../outside").error("/proc/y", EACCES)
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/base/rootfs.hpp"

namespace gdrcheck::test {

class Tree {
  public:
    Tree& file(const std::string& path, std::string text = {}) {
        return put(path, MemoryTree::Entry::Kind::file, std::move(text));
    }
    Tree& link(const std::string& path, std::string target) {
        return put(path, MemoryTree::Entry::Kind::link, std::move(target));
    }
    Tree& directory(const std::string& path) { return put(path, MemoryTree::Entry::Kind::directory, {}); }
    Tree& error(const std::string& path, int code) {
        tree_.errors.insert_or_assign(path, code);
        return *this;
    }
    Tree& without(const std::string& path) {
        tree_.entries.erase(path);
        return *this;
    }

    [[nodiscard]] const MemoryTree& memory() const { return tree_; }
    [[nodiscard]] RootFs root() const { return RootFs::from_tree(tree_); }

  private:
    Tree& put(const std::string& path, MemoryTree::Entry::Kind kind, std::string data) {
        tree_.entries.insert_or_assign(path, MemoryTree::Entry{kind, std::move(data)});
        return *this;
    }

    MemoryTree tree_;
};

/// A directory that is removed at the end, with whatever was put into it.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gdrcheck-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = pattern;
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    /// Writes the entries of `tree` under `below`; what it says of errors a disk cannot hold.
    const TemporaryDirectory& write(const MemoryTree& tree, const std::string& below = {}) const {
        namespace fs = std::filesystem;
        for (const auto& [path, entry] : tree.entries) {
            const fs::path place = path_ + below + path;
            if (entry.kind == MemoryTree::Entry::Kind::directory) {
                fs::create_directories(place);
                continue;
            }
            fs::create_directories(place.parent_path());
            if (entry.kind == MemoryTree::Entry::Kind::link) {
                fs::create_symlink(entry.data, place);
            } else {
                std::ofstream(place, std::ios::binary) << entry.data;
            }
        }
        return *this;
    }

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace gdrcheck::test
