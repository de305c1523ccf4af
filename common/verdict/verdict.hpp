// Findings and answers in, one verdict out. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/checks/check.hpp"
#include "common/checks/finding.hpp"
#include "common/facts/node_facts.hpp"
#include "common/nccl/model.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {

enum class NodeVerdict { ok, degraded, unknown, fail, not_applicable };
[[nodiscard]] const char* to_string(NodeVerdict verdict);  // "ok", "degraded", "unknown", "fail", "not-applicable"

struct Verdict {
    NodeVerdict verdict = NodeVerdict::unknown;
    bool drain = false;
    std::string why;                    ///< one clause for the headline: "3 of 8 GPUs staged: …"
    std::vector<Finding> findings;      ///< severity applied, most severe first, then by slug and subject
    std::string drain_reason;           ///< empty unless drain
    std::vector<nccl::Answer> answers;  ///< one per assumed version
};

/// Runs the model for every assumed version and every check, applies severities, judges.
/// `scope`: GPU indices of the job; nullopt: all. `versions`: at least one.
struct JudgeOptions {
    std::optional<std::vector<std::size_t>> scope;
    std::vector<nccl::Version> versions{nccl::default_version};
    std::vector<std::pair<std::string, bool>> dmabuf_probed;
};
[[nodiscard]] Verdict judge(const NodeFacts& facts, const Policy& policy, const JudgeOptions& options);

/// "gdr: SLUG SUBJECT: what was seen; next command (+N more)", one line of printable ASCII, at most 200 bytes.
[[nodiscard]] std::string drain_reason(const std::vector<Finding>& findings);

/// Exit code of `gdrcheck node`: 0 ok, degraded, not applicable; 1 fail; 3 unknown.
[[nodiscard]] int exit_code(NodeVerdict verdict);

/// GPUs named on the command line: device minor, UUID or unique prefix, MIG id (MIG-GPU-uuid/gi/ci, minor:gi…), PCI
/// address.
[[nodiscard]] Result<std::vector<std::size_t>> resolve_gpus(const NodeFacts& facts, std::string_view list);

}  // namespace gdrcheck
