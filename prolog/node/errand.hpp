// What the three programs do alike once they know how the node was found: ask Slurm, keep the marker true.
#pragma once

#include <string>

#include "common/act/act.hpp"
#include "common/state/marker.hpp"
#include "prolog/node/log.hpp"
#include "prolog/node/places.hpp"

namespace gdrcheck::node {

struct Errand {
    const Places& places;
    const Policy& policy;
    const Log& log;
    act::Program program = act::Program::prolog;
    std::string node;
    std::uint32_t job_id = 0;
};

/// The marker as it is; an empty one where there is none. One that cannot be trusted is reported and counts as none:
/// then a drain of ours is nobody's to resume.
[[nodiscard]] state::Marker standing_marker(const Errand& errand);

/// Carries out a wish and returns the exit code of the prolog or epilog.
[[nodiscard]] int carry_out(const Errand& errand, const act::Wish& wish);

/// For the health program: what becomes of the drain that `marker` tells of.
void mend(const Errand& errand, const state::Marker& marker, bool well);

/// Seconds since 1970.
[[nodiscard]] std::int64_t now_s();

}  // namespace gdrcheck::node
