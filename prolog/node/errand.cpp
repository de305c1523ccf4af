#include "prolog/node/errand.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "prolog/node/ask_slurm.hpp"

namespace gdrcheck::node {
namespace {

constexpr std::int64_t day_s = 24L * 60 * 60;

void forget_old_resumes(state::Marker& marker) {
    const auto now = now_s();
    std::erase_if(marker.resumes, [now](std::int64_t time) { return time <= now - day_s || time > now + day_s; });
}

void save(const Errand& errand, state::Marker marker) {
    forget_old_resumes(marker);
    const auto done = marker.reason.empty() && marker.resumes.empty()
                          ? state::remove_marker(errand.places.state)
                          : state::write_marker(errand.places.state, marker);
    if (!done) errand.log.say(Level::error, done.error().what);
}

act::OwnDrain own_drain(state::Marker marker) {
    forget_old_resumes(marker);
    return {marker.reason, marker.time_s, marker.told, marker.settled, static_cast<int>(marker.resumes.size())};
}

order::Request request_for(const Errand& errand, const state::Marker& marker) {
    order::Request request;
    request.order.program = errand.program;
    request.order.node = errand.node;
    request.order.job_id = errand.job_id;
    request.order.now_s = now_s();
    request.order.manners = act::manners_of(errand.policy);
    request.order.own = own_drain(marker);
    request.rpc_ms = errand.policy.drain.rpc_ms;
    return request;
}

void change(const Errand& errand, state::Marker marker, const std::string& reason, const order::Answer& answer) {
    switch (answer.marker) {
        case act::MarkerChange::keep:
            return;
        case act::MarkerChange::told:
            marker.reason = reason;
            marker.told = true;
            marker.settled = answer.settled;
            break;
        case act::MarkerChange::resumed:
            marker.resumes.push_back(now_s());
            marker.reason.clear();
            break;
        case act::MarkerChange::forget:
            marker.reason.clear();
            break;
    }
    save(errand, std::move(marker));
}

/// Before slurmctld is asked: if this process or slurmctld ends in between, the health program still knows that the
/// drain is ours. A drain of ours that stands keeps its marker until slurmctld has the newer reason.
state::Marker write_ahead(const Errand& errand, const state::Marker& standing, const std::string& reason) {
    auto marker = standing;
    marker.node = errand.node;
    marker.time_s = now_s();
    if (!standing.reason.empty() && standing.told) return marker;
    marker.reason = reason;
    marker.told = false;
    marker.settled = false;
    save(errand, marker);
    return marker;
}

}  // namespace

std::int64_t now_s() {
    return static_cast<std::int64_t>(std::time(nullptr));
}

state::Marker standing_marker(const Errand& errand) {
    auto marker = state::read_marker(errand.places.state);
    if (!marker) {
        if (marker.error().code != ENOENT) errand.log.say(Level::error, marker.error().what);
        return {};
    }
    return std::move(*marker);
}

int carry_out(const Errand& errand, const act::Wish& wish) {
    if (wish.intent == act::Intent::nothing) return 0;
    const auto standing = standing_marker(errand);
    auto request = request_for(errand, standing);
    request.order.intent = wish.intent;
    request.order.reason = wish.reason;
    request.order.why_not_drained = wish.why_not_drained;
    auto marker = standing;
    if (wish.intent == act::Intent::drain) marker = write_ahead(errand, standing, wish.reason);
    const auto answer = ask_slurm(request, errand.places.slurm_conf);
    if (!answer) {
        errand.log.say(Level::error, answer.error().what);
        return act::exit_code_without_slurm(errand.program, wish.intent);
    }
    errand.log.say(Level::info, answer->why);
    if (wish.intent == act::Intent::drain) change(errand, std::move(marker), wish.reason, *answer);
    return answer->exit_code;
}

void mend(const Errand& errand, const state::Marker& marker, bool well) {
    auto request = request_for(errand, marker);
    request.order.intent = act::Intent::mend;
    request.order.reason = marker.reason;
    request.order.well = well;
    const auto answer = ask_slurm(request, errand.places.slurm_conf);
    if (!answer) return errand.log.say(Level::error, answer.error().what);
    if (answer->marker != act::MarkerChange::keep) errand.log.say(Level::info, answer->why);
    change(errand, marker, marker.reason, *answer);
}

}  // namespace gdrcheck::node
