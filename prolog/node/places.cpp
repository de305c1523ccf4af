#include "prolog/node/places.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "common/base/disk_root.hpp"
#include "common/base/fd.hpp"
#include "common/base/text.hpp"
#include "common/state/job_file.hpp"
#include "common/state/marker.hpp"

namespace gdrcheck::node {
namespace {

constexpr std::size_t largest_policy = 1024UL * 1024;
constexpr std::size_t largest_environment = 256UL * 1024;
constexpr const char* policy_name = "gdrcheck.toml";
constexpr const char* default_policy_file = "/etc/slurm/gdrcheck.toml";

Result<std::string> read_host_file(const std::string& path, std::size_t limit, bool cut = false) {
    Fd file;
    std::string content;
    const char* refusal = nullptr;
    int error = open_once(AT_FDCWD, path.c_str(), O_RDONLY, file);
    if (error == 0) error = read_content(file.get(), limit, cut, false, content, refusal);
    if (refusal != nullptr) return fail(fmt::format("{}: {}", path, refusal), EPERM);
    if (error != 0) return fail(fmt::format("{}: {}", path, std::strerror(error)), error);
    return content;
}

/// Of whoever started this program: 22.05 gives a health program one variable, and SLURM_CONF is not it.
class ParentEnvironment {
  public:
    std::optional<std::string> value(std::string_view name) {
        if (!text_)
            text_ =
                read_host_file(fmt::format("/proc/{}/environ", ::getppid()), largest_environment, true).value_or("");
        for (const auto entry : split(*text_, '\0')) {
            if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
                return std::string(entry.substr(name.size() + 1));
        }
        return std::nullopt;
    }

  private:
    std::optional<std::string> text_;
};

/// An absolute path of sane length; anything else counts as not set.
std::optional<std::string> path_value(ParentEnvironment& parent, const char* name) {
    const char* own = std::getenv(name);
    auto value =
        own != nullptr ? std::optional<std::string>(std::string(own, ::strnlen(own, PATH_MAX))) : parent.value(name);
    if (!value || value->empty() || value->front() != '/' || value->size() >= PATH_MAX) return std::nullopt;
    return value;
}

Result<state::Place> place(ParentEnvironment& parent, const char* name, const char* fallback, const std::string& node) {
    const auto given = path_value(parent, name);
    // the same rule for %n as for [probe] root
    auto directory = expand_probe_root(given.value_or(fallback), node);
    if (!directory) return fail(fmt::format("{}: {}", name, directory.error().what));
    return state::Place{std::move(*directory), ::geteuid()};
}

bool is_absent(const Error& error) {
    return error.code == ENOENT || error.code == ENOTDIR;
}

bool others_may_write(const struct stat& status) {
    return (status.st_uid != 0 && status.st_uid != ::geteuid()) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

}  // namespace

Result<Places> find_places(const std::string& node) {
    ParentEnvironment parent;
    auto run = place(parent, "GDRCHECK_RUN_DIR", state::default_run_directory, node);
    if (!run) return tl::unexpected(run.error());
    auto state_place = place(parent, "GDRCHECK_STATE_DIR", state::default_state_directory, node);
    if (!state_place) return tl::unexpected(state_place.error());
    return Places{path_value(parent, "SLURM_CONF").value_or(""), std::move(*run), std::move(*state_place)};
}

Result<EffectivePolicy> load_policy(const Places& places, const std::string& node) {
    std::array<std::string, 2> candidates{"", default_policy_file};
    if (!places.slurm_conf.empty())
        candidates.front() = places.slurm_conf.substr(0, places.slurm_conf.rfind('/') + 1) + policy_name;
    for (const auto& path : candidates) {
        if (path.empty()) continue;
        const auto text = read_host_file(path, largest_policy);
        if (text) return parse_policy(*text, path, node);
        if (!is_absent(text.error())) return tl::unexpected(text.error());
    }
    return default_policy();
}

Result<std::string> sibling_program(const std::string& name) {
    std::array<char, PATH_MAX> self{};
    const auto length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
    const std::string own(self.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    const auto beside = own.substr(0, own.rfind('/') + 1) + name;
    const std::string installed = std::string(GDRCHECK_LIBEXEC_DIRECTORY) + "/" + name;
    for (const auto& path : {beside, installed}) {
        struct stat status {};
        if (path.front() != '/' || ::stat(path.c_str(), &status) != 0) continue;
        if (!S_ISREG(status.st_mode) || others_may_write(status))
            return fail(path + " may be written by others: not run");
        return path;
    }
    return fail(fmt::format("{} is neither at {} nor at {}", name, beside, installed), ENOENT);
}

}  // namespace gdrcheck::node
