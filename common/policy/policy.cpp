// Reads TOML; the only file that knows the TOML library.
#include "common/policy/policy.hpp"

#include <algorithm>
#include <utility>

// The library asserts what its next lines test and report ("[.x]"), and in release builds lets the compiler take it for
// granted; a typo in a file must be neither an abort nor undefined.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "common/policy/apply.hpp"
#include "common/policy/limits.hpp"

namespace gdrcheck {
namespace {

using config::Node;
using config::Position;

Position position(const toml::source_region& region) {
    return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

/// The library quotes the file, and the file may hold anything.
std::string one_clean_line(std::string_view description) {
    constexpr std::size_t longest = 300;
    std::string result(description.substr(0, longest));
    std::replace_if(
        result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return result;
}

Node plain(const toml::node& node);

void add_members(const toml::table& table, Node& result) {
    for (const auto& [key, value] : table) {
        auto& child = result.children.emplace_back(plain(value));
        child.key = std::string(key.str());
        child.key_at = position(key.source());
    }
    // the library's tables are sorted by key; people read errors from the top of the file
    std::stable_sort(result.children.begin(), result.children.end(),
                     [](const Node& left, const Node& right) { return left.key_at < right.key_at; });
}

Node plain(const toml::node& node) {
    Node result;
    result.at = position(node.source());
    switch (node.type()) {
        case toml::node_type::table:
            add_members(*node.as_table(), result);
            break;
        case toml::node_type::array:
            result.kind = Node::Kind::list;
            for (const auto& item : *node.as_array()) result.children.push_back(plain(item));
            break;
        case toml::node_type::string:
            result.kind = Node::Kind::text;
            result.text = node.as_string()->get();
            break;
        case toml::node_type::integer:
            result.kind = Node::Kind::integer;
            result.integer = node.as_integer()->get();
            break;
        case toml::node_type::floating_point:
            result.kind = Node::Kind::number;
            result.number = node.as_floating_point()->get();
            break;
        case toml::node_type::boolean:
            result.kind = Node::Kind::boolean;
            result.boolean = node.as_boolean()->get();
            break;
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time:
        case toml::node_type::none:
            result.kind = Node::Kind::date;
            break;
    }
    return result;
}

}  // namespace

Result<EffectivePolicy> parse_policy(std::string_view text, const std::string& name, std::string_view host) {
    if (const auto problem = config::over_limits(text)) return config::error_at(name, problem->at, problem->text);
    const auto parsed = toml::parse(text);
    if (!parsed)
        return config::error_at(name, position(parsed.error().source()), one_clean_line(parsed.error().description()));
    return config::apply_document(plain(parsed.table()), name, host);
}

}  // namespace gdrcheck
