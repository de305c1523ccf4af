#include "prolog/gdrcheck/configuration.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "prolog/gdrcheck/host.hpp"
#include "prolog/gdrcheck/output.hpp"

namespace gdrcheck::cli {
namespace {

constexpr std::size_t largest_file = std::size_t{1024} * 1024;
constexpr const char* file_name = "gdrcheck.toml";
constexpr const char* default_file = "/etc/slurm/gdrcheck.toml";

Result<EffectivePolicy> load(const std::string& path, const std::string& node) {
    const auto file = read_host_file(path, largest_file);
    if (!file) return tl::unexpected(file.error());
    return parse_policy(file->text, path, node);
}

bool is_absent(const Error& error) {
    return error.code == ENOENT || error.code == ENOTDIR;
}

/// "" when SLURM_CONF names none. A relative path would depend on where the caller stands.
std::string beside_slurm_conf() {
    const char* value = std::getenv("SLURM_CONF");
    if (value == nullptr || *value != '/') return {};
    const std::string path = value;
    return path.substr(0, path.rfind('/') + 1) + file_name;
}

}  // namespace

Result<EffectivePolicy> given_configuration(const std::optional<std::string>& given, const std::string& node) {
    return given ? load(*given, node) : default_policy();
}

Result<EffectivePolicy> find_configuration(const std::optional<std::string>& given, const std::string& node) {
    if (given) return load(*given, node);
    if (const auto path = beside_slurm_conf(); !path.empty()) {
        const auto file = read_host_file(path, largest_file);
        if (!file && !is_absent(file.error())) return tl::unexpected(file.error());
        if (file && (file->owner == 0 || file->owner == ::geteuid())) return parse_policy(file->text, path, node);
        if (file) say(fmt::format("{}: belongs to user {}, neither root nor you: left alone", path, file->owner));
    }
    auto found = load(default_file, node);
    if (!found && is_absent(found.error())) return default_policy();
    return found;
}

}  // namespace gdrcheck::cli
