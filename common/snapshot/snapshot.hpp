// A snapshot: everything that was read of a node, in one tar.gz, so that the same program gives the same answer
// elsewhere. What belongs into it is decided by RootFs::record_into (what was read is what is needed); this room packs
// and unpacks it, and replaces what identifies the machine when asked to.
//
// Form: one directory gdrcheck-<host>/ with sys, proc, … as on the node, and gdrcheck/facts.json with what is no file:
//   {"schema": 1, "version": "0.1.0", "host": "n1", "time": "2025-01-31T12:00:00Z", "scrubbed": false,
//    "errors": {"/sys/…/config": "EACCES"}, "withheld": []}
//
// Scrubbing (SnapshotOptions::scrub) replaces identifiers and keeps everything that a verdict is made of:
//   * GUIDs, GIDs, MAC and InfiniBand hardware addresses, UUIDs, serial numbers, VUIDs, device serial numbers in config
//     space, IP addresses, the host's name, user@host and /home/<user>, in contents, paths and link targets;
//   * the same identifier gets the same replacement everywhere, of the same form, and replacements sort as their
//   originals
//     did: equalities (sys_image_guid, VUID) and orders, of which NCCL's merging and numbering are made, stay;
//   * kernel addresses become 0; comments and values that no verdict needs are removed from configuration files.
//   A file is kept only if a rule of scrub_rules.cpp knows it, or if it is empty or a plain number. Every other file is
//   left out: it reads as "permission denied" on replay and is listed under "withheld". Nothing leaks by being unknown.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/rootfs.hpp"

namespace gdrcheck {

/// An archive is input from elsewhere: it is refused beyond these, while it is being unpacked.
struct ArchiveLimits {
    std::size_t entries = 200'000;                     ///< with the directories that names imply
    std::size_t total_bytes = std::size_t{256} << 20;  ///< contents and names, unpacked
    std::size_t file_bytes = std::size_t{128} << 20;
    std::size_t path_bytes = 4096;  ///< names and link targets
    std::size_t depth = 64;         ///< directories in a name
    std::size_t packed_bytes = std::size_t{256} << 20;
};

/// A tar archive, plain or compressed with gzip, xz or zstd. Keys are as on the node: the one top directory is taken
/// off. Character devices become empty files (that they exist is a fact), block devices, FIFOs and sockets are left
/// out; hard links become copies; the last of several entries of one name wins. Errors of gdrcheck/facts.json are put
/// into MemoryTree::errors. Refused, with file and cause: "..", a file used as a directory, broken data, anything
/// beyond `limits`, and an archive that holds neither sys, proc nor gdrcheck/facts.json.
[[nodiscard]] Result<MemoryTree> read_archive(const std::string& file, const ArchiveLimits& limits = {});

/// Writes tree as tar.gz under a temporary name in the directory of `file`, then renames: `file` is the old one or the
/// new one, never a part. Mode 0644. The same tree gives the same bytes.
[[nodiscard]] Result<void> write_archive(const std::string& file, const MemoryTree& tree);

struct SnapshotOptions {
    bool scrub = false;
    std::string host;
    std::string time_utc;  ///< "2025-01-31T12:00:00Z"
    std::string version;
};

/// The recorded tree under its top directory, with facts.json, scrubbed when asked for: what write_archive takes.
[[nodiscard]] MemoryTree finish(MemoryTree recorded, const SnapshotOptions& options);

struct SnapshotFacts {
    std::string version;
    std::string host;
    std::string time_utc;
    bool scrubbed = false;
    std::map<std::string, int, std::less<>> errors;  ///< path -> errno, as MemoryTree::errors
    std::vector<std::string> withheld;               ///< paths that scrubbing left out
};

/// Of a tree as read_archive gives it, or as finish gives it. Error.code is ENOENT when the tree has no facts.json.
[[nodiscard]] Result<SnapshotFacts> read_facts(const MemoryTree& tree);

}  // namespace gdrcheck
