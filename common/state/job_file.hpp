// What the prolog found on this node for one job: /run/gdrcheck/job-<id>.json. The prolog writes it, the plugin reads
// it in every step, the epilog removes it.
//
//   {"schema": 1, "job": 42, "uid": 1000, "node": "n1", "verdict": "fail", "refuse": true,
//    "line": "gdrcheck: n1: fail: …", "mode": "report", "export": "always", "written": 1767225600,
//    "variables": {"NCCL_IB_HCA": "^=mlx5_9"},
//    "gpus": [{"bdf": "0000:18:00.0", "minor": 0, "uuid": "GPU-…", "variables": {"GDRCHECK_NIC": "mlx5_0"}}]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/state/trusted_file.hpp"

namespace gdrcheck::state {

using Variable = std::pair<std::string, std::string>;

/// What the job's user asked for with --gdr-check or --no-gdr-check.
enum class Mode { none, report, enforce, off };
[[nodiscard]] const char* to_string(Mode mode);
[[nodiscard]] std::optional<Mode> parse_mode(std::string_view text);

/// Whether steps that did not ask with --gdr-check get the variables too.
enum class Export { always, option };

struct JobGpu {
    std::string bdf;           ///< "0000:18:00.0"
    std::optional<int> minor;  ///< /dev/nvidiaN
    std::string uuid;          ///< "GPU-…", empty when unknown
    std::vector<Variable> variables;

    bool operator==(const JobGpu&) const = default;
};

struct JobRecord {
    std::uint32_t job_id = 0;
    std::uint32_t uid = 0;
    std::string node;
    std::string verdict;  ///< "ok", "degraded", "unknown", "fail", "not-applicable"
    bool refuse = false;  ///< the verdict fails: a step with --gdr-check=enforce must not run here
    std::string line;     ///< one line for the user, printable ASCII
    Mode mode = Mode::none;
    Export export_when = Export::always;
    std::int64_t written_at_s = 0;    ///< seconds since 1970
    std::vector<Variable> variables;  ///< the same for every task of the node
    std::vector<JobGpu> gpus;         ///< the job's GPUs, in the order of their PCI addresses

    bool operator==(const JobRecord&) const = default;
};

inline constexpr const char* default_run_directory = GDRCHECK_RUN_DIRECTORY;

/// "job-42.json"
[[nodiscard]] std::string job_file_name(std::uint32_t job_id);

[[nodiscard]] Result<void> write_job(const Place& place, const JobRecord& record);

/// Error.code is ENOENT when the prolog left nothing. Whatever else is wrong with the file is an error too: a record
/// that comes back has been checked string by string.
[[nodiscard]] Result<JobRecord> read_job(const Place& place, std::uint32_t job_id);

[[nodiscard]] Result<void> remove_job(const Place& place, std::uint32_t job_id);

/// As the file holds it, for tests and for those who hold the text already.
[[nodiscard]] std::string to_json(const JobRecord& record);
[[nodiscard]] Result<JobRecord> parse_job(std::string_view text);

}  // namespace gdrcheck::state
