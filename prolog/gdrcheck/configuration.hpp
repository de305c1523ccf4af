// Where the policy comes from.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck::cli {

/// The file named by --config; else gdrcheck.toml beside the slurm.conf that SLURM_CONF names, if it belongs to root or
/// the caller; else /etc/slurm/gdrcheck.toml; else the defaults.
[[nodiscard]] Result<EffectivePolicy> find_configuration(const std::optional<std::string>& given,
                                                         const std::string& node);

/// For a replay, which must not depend on the host it runs on: the file named by --config, or the defaults.
[[nodiscard]] Result<EffectivePolicy> given_configuration(const std::optional<std::string>& given,
                                                          const std::string& node);

}  // namespace gdrcheck::cli
