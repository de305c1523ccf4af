#include "spank/task.hpp"

#include <unistd.h>

#include <algorithm>

#include "common/state/job_file.hpp"
#include "spank/job_step.hpp"
#include "spank/options.hpp"
#include "spank/task_environment.hpp"
#include "spank/task_gpus.hpp"

namespace gdrcheck::spank {
namespace {

Result<state::JobRecord> read_record(const Arguments& arguments, const JobStep& step) {
    auto record = state::read_job({.directory = arguments.run_directory}, step.job_id);
    if (record && record->uid != step.uid) return fail("the job file is of another user's job");
    return record;
}

/// One line per node: the first task says it.
void tell(const Result<state::JobRecord>& record, const std::string& node) {
    if (record) {
        slurm_spank_log("%s", record->line.c_str());
        return;
    }
    const bool is_missing = record.error().code == ENOENT;
    slurm_spank_log("gdrcheck: %s: unknown: %s", node.empty() ? "this node" : node.c_str(),
                    is_missing ? "the check left no result" : record.error().what.c_str());
}

/// What a variable of several GPUs becomes: GDRCHECK_* have one entry per GPU, device lists name a device once.
std::vector<Variable> joined_variables(const std::vector<state::JobGpu>& gpus, const std::vector<std::size_t>& mapped) {
    std::vector<Variable> joined;
    if (mapped.empty()) return joined;
    for (const auto& variable : gpus[mapped.front()].variables) {
        const auto& name = variable.first;
        const bool is_positional = name.starts_with("GDRCHECK_");
        std::vector<std::string> values;
        bool is_everywhere = true;
        for (const auto index : mapped) {
            const auto& own = gpus[index].variables;
            const auto found = std::find_if(own.begin(), own.end(), [&](const Variable& v) { return v.first == name; });
            is_everywhere = is_everywhere && found != own.end();
            if (!is_everywhere) break;
            const bool is_known = std::find(values.begin(), values.end(), found->second) != values.end();
            if (is_positional || !is_known) values.push_back(found->second);
        }
        if (!is_everywhere) continue;
        std::string text;
        for (const auto& value : values) text += (text.empty() ? "" : ",") + value;
        joined.emplace_back(name, std::move(text));
    }
    return joined;
}

void export_record(const TaskEnvironment& environment, const state::JobRecord& record, const Arguments& arguments) {
    std::vector<Variable> settings = record.variables;
    std::vector<Variable> ours;
    const auto visible = environment.get("CUDA_VISIBLE_DEVICES");
    if (!record.gpus.empty() && visible.lookup != TaskEnvironment::Lookup::unknown) {
        const auto list = visible.lookup == TaskEnvironment::Lookup::set ? std::optional{visible.text} : std::nullopt;
        const auto mapped = map_task_gpus(list, record.gpus, find_device_access(arguments.device_directory));
        for (auto& variable : joined_variables(record.gpus, mapped)) {
            auto& group = variable.first.starts_with("GDRCHECK_") ? ours : settings;
            group.push_back(std::move(variable));
        }
    }
    export_variables(environment, settings, ours);
}

}  // namespace

void prepare_task(spank_t handle, const Arguments& arguments) {
    const auto step = read_job_step(handle);
    if (!step || step->is_extern()) return;
    const auto mode = requested_mode();
    const TaskEnvironment environment{handle};
    if (mode == Mode::off) {
        export_variables(environment, {}, {});
        return;
    }
    const auto record = read_record(arguments, *step);
    const bool is_first = read_local_task(handle) == 0;
    if (wants_report(mode) && is_first) tell(record, read_node_name());
    if (mode == Mode::enforce && record && record->refuse) {
        if (is_first) {
            slurm_spank_log("gdrcheck: %s: tasks not started, --gdr-check=enforce", record->node.c_str());
        }
        // A plugin that is loaded as optional cannot refuse by what it returns. This is the task's own process: ending
        // it fails the task and leaves slurmstepd and the node alone.
        ::_exit(1);
    }
    const bool wanted = record && (record->export_when == state::Export::always || wants_report(mode));
    if (wanted) {
        export_record(environment, *record, arguments);
    } else {
        export_variables(environment, {}, {});
    }
}

}  // namespace gdrcheck::spank
