// Putting what was read into a MemoryTree, so that the tree answers every question that was asked as its origin did.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/rootfs.hpp"

namespace gdrcheck {

/// Absence replays by itself, and so do directories and long files; everything else that went wrong must be kept.
void record_error(MemoryTree* recording, std::string_view path, int code);

/// A file may be read in part and whole, in any order: the most that was read is kept.
void record_content(MemoryTree& recording, const std::string& path, const std::string& content);

/// What was only seen, not read: never replaces what was read.
void record_seen(MemoryTree* recording, std::string path, MemoryTree::Entry::Kind kind);

/// A name in an open directory with its kind: listing the recording gives the same names, following them the same
/// links.
void record_name(MemoryTree& recording, int directory, std::string_view directory_path, const char* name);

/// The same of a tree in memory, where directories need no entry of their own.
void record_names(MemoryTree& recording, const MemoryTree& tree, std::string_view directory,
                  const std::vector<std::string>& names);

}  // namespace gdrcheck
