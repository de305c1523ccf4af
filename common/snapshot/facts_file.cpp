#include "common/snapshot/facts_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace gdrcheck {
namespace snapshot {
namespace {

using nlohmann::json;

constexpr int schema = 1;

/// Numbers of errors differ between architectures; names do not.
constexpr auto error_names = std::to_array<std::pair<int, std::string_view>>({
    {EACCES, "EACCES"},   {EPERM, "EPERM"},         {EIO, "EIO"},         {ELOOP, "ELOOP"},
    {ENOTDIR, "ENOTDIR"}, {EISDIR, "EISDIR"},       {EINVAL, "EINVAL"},   {ENODEV, "ENODEV"},
    {ENXIO, "ENXIO"},     {EBUSY, "EBUSY"},         {EAGAIN, "EAGAIN"},   {ETIMEDOUT, "ETIMEDOUT"},
    {EFBIG, "EFBIG"},     {EOVERFLOW, "EOVERFLOW"}, {ENOMEM, "ENOMEM"},   {ENAMETOOLONG, "ENAMETOOLONG"},
    {EMFILE, "EMFILE"},   {ENFILE, "ENFILE"},       {ENOTSUP, "ENOTSUP"}, {ESTALE, "ESTALE"},
    {ENOENT, "ENOENT"},   {EXDEV, "EXDEV"},         {ENODATA, "ENODATA"}, {EREMOTEIO, "EREMOTEIO"},
    {ESRCH, "ESRCH"},     {EPROTO, "EPROTO"},       {EINTR, "EINTR"},     {ENOSYS, "ENOSYS"},
});

std::string name_of_error(int code) {
    for (const auto& [number, name] : error_names)
        if (number == code) return std::string(name);
    return "errno " + std::to_string(code);
}

int error_of_name(std::string_view text) {
    for (const auto& [number, name] : error_names)
        if (name == text) return number;
    constexpr std::string_view numbered = "errno ";
    int code = 0;
    if (text.starts_with(numbered)) {
        text.remove_prefix(numbered.size());
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), code);
        constexpr int largest_errno = 4095;  // MAX_ERRNO, include/linux/err.h
        if (failure == std::errc{} && end == text.data() + text.size() && code > 0 && code <= largest_errno)
            return code;
    }
    return EIO;  // whatever it was, the file could not be read
}

/// The string under `key`; absent is empty; anything else is an error.
Result<std::string> text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::string();
    if (!found->is_string()) return fail(std::string("\"") + key + "\" is no string");
    return found->get<std::string>();
}

Result<void> read_lists(const json& object, SnapshotFacts& facts) {
    if (const auto errors = object.find("errors"); errors != object.end()) {
        if (!errors->is_object()) return fail("\"errors\" is no object");
        for (const auto& [path, name] : errors->items()) {
            if (!path.starts_with('/') || !name.is_string()) return fail("\"errors\" holds more than paths and names");
            facts.errors.emplace(path, error_of_name(name.get<std::string>()));
        }
    }
    if (const auto withheld = object.find("withheld"); withheld != object.end()) {
        if (!withheld->is_array()) return fail("\"withheld\" is no list");
        for (const auto& path : *withheld) {
            if (!path.is_string()) return fail("\"withheld\" holds more than paths");
            facts.withheld.push_back(path.get<std::string>());
        }
    }
    return {};
}

}  // namespace

std::string to_json(const SnapshotFacts& facts) {
    nlohmann::ordered_json errors = nlohmann::ordered_json::object();
    for (const auto& [path, code] : facts.errors) errors[path] = name_of_error(code);
    const nlohmann::ordered_json object = {
        {"schema", schema},           {"version", facts.version},   {"host", facts.host},
        {"time", facts.time_utc},     {"scrubbed", facts.scrubbed}, {"errors", std::move(errors)},
        {"withheld", facts.withheld},
    };
    constexpr int indent = 1;
    return object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<SnapshotFacts> facts_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) return fail("it is no JSON object");
    const auto found = object.find("schema");
    if (found == object.end() || !found->is_number_integer()) return fail("it has no \"schema\"");
    if (*found != schema) return fail("schema " + found->dump() + " is not one that this version knows (1)");

    SnapshotFacts facts;
    for (const auto& [key, field] : {std::pair{"version", &SnapshotFacts::version},
                                     {"host", &SnapshotFacts::host},
                                     {"time", &SnapshotFacts::time_utc}}) {
        auto value = text_of(object, key);
        if (!value) return tl::unexpected(value.error());
        facts.*field = std::move(*value);
    }
    if (const auto scrubbed = object.find("scrubbed"); scrubbed != object.end()) {
        if (!scrubbed->is_boolean()) return fail("\"scrubbed\" is neither true nor false");
        facts.scrubbed = scrubbed->get<bool>();
    }
    if (auto lists = read_lists(object, facts); !lists) return tl::unexpected(lists.error());
    return facts;
}

}  // namespace snapshot

Result<SnapshotFacts> read_facts(const MemoryTree& tree) {
    auto found = tree.entries.find(snapshot::facts_path);
    if (found == tree.entries.end() && !tree.entries.empty()) {
        const std::string& first = tree.entries.begin()->first;
        found = tree.entries.find(first.substr(0, first.find('/', 1)) + snapshot::facts_path);
    }
    if (found == tree.entries.end() || found->second.kind != MemoryTree::Entry::Kind::file)
        return fail("the tree has no gdrcheck/facts.json", ENOENT);
    return snapshot::facts_from_json(found->second.data).map_error([](const Error& error) {
        return Error{"gdrcheck/facts.json: " + error.what, EINVAL};
    });
}

}  // namespace gdrcheck
