// This host: its names and its files.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.hpp"

namespace gdrcheck::cli {

[[nodiscard]] std::string host_name();

/// The name Slurm has for this host: SLURMD_NODENAME in a prolog or job, else the host's name without its domain.
[[nodiscard]] std::string node_name();

[[nodiscard]] std::string without_domain(const std::string& host);

struct HostFile {
    std::string text;
    unsigned int owner = 0;  ///< user id
};

/// A regular file of the host of at most `limit` bytes. Error.code is the errno.
[[nodiscard]] Result<HostFile> read_host_file(const std::string& path, std::size_t limit);

}  // namespace gdrcheck::cli
