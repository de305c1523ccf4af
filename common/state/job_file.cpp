#include "common/state/job_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/state/json_text.hpp"

namespace gdrcheck::state {
namespace {

constexpr std::size_t largest_file = 256UL * 1024;
constexpr std::size_t longest_line = 400;
constexpr std::size_t longest_node = 255;
constexpr std::size_t longest_value = 4096;
constexpr std::size_t longest_variable_name = 64;
constexpr std::size_t most_variables = 64;
constexpr std::size_t most_gpus = 256;
constexpr std::int64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 2;

/// Only what this program exports: a file that says LD_PRELOAD is not ours, whoever wrote it.
bool may_be_exported(std::string_view name) {
    constexpr std::array families{"NCCL_", "GDRCHECK_", "UCX_", "NVSHMEM_"};
    const auto is_of = [&](const char* family) { return name.starts_with(family); };
    const auto is_name_character = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    return name.size() <= longest_variable_name && std::any_of(families.begin(), families.end(), is_of) &&
           std::all_of(name.begin(), name.end(), is_name_character);
}

nlohmann::json json_of(const std::vector<Variable>& variables) {
    auto object = nlohmann::json::object();
    for (const auto& [name, value] : variables) object[name] = plain_text(value, longest_value);
    return object;
}

std::optional<std::vector<Variable>> variables_of(const nlohmann::json& object) {
    const auto found = object.find("variables");
    if (found == object.end() || !found->is_object() || found->size() > most_variables) return std::nullopt;
    std::vector<Variable> variables;
    for (const auto& [name, value] : found->items()) {
        if (!may_be_exported(name) || !value.is_string()) return std::nullopt;
        const auto& text = value.get_ref<const std::string&>();
        if (!is_plain_text(text, longest_value)) return std::nullopt;
        variables.emplace_back(name, text);
    }
    return variables;
}

std::optional<JobGpu> gpu_of(const nlohmann::json& object) {
    if (!object.is_object()) return std::nullopt;
    auto bdf = text_of(object, "bdf", 32);
    auto uuid = text_of(object, "uuid", 64);
    auto variables = variables_of(object);
    const auto minor = object.find("minor");
    if (!bdf || !uuid || !variables || minor == object.end()) return std::nullopt;
    JobGpu gpu{.bdf = std::move(*bdf), .minor = {}, .uuid = std::move(*uuid), .variables = std::move(*variables)};
    if (!minor->is_null()) {
        const auto number = number_of(object, "minor", 0, std::numeric_limits<int>::max());
        if (!number) return std::nullopt;
        gpu.minor = static_cast<int>(*number);
    }
    return gpu;
}

std::optional<std::vector<JobGpu>> gpus_of(const nlohmann::json& object) {
    const auto found = object.find("gpus");
    if (found == object.end() || !found->is_array() || found->size() > most_gpus) return std::nullopt;
    std::vector<JobGpu> gpus;
    for (const auto& element : *found) {
        auto gpu = gpu_of(element);
        if (!gpu) return std::nullopt;
        gpus.push_back(std::move(*gpu));
    }
    return gpus;
}

std::optional<std::string> verdict_of(const nlohmann::json& object) {
    constexpr std::array verdicts{"ok", "degraded", "unknown", "fail", "not-applicable"};
    auto verdict = text_of(object, "verdict", 16);
    if (!verdict || std::find(verdicts.begin(), verdicts.end(), *verdict) == verdicts.end()) return std::nullopt;
    return verdict;
}

std::optional<Export> export_of(const nlohmann::json& object) {
    const auto text = text_of(object, "export", 16);
    if (text == "always") return Export::always;
    if (text == "option") return Export::option;
    return std::nullopt;
}

std::optional<Mode> mode_of(const nlohmann::json& object) {
    const auto text = text_of(object, "mode", 16);
    return text ? parse_mode(*text) : std::nullopt;
}

tl::unexpected<Error> in_file(const Place& place, std::uint32_t job_id, const Error& error) {
    return fail(fmt::format("{}/{} {}", place.directory, job_file_name(job_id), error.what), error.code);
}

}  // namespace

const char* to_string(Mode mode) {
    switch (mode) {
        case Mode::none:
            return "none";
        case Mode::report:
            return "report";
        case Mode::enforce:
            return "enforce";
        case Mode::off:
            return "off";
    }
    return "none";
}

std::optional<Mode> parse_mode(std::string_view text) {
    for (const auto mode : {Mode::none, Mode::report, Mode::enforce, Mode::off})
        if (text == to_string(mode)) return mode;
    return std::nullopt;
}

std::string job_file_name(std::uint32_t job_id) {
    return fmt::format("job-{}.json", job_id);
}

std::string to_json(const JobRecord& record) {
    nlohmann::json json{
        {"schema", 1},
        {"job", record.job_id},
        {"uid", record.uid},
        {"node", plain_text(record.node, longest_node)},
        {"verdict", plain_text(record.verdict, 16)},
        {"refuse", record.refuse},
        {"line", plain_text(record.line, longest_line)},
        {"mode", to_string(record.mode)},
        {"export", record.export_when == Export::option ? "option" : "always"},
        {"written", record.written_at_s},
        {"variables", json_of(record.variables)},
        {"gpus", nlohmann::json::array()},
    };
    for (const auto& gpu : record.gpus) {
        json["gpus"].push_back({{"bdf", plain_text(gpu.bdf, 32)},
                                {"minor", gpu.minor ? nlohmann::json(*gpu.minor) : nlohmann::json(nullptr)},
                                {"uuid", plain_text(gpu.uuid, 64)},
                                {"variables", json_of(gpu.variables)}});
    }
    return json.dump(-1, ' ', true) + "\n";
}

Result<JobRecord> parse_job(std::string_view text) {
    const auto json = parse_object(text);
    if (!json) return tl::unexpected(json.error());
    constexpr std::int64_t most_id = std::numeric_limits<std::uint32_t>::max();
    const auto job = number_of(*json, "job", 0, most_id);
    const auto uid = number_of(*json, "uid", 0, most_id);
    const auto written = number_of(*json, "written", 0, most_seconds);
    const auto refuse = truth_of(*json, "refuse");
    const auto mode = mode_of(*json);
    const auto export_when = export_of(*json);
    auto node = text_of(*json, "node", longest_node);
    auto verdict = verdict_of(*json);
    auto line = text_of(*json, "line", longest_line);
    auto variables = variables_of(*json);
    auto gpus = gpus_of(*json);
    if (!job || !uid || !written || !refuse) return fail("lacks a job, uid, written or refuse that makes sense");
    if (!mode || !export_when || !verdict) return fail("lacks a mode, export or verdict that makes sense");
    if (!node || !line || !variables || !gpus) return fail("lacks a node, line, variables or gpus that make sense");
    return JobRecord{.job_id = static_cast<std::uint32_t>(*job),
                     .uid = static_cast<std::uint32_t>(*uid),
                     .node = std::move(*node),
                     .verdict = std::move(*verdict),
                     .refuse = *refuse,
                     .line = std::move(*line),
                     .mode = *mode,
                     .export_when = *export_when,
                     .written_at_s = *written,
                     .variables = std::move(*variables),
                     .gpus = std::move(*gpus)};
}

Result<void> write_job(const Place& place, const JobRecord& record) {
    return write_atomic(place, job_file_name(record.job_id), to_json(record), Durability::until_reboot);
}

Result<JobRecord> read_job(const Place& place, std::uint32_t job_id) {
    const auto text = read_trusted(place, job_file_name(job_id), largest_file);
    if (!text) return tl::unexpected(text.error());
    auto record = parse_job(*text);
    if (!record) return in_file(place, job_id, record.error());
    if (record->job_id != job_id) return in_file(place, job_id, Error{"is of another job"});
    return record;
}

Result<void> remove_job(const Place& place, std::uint32_t job_id) {
    return remove_file(place, job_file_name(job_id));
}

}  // namespace gdrcheck::state
