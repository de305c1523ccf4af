// What a check found. Only what is not fine is a finding.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrcheck {

enum class Outcome { fail, warn, unknown };
[[nodiscard]] const char* to_string(Outcome outcome);

struct Finding {
    std::string slug;
    Outcome outcome = Outcome::warn;
    std::string subject;          ///< device, port, address, module: "mlx5_0/1", "0000:17:00.0", "nvidia_peermem"
    std::string seen;             ///< path and value
    std::string why;              ///< why it matters
    std::string remedy;           ///< the next command to type
    bool structural = false;      ///< the same tomorrow: fails the verdict, drains only with [expect] gdr = true
    bool severity_fixed = false;  ///< set by a check that knows better than the catalogue; [checks.SLUG] still wins
    std::vector<std::size_t> gpus =
        {};  ///< GPUs (index in NodeFacts::gpus) that are staged or without a NIC because of it

    bool operator==(const Finding&) const = default;
};

}  // namespace gdrcheck
