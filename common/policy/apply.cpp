#include "common/policy/apply.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "common/base/text.hpp"
#include "common/policy/keys.hpp"
#include "common/policy/nearest.hpp"

namespace gdrcheck::config {
namespace {

constexpr std::string_view override_key = "override";
constexpr std::string_view nodes_key = "nodes";
constexpr std::size_t most_overrides = 1'024;

struct Assignment {
    const Key* key = nullptr;
    const Node* value = nullptr;
};
using Assignments = std::vector<Assignment>;
using Problem = std::optional<Complaint>;

bool is_table_of_keys(std::string_view path) {
    const auto below = [&](const Key& key) { return key.path.starts_with(path) && key.path[path.size()] == '.'; };
    return std::any_of(all_keys().begin(), all_keys().end(), below);
}

/// What may be written where the unknown `path` stands.
std::vector<std::string_view> candidates_for(std::string_view path, const Node& node, bool inside_override) {
    std::vector<std::string_view> candidates;
    const bool is_table = node.kind == Node::Kind::table || node.kind == Node::Kind::list;
    for (const auto& key : all_keys()) {
        const std::string_view known = key.path;
        candidates.push_back(known);
        if (is_table) candidates.push_back(known.substr(0, known.find('.')));
        if (is_table) candidates.push_back(known.substr(0, known.rfind('.')));
    }
    const bool top = path.find('.') == std::string_view::npos;
    if (top && !inside_override) candidates.push_back(override_key);
    if (top && inside_override) candidates.push_back(nodes_key);
    return candidates;
}

Complaint unknown_key(const std::string& path, const Node& node, bool inside_override) {
    const auto nearest = nearest_path(path, candidates_for(path, node, inside_override));
    const bool nearest_is_table = find_key(nearest) == nullptr && nearest != nodes_key;
    return {node.key_at,
            fmt::format("unknown {} {}; nearest known: {}{}{}", node.kind == Node::Kind::table ? "table" : "key",
                        quoted(path), nearest_is_table ? "[" : "", nearest, nearest_is_table ? "]" : "")};
}

Complaint no_table(const std::string& path, const Node& node) {
    return {node.at, fmt::format("{} must be a table: write [{}] and its keys below", path, path)};
}

/// Checks every key of `table` and lists what it sets. `scratch` takes the values while they are checked.
Problem collect(const Node& table, const std::string& prefix, bool inside_override, Policy& scratch,
                Assignments& assignments) {
    for (const auto& node : table.children) {
        const auto path = prefix.empty() ? node.key : prefix + '.' + node.key;
        if (prefix.empty() && (node.key == override_key || (inside_override && node.key == nodes_key))) continue;
        // a quoted "a.b" is one part, and no known part holds a dot
        const bool is_one_part = node.key.find('.') == std::string::npos;
        const auto* key = is_one_part ? find_key(path) : nullptr;
        Problem problem;
        if (key != nullptr) {
            problem = set_value(*key, node, scratch);
            assignments.push_back({key, &node});
        } else if (!is_one_part || !is_table_of_keys(path)) {
            problem = unknown_key(path, node, inside_override);
        } else if (node.kind != Node::Kind::table) {
            problem = no_table(path, node);
        } else {
            problem = collect(node, path, inside_override, scratch, assignments);
        }
        if (problem) return problem;
    }
    return std::nullopt;
}

const Node* member(const Node& table, std::string_view key) {
    const auto found =
        std::find_if(table.children.begin(), table.children.end(), [&](const Node& node) { return node.key == key; });
    return found == table.children.end() ? nullptr : &*found;
}

/// The node list is for Slurm's name of the host, which has no domain where the host's own has one.
Result<bool> is_for(const Node& nodes, std::string_view host) {
    auto whole = hostlist_contains(nodes.text, host);
    const auto dot = host.find('.');
    if (!whole || *whole || dot == std::string_view::npos || dot == 0) return whole;
    return hostlist_contains(nodes.text, host.substr(0, dot));
}

class Application {
  public:
    Application(const std::string& name, std::string_view host) : name_(name), host_(host) {
        effective_ = default_policy();
        effective_.file = name;
        effective_.policy.policy.on_fail = OnFail::drain;
    }

