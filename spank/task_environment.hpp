// The environment of the task that is about to start, through Slurm.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/state/job_file.hpp"
#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

using state::Variable;

class TaskEnvironment {
  public:
    explicit TaskEnvironment(spank_t handle) : handle_(handle) {}

    enum class Lookup { set, unset, unknown };
    struct Value {
        Lookup lookup = Lookup::unknown;
        std::string text;  ///< only with `set`
    };
    /// unknown: longer than any honest value, or Slurm would not say.
    [[nodiscard]] Value get(const char* name) const;

    void set(const std::string& name, const std::string& value) const;
    void unset(const char* name) const;

  private:
    spank_t handle_;
};

/// NAME=VALUE;… of what an earlier step or the batch script was given by us: not the user's own setting, although it
/// comes with the user's environment.
inline constexpr const char* exported_name = "GDRCHECK_EXPORTED";

/// Variables that nobody but us sets.
inline constexpr std::array own_names{"GDRCHECK_GPU", "GDRCHECK_NIC", "GDRCHECK_PATH", "GDRCHECK_GDR"};

/// Sets those `settings` that the user has set neither in the environment nor in the user's own NCCL file, and records
/// them in GDRCHECK_EXPORTED. `ours` are own_names with their values: they replace, or take away, what a step around
/// this one left behind.
void export_variables(const TaskEnvironment& environment, const std::vector<Variable>& settings,
                      const std::vector<Variable>& ours);

/// Keys that the file NCCL reads for this user sets: $NCCL_CONF_FILE, else ~/.nccl.conf. nullopt: it exists and cannot
/// be read, so nothing may be exported past it.
[[nodiscard]] std::optional<std::vector<std::string>> user_file_keys(const TaskEnvironment& environment);

}  // namespace gdrcheck::spank
