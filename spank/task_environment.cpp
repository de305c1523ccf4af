#include "spank/task_environment.hpp"

#include <array>
#include <cstring>

namespace gdrcheck::spank {
namespace {

constexpr std::size_t longest_value = 8192;  ///< a list of 16 NICs or UUIDs is below 1 KiB

}  // namespace

TaskEnvironment::Value TaskEnvironment::get(const char* name) const {
    std::array<char, longest_value> buffer{};
    const int error = static_cast<int>(spank_getenv(handle_, name, buffer.data(), static_cast<int>(buffer.size())));
    if (error == static_cast<int>(ESPANK_ENV_NOEXIST)) return {.lookup = Lookup::unset};
    if (error != 0) return {};
    return {.lookup = Lookup::set, .text = std::string(buffer.data(), ::strnlen(buffer.data(), buffer.size()))};
}

void TaskEnvironment::set(const std::string& name, const std::string& value) const {
    const int error = static_cast<int>(spank_setenv(handle_, name.c_str(), value.c_str(), 1));
    if (error != 0) slurm_debug("gdrcheck: %s not exported: error %d", name.c_str(), error);
}

void TaskEnvironment::unset(const char* name) const {
    static_cast<void>(spank_unsetenv(handle_, name));
}

}  // namespace gdrcheck::spank
