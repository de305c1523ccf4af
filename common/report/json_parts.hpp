// Parts of the JSON that several commands share. Schema 1: fields are added, never renamed.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "common/facts/node_facts.hpp"
#include "common/verdict/verdict.hpp"

namespace gdrcheck::report {

using Json = nlohmann::ordered_json;

/// Text with a final newline. ASCII only, other characters as \uNNNN, bytes that are no UTF-8 as U+FFFD: strings come
/// from files and firmware, and C1 control characters act on terminals too.
[[nodiscard]] std::string to_text(const Json& json);

[[nodiscard]] Json json_gpus(const NodeFacts& facts, const nccl::Answer& answer);
[[nodiscard]] Json json_nics(const NodeFacts& facts, const nccl::Answer& answer);
[[nodiscard]] Json json_pairs(const NodeFacts& facts, const nccl::Answer& answer);
[[nodiscard]] Json json_findings(const Verdict& verdict);

/// null for "".
[[nodiscard]] Json text_or_null(const std::string& text);

/// 400, not 400.0.
[[nodiscard]] Json json_number(double value);

}  // namespace gdrcheck::report
