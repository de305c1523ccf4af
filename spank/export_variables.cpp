#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "spank/task_environment.hpp"

namespace gdrcheck::spank {
namespace {

constexpr char record_separator = ';';
constexpr std::size_t longest_exported = 4096;

/// Only names that a GPUDirect setting can have: a job file must not become a way to set LD_PRELOAD.
bool may_be_exported(const std::string& name) {
    const auto is_name_character = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    if (!std::all_of(name.begin(), name.end(), is_name_character)) return false;
    return name.starts_with("NCCL_") || name == "UCX_NET_DEVICES" || name == "NVSHMEM_HCA_LIST";
}

bool is_plain_text(const std::string& value) {
    return value.size() <= longest_exported &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Takes back what a step around this one exported and the user left alone: it was true of that node only.
void take_back(const TaskEnvironment& environment) {
    const auto record = environment.get(exported_name);
    if (record.lookup == TaskEnvironment::Lookup::unset) return;
    for (const auto item : split(record.text, record_separator)) {
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string name{item.substr(0, equals)};
        const auto now = environment.get(name.c_str());
        if (may_be_exported(name) && now.lookup == TaskEnvironment::Lookup::set &&
            now.text == item.substr(equals + 1)) {
            environment.unset(name.c_str());
        }
    }
    environment.unset(exported_name);
}

}  // namespace

void export_variables(const TaskEnvironment& environment, const std::vector<Variable>& settings,
                      const std::vector<Variable>& ours) {
    take_back(environment);
    for (const char* name : own_names) {
        const auto given =
            std::find_if(ours.begin(), ours.end(), [&](const Variable& variable) { return variable.first == name; });
        if (given != ours.end() && is_plain_text(given->second)) {
            environment.set(given->first, given->second);
        } else if (environment.get(name).lookup != TaskEnvironment::Lookup::unset) {
            environment.unset(name);
        }
    }
    if (settings.empty()) return;
    const auto keys = user_file_keys(environment);
    if (!keys) return;
    std::string record;
    for (const auto& [name, value] : settings) {
        if (!may_be_exported(name) || !is_plain_text(value)) continue;
        if (environment.get(name.c_str()).lookup != TaskEnvironment::Lookup::unset) continue;
        if (std::find(keys->begin(), keys->end(), name) != keys->end()) continue;
        environment.set(name, value);
        if (value.find(record_separator) != std::string::npos) continue;
        if (!record.empty()) record += record_separator;
        record += name + "=" + value;
    }
    if (!record.empty()) environment.set(exported_name, record);
}

}  // namespace gdrcheck::spank
