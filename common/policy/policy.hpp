// What the administrator wants, as plain values; policy.cpp is the only code that knows TOML.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace gdrcheck {

enum class Severity { fail, warn, ignore };
enum class OnFail { drain, report, off };
enum class Require { any, peermem, dmabuf };
enum class ExportWhen { multi_node, always, option, off };

struct Policy {
    struct Scope {
        int min_nodes = 2;
        bool no_gres_all =
            false;  ///< no_gres = "all": a job without GPU gres is judged on all GPUs; "skip": not at all
        bool operator==(const Scope&) const = default;
    } scope;
    struct Nccl {
        std::vector<std::string> assume{"2.28"};
        std::string topo_file;        ///< a path of the host
        std::string net = "auto";     ///< auto, ib, plugin
        std::string nvlink = "auto";  ///< auto, yes, no
        bool operator==(const Nccl&) const = default;
    } nccl;
    struct Acts {
        Require require = Require::any;
        OnFail on_fail = OnFail::report;  ///< a configuration file that does not say: drain
        bool on_unknown_drain = false;
        bool on_error_closed = false;
        bool allow_opt_out = false;
        int deadline_ms = 3000;
        bool operator==(const Acts&) const = default;
    } policy;
    struct Drain {
        bool requeue = true;
        bool notify = true;
        bool resume = true;
        std::optional<int> budget_percent = 10;
        std::optional<int> budget_nodes;
        int rpc_ms = 4000;
        int max_requeues = 3;
        bool operator==(const Drain&) const = default;
    } drain;
    struct Nics {
        std::vector<std::string> compute;
        std::vector<std::string> exclude;
        bool operator==(const Nics&) const = default;
    } nics;
    struct Expect {
        bool gdr = false;
        std::optional<int> gpus;
        std::optional<int> nics;
        std::optional<double> gbps;
        bool operator==(const Expect&) const = default;
    } expect;
    struct Env {
        ExportWhen when = ExportWhen::multi_node;
        bool topo_file = false;
        std::optional<int> ib_gid_index;
        std::string net_gdr_level;  ///< empty: not exported
        std::optional<int> ib_pci_relaxed_ordering;
        bool ucx_net_devices = false;
        bool nvshmem_hca_list = false;
        bool operator==(const Env&) const = default;
    } env;
    struct Repair {
        bool peermem_load = false;
        bool operator==(const Repair&) const = default;
    } repair;
    struct Probe {
        std::string root = "/";  ///< "%n" stands for the Slurm node name
        bool operator==(const Probe&) const = default;
    } probe;
    struct Report {
        std::string prometheus;  ///< textfile collector path, empty: none
        bool operator==(const Report&) const = default;
    } report;
    std::map<std::string, Severity> checks;  ///< by slug

    bool operator==(const Policy&) const = default;
};

/// A value of the effective policy and where it comes from, for `gdrcheck config`.
struct PolicyOrigin {
    std::string key;    ///< "policy.on_fail", "checks.port-down.severity"
    std::string value;  ///< as TOML
    std::string
        origin;  ///< "default", "/etc/slurm/gdrcheck.toml:12", "/etc/slurm/gdrcheck.toml:40 [[override]] nodes=…"
};

struct EffectivePolicy {
    Policy policy;
    std::string file;                   ///< empty: none found, report only
    std::vector<PolicyOrigin> origins;  ///< every key, in the order of the documentation
};

/// Built-in defaults: no file, on_fail = report.
[[nodiscard]] EffectivePolicy default_policy();

/// Parses `text` (the file `name`) for node `host`. Errors read "FILE:LINE:COLUMN: …" and name the nearest known key.
[[nodiscard]] Result<EffectivePolicy> parse_policy(std::string_view text, const std::string& name,
                                                   std::string_view host);

/// Slurm host list ("h100-[001-512,600],login1") contains `host`. Bounded: never expands the list.
[[nodiscard]] Result<bool> hostlist_contains(std::string_view hostlist, std::string_view host);

/// [probe] root with %n replaced; refuses a node name with '/' or '..'.
[[nodiscard]] Result<std::string> expand_probe_root(std::string_view root, std::string_view node_name);

[[nodiscard]] const char* to_string(Severity severity);
[[nodiscard]] const char* to_string(OnFail value);
[[nodiscard]] const char* to_string(Require value);
[[nodiscard]] const char* to_string(ExportWhen value);

}  // namespace gdrcheck
