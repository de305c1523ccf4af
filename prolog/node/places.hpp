// Where things are on this node: slurmd's configuration, our directories, our own programs.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/policy/policy.hpp"
#include "common/state/trusted_file.hpp"

namespace gdrcheck::node {

struct Places {
    std::string slurm_conf;  ///< absolute; empty: slurmd did not tell
    state::Place run;        ///< job files
    state::Place state;      ///< the marker
};

/// From the environment slurmd gives its programs, and where that lacks something, from slurmd's own: GDRCHECK_RUN_DIR
/// and GDRCHECK_STATE_DIR ("%n" is the node name) move the directories, SLURM_CONF tells the configuration. A job's
/// user can set none of these: what users set arrives as SPANK_*.
[[nodiscard]] Result<Places> find_places(const std::string& node);

/// gdrcheck.toml beside slurm.conf, then /etc/slurm/gdrcheck.toml, then the defaults, which only report.
[[nodiscard]] Result<EffectivePolicy> load_policy(const Places& places, const std::string& node);

/// A program beside this one, or where it was to be installed. Error: nowhere, or others may write it.
[[nodiscard]] Result<std::string> sibling_program(const std::string& name);

}  // namespace gdrcheck::node
