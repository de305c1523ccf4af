#include "prolog/gdrcheck/host.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/base/disk_root.hpp"
#include "common/base/fd.hpp"

namespace gdrcheck::cli {

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string without_domain(const std::string& host) {
    return host.substr(0, host.find('.'));
}

std::string node_name() {
    const char* slurm = std::getenv("SLURMD_NODENAME");
    return slurm != nullptr && *slurm != '\0' ? slurm : without_domain(host_name());
}

Result<HostFile> read_host_file(const std::string& path, std::size_t limit) {
    const auto failed = [&](int error, const char* refusal = nullptr) {
        return fail(fmt::format("{}: {}", path, refusal != nullptr ? refusal : std::strerror(error)), error);
    };
    Fd fd;
    if (const int error = open_once(AT_FDCWD, path.c_str(), O_RDONLY, fd); error != 0) return failed(error);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return failed(errno);
    HostFile file;
    file.owner = status.st_uid;
    const char* refusal = nullptr;
    if (const int error = read_content(fd.get(), limit, false, false, file.text, refusal);
        error != 0 || refusal != nullptr) {
        return failed(error, refusal);
    }
    return file;
}

}  // namespace gdrcheck::cli
