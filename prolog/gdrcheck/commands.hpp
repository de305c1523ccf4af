// What each command takes from its options, and what it does. Each returns the exit code.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gdrcheck::cli {

/// Options of the commands that judge a node. An option that was given an empty value was given: a script whose
/// variable is empty must not get the answer to another question.
struct NodeOptions {
    std::optional<std::string> root;  ///< directory or archive; none: this host
    std::optional<std::string> gpus;
    std::vector<std::string> nccl;
    std::optional<std::string> config;
    bool json = false;
};

struct EnvOptions {
    NodeOptions node;
    std::string format = "sh";
};

struct ExplainOptions {
    std::string slug;
    bool json = false;
};

struct SnapshotCommandOptions {
    std::string file;
    std::optional<std::string> root;
    bool scrub = false;
};

struct ConfigOptions {
    std::optional<std::string> config;
    bool json = false;
};

using Clock = std::chrono::steady_clock;

[[nodiscard]] int run_node(const NodeOptions& options, Clock::time_point start);
[[nodiscard]] int run_topo(const NodeOptions& options, Clock::time_point start);
[[nodiscard]] int run_env(const EnvOptions& options);
[[nodiscard]] int run_explain(const ExplainOptions& options);
[[nodiscard]] int run_checks(bool json);
[[nodiscard]] int run_config(const ConfigOptions& options);
[[nodiscard]] int run_snapshot(const SnapshotCommandOptions& options);

}  // namespace gdrcheck::cli
