// Every key of the configuration file, described once: what it takes, where it lands, how it is shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/policy/document.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck::config {

/// A member of Policy, to read and to write.
template <class T>
struct Field {
    template <class Member>
    Field(Member member) : edit(member), read(member) {}  // NOLINT(google-explicit-constructor): a lambda is the field

    T& (*edit)(Policy&);
    const T& (*read)(const Policy&);
};

struct Flag {
    Field<bool> field;
};
struct Whole {
    Field<int> field;
    int least = 0;
    int most = 0;
};
/// Takes "none" too.
struct MaybeWhole {
    Field<std::optional<int>> field;
    int least = 0;
    int most = 0;
};
/// More than zero; takes "none" too.
struct MaybeNumber {
    Field<std::optional<double>> field;
    double most = 0;
};
/// One of a few words; `index` is the place of the word in the list.
struct Words {
    std::vector<std::string_view> words;
    void (*set)(Policy&, std::size_t index);
    std::size_t (*index)(const Policy&);
};
/// [checks.SLUG] severity
struct SlugSeverity {
    std::string slug;
};
/// An absolute path of the host; empty where the key may say nothing.
struct HostPath {
    Field<std::string> field;
    bool may_be_empty = true;
    bool node_name = false;  ///< takes %n
};
struct Globs {
    Field<std::vector<std::string>> field;
};
struct Versions {
    Field<std::vector<std::string>> field;
};

struct Key {
    std::string path;  ///< "policy.on_fail"
    std::variant<Flag, Whole, MaybeWhole, MaybeNumber, Words, SlugSeverity, HostPath, Globs, Versions> takes;
};

/// In the order of the documentation.
[[nodiscard]] const std::vector<Key>& all_keys();

/// nullptr: no such key.
[[nodiscard]] const Key* find_key(std::string_view path);

/// Puts the value into the policy, or says what is wrong with it.
struct Complaint {
    Position at;
    std::string text;
};
[[nodiscard]] std::optional<Complaint> set_value(const Key& key, const Node& node, Policy& policy);

[[nodiscard]] std::string value_as_toml(const Key& key, const Policy& policy);

/// "true or false", "a whole number from 1 to 100, or \"none\"": the end of "must be …".
[[nodiscard]] std::string expectation(const Key& key);

/// Slugs that [checks.SLUG] takes: the findings there are (the checks themselves are another room's).
[[nodiscard]] const std::vector<std::string_view>& known_slugs();

}  // namespace gdrcheck::config
