#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "common/base/text.hpp"
#include "spank/task_gpus.hpp"

namespace gdrcheck::spank {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

DeviceAccess find_device_access(const std::string& device_directory) {
    DeviceAccess access;
    const std::unique_ptr<DIR, CloseDirectory> directory{::opendir(device_directory.c_str())};
    if (directory == nullptr) return access;
    constexpr std::string_view prefix = "nvidia";
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string_view name{entry->d_name};
        if (!name.starts_with(prefix)) continue;
        const auto minor = parse_number<int>(name.substr(prefix.size()));
        if (!minor || *minor < 0) continue;  // nvidiactl, nvidia-uvm
        // inode_permission() asks the device cgroup too: EPERM there, EACCES for the file's own permission bits.
        if (::access((device_directory + "/" + entry->d_name).c_str(), R_OK | W_OK) == 0) {
            access.open.push_back(*minor);
        } else if (errno != EPERM) {
            return access;
        }
    }
    std::sort(access.open.begin(), access.open.end());
    access.known = true;
    return access;
}

}  // namespace gdrcheck::spank
