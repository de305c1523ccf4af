// Values of the configuration file: checked, taken, shown.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "common/base/glob.hpp"
#include "common/base/text.hpp"
#include "common/policy/keys.hpp"
#include "common/policy/nearest.hpp"
#include "common/policy/toml_text.hpp"

namespace gdrcheck::config {
namespace {

constexpr std::string_view none = "none";
constexpr std::size_t most_items = 1'024;
constexpr std::size_t longest_glob = 256;
constexpr std::size_t longest_path = 4'095;  // PATH_MAX without its NUL
constexpr std::size_t most_versions = 16;

const std::vector<std::string_view>& severity_words() {
    static const std::vector<std::string_view> words{"default", "fail", "warn", "ignore"};
    return words;
}

std::string one_of(const std::vector<std::string_view>& words) {
    std::string text = "one of ";
    for (const auto word : words) text += fmt::format("{}\"{}\"", word == words.front() ? "" : ", ", word);
    return text;
}

struct Expectation {
    std::string operator()(const Flag& /*key*/) const { return "true or false"; }
    std::string operator()(const Whole& key) const {
        return fmt::format("a whole number from {} to {}", key.least, key.most);
    }
    std::string operator()(const MaybeWhole& key) const {
        return fmt::format("a whole number from {} to {}, or \"none\"", key.least, key.most);
    }
    std::string operator()(const MaybeNumber& key) const {
        return fmt::format("a number above 0 and at most {}, or \"none\"", key.most);
    }
    std::string operator()(const Words& key) const { return one_of(key.words); }
    std::string operator()(const SlugSeverity& /*key*/) const { return one_of(severity_words()); }
    std::string operator()(const HostPath& key) const {
        return fmt::format("an absolute path without control characters{}{}",
                           key.node_name ? ", %n for the node's name" : "", key.may_be_empty ? ", or \"\"" : "");
    }
    std::string operator()(const Globs& /*key*/) const {
        return fmt::format("a glob of device names such as \"mlx5_*\" or a list of at most {}", most_items);
    }
    std::string operator()(const Versions& /*key*/) const {
        return fmt::format("a version such as \"2.28\" or \"2.28.9\", or a list of 1 to {}", most_versions);
    }
};

/// The value as a message shows it.
std::string shown(const Node& node) {
    switch (node.kind) {
        case Node::Kind::table:
            return "a table";
        case Node::Kind::list:
            return "a list";
        case Node::Kind::text:
            return quoted(node.text);
        case Node::Kind::integer:
            return std::to_string(node.integer);
        case Node::Kind::number:
            return fmt::format("{}", node.number);
        case Node::Kind::boolean:
            return node.boolean ? "true" : "false";
        case Node::Kind::date:
            return "a date";
    }
    return "?";
}

/// Empty: fine.
std::string wrong_with_glob(std::string_view glob) {
    if (glob.empty()) return "a glob is empty";
    if (glob.size() > longest_glob) return fmt::format("a glob is longer than {} characters", longest_glob);
    for (const char c : glob) {
        if (c <= ' ' || c > '~' || c == '/' || c == ',')
            return "a device name holds no blank, comma, slash or other odd character";
    }
    for (auto open = glob.find('['); open != std::string_view::npos;) {
        const auto end = set_end(glob, open);
        if (end == std::string_view::npos) return "a [ has no closing ]";
        open = glob.find('[', end);
    }
    return {};
}

bool is_version(std::string_view text) {
    const auto parts = split(text, '.');
    const auto is_number = [](std::string_view part) {
        return !part.empty() && part.size() <= 3 && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    return (parts.size() == 2 || parts.size() == 3) && std::all_of(parts.begin(), parts.end(), is_number);
}

std::string wrong_with_path(std::string_view path, bool node_name) {
    if (path.empty() || path.front() != '/') return "not an absolute path";
    if (path.size() > longest_path) return fmt::format("longer than {} bytes", longest_path);
    if (!is_printable(path)) return "holds a control character";
    for (const auto part : split(path, '/')) {
        if (node_name && part == "..") return "holds \"..\"";
    }
    for (auto at = path.find('%'); node_name && at != std::string_view::npos; at = path.find('%', at + 1)) {
        if (path.substr(at, 2) != "%n") return "% stands only before n";
    }
    return {};
}

/// Sets what a key takes; `problem` and `at` tell what it does not take.
class Setter {
  public:
    Setter(const Node& node, Policy& policy) : node_(node), policy_(policy), at_(node.at) {}

    bool operator()(const Flag& key) {
        if (node_.kind != Node::Kind::boolean) return false;
        key.field.edit(policy_) = node_.boolean;
        return true;
    }
    bool operator()(const Whole& key) {
        if (!is_whole(key.least, key.most)) return false;
        key.field.edit(policy_) = static_cast<int>(node_.integer);
        return true;
    }
    bool operator()(const MaybeWhole& key) {
        if (is_none()) return clear(key.field.edit(policy_));
        if (!is_whole(key.least, key.most)) return false;
        key.field.edit(policy_) = static_cast<int>(node_.integer);
        return true;
    }
    bool operator()(const MaybeNumber& key) {
        if (is_none()) return clear(key.field.edit(policy_));
        const bool whole = node_.kind == Node::Kind::integer;
        if (!whole && node_.kind != Node::Kind::number) return false;
        const auto value = whole ? static_cast<double>(node_.integer) : node_.number;
        if (!std::isfinite(value) || value <= 0 || value > key.most) return false;
        key.field.edit(policy_) = value;
        return true;
    }
    bool operator()(const Words& key) {
        const auto index = word_in(key.words);
        if (!index) return false;
        key.set(policy_, *index);
        return true;
    }
    bool operator()(const SlugSeverity& key) {
        const auto index = word_in(severity_words());
        if (!index) return false;
        if (*index == 0) {
            policy_.checks.erase(key.slug);
        } else {
            policy_.checks[key.slug] = static_cast<Severity>(*index - 1);
        }
        return true;
    }
    bool operator()(const HostPath& key) {
        if (node_.kind != Node::Kind::text) return false;
        if (!(node_.text.empty() && key.may_be_empty)) problem_ = wrong_with_path(node_.text, key.node_name);
        if (problem_.empty()) key.field.edit(policy_) = node_.text;
        return problem_.empty();
    }
    bool operator()(const Globs& key) {
        auto items = strings(most_items);
        if (!items) return false;
        for (std::size_t index = 0; index < items->size(); ++index) {
            problem_ = wrong_with_glob((*items)[index]);
            if (!problem_.empty()) return point_at(index);
        }
        key.field.edit(policy_) = std::move(*items);
        return true;
    }
    bool operator()(const Versions& key) {
        auto items = strings(most_versions);
        if (!items || items->empty()) {
            const bool bare = node_.kind == Node::Kind::number || node_.kind == Node::Kind::integer;
            if (bare) problem_ = "a version needs quotes (2.30 without them is 2.3)";
            return false;
        }
        for (std::size_t index = 0; index < items->size(); ++index) {
            if (!is_version((*items)[index])) return point_at(index);
        }
        key.field.edit(policy_) = std::move(*items);
        return true;
    }

    [[nodiscard]] Complaint complaint(const Key& key) const {
        const auto& offender = item_ == nullptr ? node_ : *item_;
        auto text = fmt::format("{} = {}: ", key.path, shown(offender));
        if (!problem_.empty()) text += problem_ + "; ";
        text += fmt::format("must be {}", expectation(key));
        if (!meant_.empty()) text += fmt::format("; nearest: \"{}\"", meant_);
        return {at_, std::move(text)};
    }

  private:
    [[nodiscard]] bool is_none() const { return node_.kind == Node::Kind::text && node_.text == none; }

    [[nodiscard]] bool is_whole(int least, int most) const {
        return node_.kind == Node::Kind::integer && node_.integer >= least && node_.integer <= most;
    }

    template <class T>
    static bool clear(std::optional<T>& value) {
        value.reset();
        return true;
    }

    std::optional<std::size_t> word_in(const std::vector<std::string_view>& words) {
        if (node_.kind != Node::Kind::text) return std::nullopt;
        const auto found = std::find(words.begin(), words.end(), node_.text);
        if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
        meant_ = nearest_word(node_.text, words);
        return std::nullopt;
    }

    /// One string or a list of strings.
    std::optional<std::vector<std::string>> strings(std::size_t most) {
        if (node_.kind == Node::Kind::text) return std::vector{node_.text};
        if (node_.kind != Node::Kind::list) return std::nullopt;
        if (node_.children.size() > most) {
            problem_ = fmt::format("has {} items", node_.children.size());
            return std::nullopt;
        }
        std::vector<std::string> items;
        for (std::size_t index = 0; index < node_.children.size(); ++index) {
            if (node_.children[index].kind != Node::Kind::text) {
                point_at(index);
                return std::nullopt;
            }
            items.push_back(node_.children[index].text);
        }
        return items;
    }

    /// Always false.
    bool point_at(std::size_t index) {
        if (node_.kind != Node::Kind::list) return false;
        item_ = &node_.children[index];
        at_ = item_->at;
        return false;
    }

    const Node& node_;
    Policy& policy_;
    const Node* item_ = nullptr;
    Position at_;
    std::string problem_;
    std::string_view meant_;
};

struct Shower {
    const Policy& policy;

    std::string operator()(const Flag& key) const { return key.field.read(policy) ? "true" : "false"; }
    std::string operator()(const Whole& key) const { return std::to_string(key.field.read(policy)); }
    std::string operator()(const MaybeWhole& key) const {
        const auto& value = key.field.read(policy);
        return value ? std::to_string(*value) : toml_string(none);
    }
    std::string operator()(const MaybeNumber& key) const {
        const auto& value = key.field.read(policy);
        return value ? fmt::format("{}", *value) : toml_string(none);
    }
    std::string operator()(const Words& key) const { return toml_string(key.words.at(key.index(policy))); }
    std::string operator()(const SlugSeverity& key) const {
        const auto found = policy.checks.find(key.slug);
        return toml_string(found == policy.checks.end() ? "default" : to_string(found->second));
    }
    std::string operator()(const HostPath& key) const { return toml_string(key.field.read(policy)); }
    std::string operator()(const Globs& key) const { return toml_list(key.field.read(policy)); }
    std::string operator()(const Versions& key) const { return toml_list(key.field.read(policy)); }
};

}  // namespace

std::string expectation(const Key& key) {
    return std::visit(Expectation{}, key.takes);
}

std::optional<Complaint> set_value(const Key& key, const Node& node, Policy& policy) {
    Setter setter(node, policy);
    if (std::visit(setter, key.takes)) return std::nullopt;
    return setter.complaint(key);
}

std::string value_as_toml(const Key& key, const Policy& policy) {
    return std::visit(Shower{policy}, key.takes);
}

}  // namespace gdrcheck::config