    Problem take(const Node& document) {
        Assignments assignments;
        auto problem = check(document, false, assignments);
        if (problem) return problem;
        assign(assignments, "");
        const auto* overrides = member(document, override_key);
        return overrides == nullptr ? std::nullopt : take_overrides(*overrides);
    }

    EffectivePolicy finish() {
        for (std::size_t index = 0; index < all_keys().size(); ++index) {
            effective_.origins[index].value = value_as_toml(all_keys()[index], effective_.policy);
        }
        return std::move(effective_);
    }

  private:
    Problem check(const Node& table, bool inside_override, Assignments& assignments) {
        Policy scratch;
        return collect(table, "", inside_override, scratch, assignments);
    }

    void assign(const Assignments& assignments, const std::string& suffix) {
        for (const auto& [key, value] : assignments) {
            // it was taken once already
            static_cast<void>(set_value(*key, *value, effective_.policy));
            const auto index = static_cast<std::size_t>(key - all_keys().data());
            effective_.origins[index].origin = fmt::format("{}:{}{}", name_, value->key_at.line, suffix);
        }
    }

    Problem take_overrides(const Node& overrides) {
        const auto is_table = [](const Node& node) { return node.kind == Node::Kind::table; };
        const bool tables = std::all_of(overrides.children.begin(), overrides.children.end(), is_table);
        if (overrides.kind != Node::Kind::list || !tables)
            return Complaint{overrides.key_at, "override must be written [[override]], once for each list of nodes"};
        if (overrides.children.size() > most_overrides)
            return Complaint{overrides.key_at, fmt::format("more than {} overrides", most_overrides)};
        for (const auto& one : overrides.children) {
            if (auto problem = take_override(one)) return problem;
        }
        return std::nullopt;
    }

    Problem take_override(const Node& one) {
        if (const auto* inner = member(one, override_key))
            return Complaint{inner->key_at, "an override holds no overrides"};
        const auto* nodes = member(one, nodes_key);
        if (nodes == nullptr)
            return Complaint{one.at, "[[override]] without nodes: say which, as in nodes = \"h100-[001-512]\""};
        if (nodes->kind != Node::Kind::text)
            return Complaint{nodes->at,
                             "override nodes must be a string with a Slurm host list, as in \"h100-[001-512]\""};
        const auto is_ours = is_for(*nodes, host_);
        if (!is_ours) return Complaint{nodes->at, fmt::format("override nodes: {}", is_ours.error().what)};
        Assignments assignments;
        auto problem = check(one, true, assignments);
        if (problem) return Complaint{problem->at, "[[override]] " + problem->text};
        if (*is_ours) assign(assignments, fmt::format(" [[override]] nodes={}", quoted(nodes->text)));
        return std::nullopt;
    }

    const std::string& name_;
    std::string_view host_;
    EffectivePolicy effective_;
};

}  // namespace

Result<EffectivePolicy> apply_document(const Node& document, const std::string& name, std::string_view host) {
    Application application(name, host);
    if (const auto problem = application.take(document)) return error_at(name, problem->at, problem->text);
    return application.finish();
}

tl::unexpected<Error> error_at(const std::string& name, Position at, std::string_view text) {
    return fail(fmt::format("{}:{}:{}: {}", name, at.line, at.column, text));
}

}  // namespace gdrcheck::config

namespace gdrcheck {

EffectivePolicy default_policy() {
    EffectivePolicy effective;
    for (const auto& key : config::all_keys()) {
        effective.origins.push_back({key.path, config::value_as_toml(key, effective.policy), "default"});
    }
    return effective;
}

}  // namespace gdrcheck
