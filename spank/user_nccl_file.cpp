#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/fd.hpp"
#include "common/base/text.hpp"
#include "spank/task_environment.hpp"

namespace gdrcheck::spank {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;

/// False: there, and not readable as a file of text.
bool read_keys(const std::string& path, std::vector<std::string>& keys) {
    // The path is the user's, and may be a FIFO. O_NONBLOCK: nothing here waits for a writer.
    const Fd file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!file) return errno == ENOENT || errno == ENOTDIR;
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    std::string text(largest_file, '\0');
    std::size_t used = 0;
    while (used < text.size()) {
        const ssize_t got = ::read(file.get(), text.data() + used, text.size() - used);
        if (got < 0) return false;
        if (got == 0) break;
        used += static_cast<std::size_t>(got);
    }
    if (used == text.size()) return false;
    text.resize(used);
    // As NCCL reads it (param.cc setEnvFile): the key is all before the first '=', a '#' comments only in first place.
    for (const auto line : split(text, '\n')) {
        const auto equals = line.find('=');
        if (equals == std::string_view::npos || line.starts_with('#')) continue;
        keys.emplace_back(line.substr(0, equals));
    }
    return true;
}

}  // namespace

std::optional<std::vector<std::string>> user_file_keys(const TaskEnvironment& environment) {
    std::vector<std::string> keys;
    // NCCL before 2.23 does not know NCCL_CONF_FILE and reads ~/.nccl.conf in any case: both count.
    for (const auto& [variable, suffix] : {std::pair{"NCCL_CONF_FILE", ""}, std::pair{"HOME", "/.nccl.conf"}}) {
        const auto value = environment.get(variable);
        if (value.lookup == TaskEnvironment::Lookup::unknown) return std::nullopt;
        if (value.text.empty()) continue;
        if (!read_keys(value.text + suffix, keys)) return std::nullopt;
    }
    return keys;
}

}  // namespace gdrcheck::spank
