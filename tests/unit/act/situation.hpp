// Situations to start from: a test changes the one thing it is about.
#pragma once

#include <string>
#include <vector>

#include "common/act/act.hpp"

namespace gdrcheck::act::test {

inline const std::string our_reason = "gdr: peermem-missing nvidia_peermem: no peer-memory client";

inline Order prolog_order() {
    Order order;
    order.program = Program::prolog;
    order.intent = Intent::drain;
    order.node = "n1";
    order.job_id = 42;
    order.reason = our_reason;
    order.now_s = 1'000'000;
    return order;
}

inline Order health_order(bool well) {
    Order order;
    order.program = Program::health;
    order.intent = Intent::mend;
    order.node = "n1";
    order.well = well;
    order.now_s = 1'000'000;
    order.own = {.reason = our_reason, .time_s = 999'000, .told = true, .settled = true, .resumes_today = 0};
    return order;
}

inline JobView batch_job(std::uint32_t restarts = 0) {
    return {.batch = true, .requeueable = true, .restarts = restarts};
}
inline JobView batch_job_without_requeue() {
    return {.batch = true, .requeueable = false};
}
inline JobView srun_job() {
    return {.batch = false, .requeueable = true};  // --requeue is the default, and means nothing without a batch script
}

inline NodeView drained_for(const std::string& reason, std::uint32_t uid = 0) {
    return {.drained = true, .reason = reason, .reason_uid = uid};
}

/// `nodes` nodes, of which these carry our reasons.
inline ClusterView cluster(std::size_t nodes, std::vector<ClusterView::Ours> ours = {}) {
    return {nodes, std::move(ours)};
}

using Steps = std::vector<Step>;

}  // namespace gdrcheck::act::test
