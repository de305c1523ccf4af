#include "prolog/slurm/slurm_api.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string_view>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace gdrcheck::slurm {
namespace {

using NodeList = std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)>;
using JobAnswers = std::unique_ptr<job_array_resp_msg_t, decltype(&slurm_free_job_array_resp)>;
using JobList = std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)>;

tl::unexpected<Error> failed(const char* call, int code) {
    return fail(fmt::format("{}: {}", call, slurm_strerror(code)), code);
}

std::string text_or_empty(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

/// slurm_update_node with one thing changed.
template <class Change>
Result<void> update_node(const std::string& name, Change change) {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    std::string node = name;
    message.node_names = node.data();
    change(message);
    if (slurm_update_node(&message) != SLURM_SUCCESS) return failed("slurm_update_node", errno);
    return {};
}

act::NodeView view_of(const node_info_t& node) {
    act::NodeView view;
    view.drained = (node.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
    view.down = (node.node_state & NODE_STATE_BASE) == NODE_STATE_DOWN;
    view.reason = text_or_empty(node.reason);
    if (!view.reason.empty() && node.reason_uid != NO_VAL) view.reason_uid = node.reason_uid;
    view.comment = text_or_empty(node.comment);
    return view;
}

Job job_of(const slurm_job_info_t& info) {
    Job job;
    const auto base = info.job_state & JOB_STATE_BASE;
    job.view.ended = (base != JOB_RUNNING && base != JOB_SUSPENDED) || (info.job_state & JOB_COMPLETING) != 0;
    job.view.requeued = base == JOB_PENDING;
    job.view.batch = info.batch_flag != 0;
    job.view.requeueable = info.requeue != 0;
    job.view.restarts = info.restart_cnt;
    const auto is_set = [](std::uint32_t value) { return value != 0 && value != NO_VAL; };
    if (is_set(info.array_job_id) && info.array_task_id != NO_VAL) {
        job.whole = fmt::format("{}_{}", info.array_job_id, info.array_task_id);
    } else {
        job.whole = std::to_string(is_set(info.het_job_id) ? info.het_job_id : info.job_id);
    }
    return job;
}

/// What a requeue or kill says when somebody else was first.
bool is_done_already(int code) {
    return code == ESLURM_ALREADY_DONE || code == ESLURM_JOB_PENDING || code == ESLURM_TRANSITION_STATE_NO_UPDATE;
}

}  // namespace

void initialize() {
    slurm_init(nullptr);
}

Result<act::NodeView> load_node(const std::string& name) {
    std::string node = name;
    node_info_msg_t* raw = nullptr;
    if (slurm_load_node_single(&raw, node.data(), SHOW_ALL) != SLURM_SUCCESS)
        return failed("slurm_load_node_single", errno);
    const NodeList list(raw, &slurm_free_node_info_msg);
    for (std::uint32_t i = 0; list && i < list->record_count; ++i) {
        const auto& record = list->node_array[i];
        if (record.name != nullptr && name == record.name) return view_of(record);
    }
    return fail(fmt::format("slurmctld knows no node {}", name));
}

Result<act::ClusterView> load_cluster() {
    node_info_msg_t* raw = nullptr;
    if (slurm_load_node(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return failed("slurm_load_node", errno);
    const NodeList list(raw, &slurm_free_node_info_msg);
    act::ClusterView view;
    for (std::uint32_t i = 0; list && i < list->record_count; ++i) {
        const auto& record = list->node_array[i];
        if (record.name == nullptr) continue;  // a hole in slurmctld's table
        ++view.nodes;
        if (record.reason == nullptr || !std::string_view(record.reason).starts_with("gdr:")) continue;
        view.ours.push_back({record.name, record.reason_time});
    }
    return view;
}

Result<Job> load_job(std::uint32_t job_id) {
    job_info_msg_t* raw = nullptr;
    if (slurm_load_job(&raw, job_id, SHOW_ALL) != SLURM_SUCCESS) {
        if (errno == ESLURM_INVALID_JOB_ID) return Job{.view = {.gone = true}, .whole = {}};
        return failed("slurm_load_job", errno);
    }
    const JobList list(raw, &slurm_free_job_info_msg);
    for (std::uint32_t i = 0; list && i < list->record_count; ++i) {
        // of an array or heterogeneous job slurmctld sends every part
        if (list->job_array[i].job_id == job_id) return job_of(list->job_array[i]);
    }
    return Job{.view = {.gone = true}, .whole = {}};
}

Result<void> drain_node(const std::string& name, const std::string& reason) {
    std::string text = reason;
    return update_node(name, [&](update_node_msg_t& message) {
        message.node_state = NODE_STATE_DRAIN;
        if (!text.empty()) message.reason = text.data();
        message.reason_uid = ::getuid();
    });
}

Result<void> resume_node(const std::string& name) {
    return update_node(name, [](update_node_msg_t& message) { message.node_state = NODE_RESUME; });
}

Result<void> set_comment(const std::string& name, const std::string& comment) {
    std::string text = comment;
    return update_node(name, [&](update_node_msg_t& message) { message.comment = text.data(); });
}

Result<void> notify_job(std::uint32_t job_id, const std::string& message) {
    std::string text = message;
    if (slurm_notify_job(job_id, text.data()) != SLURM_SUCCESS) return failed("slurm_notify_job", errno);
    return {};
}

Result<JobEnd> requeue_job(const std::string& whole) {
    std::string job = whole;
    job_array_resp_msg_t* raw = nullptr;
    const int returned = slurm_requeue2(job.data(), 0, &raw);
    int code = returned == SLURM_ERROR ? errno : returned;
    const JobAnswers answers(raw, &slurm_free_job_array_resp);
    // the call succeeds when slurmctld answered; what it answered is per job
    for (std::uint32_t i = 0; answers && code == SLURM_SUCCESS && i < answers->job_array_count; ++i)
        code = static_cast<int>(answers->error_code[i]);
    if (code == SLURM_SUCCESS) return JobEnd::done;
    if (code == ESLURM_DISABLED || code == ESLURM_BATCH_ONLY) return JobEnd::not_supported;
    if (is_done_already(code)) return JobEnd::done_before;
    return failed("slurm_requeue2", code);
}

Result<JobEnd> kill_job(const std::string& whole) {
    if (slurm_kill_job2(whole.c_str(), SIGKILL, 0, nullptr) == SLURM_SUCCESS) return JobEnd::done;
    if (is_done_already(errno)) return JobEnd::done_before;
    return failed("slurm_kill_job2", errno);
}

}  // namespace gdrcheck::slurm
