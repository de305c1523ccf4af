#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "common/base/text.hpp"
#include "common/policy/keys.hpp"
#include "common/policy/policy.hpp"

using namespace gdrcheck;

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(std::string(GDRCHECK_SOURCE_DIR) + '/' + path);
    REQUIRE(file.good());
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

/// A key that is switched off begins with "#" and a letter; prose begins with "# ".
bool is_switched_off_key(std::string_view line) {
    return line.size() > 1 && line[0] == '#' && line[1] >= 'a' && line[1] <= 'z';
}

std::string with_every_key(const std::string& sample) {
    std::string text;
    for (const auto line : split(sample, '\n')) {
        text += is_switched_off_key(line) ? line.substr(1) : line;
        text += '\n';
    }
    return text;
}

EffectivePolicy parsed(const std::string& text) {
    const auto result = parse_policy(text, "sample", "n1");
    INFO((result ? "" : result.error().what));
    REQUIRE(result.has_value());
    return *result;
}

}  // namespace

TEST_CASE("the sample file as it is changes nothing but that failed nodes drain") {
    auto policy = parsed(content_of("etc/gdrcheck.toml")).policy;
    CHECK(policy.policy.on_fail == OnFail::drain);
    policy.policy.on_fail = OnFail::report;
    CHECK(policy == default_policy().policy);
}

TEST_CASE("the sample file with every key switched on holds exactly the defaults") {
    auto policy = parsed(with_every_key(content_of("etc/gdrcheck.toml"))).policy;
    CHECK(policy.policy.on_fail == OnFail::drain);
    policy.policy.on_fail = OnFail::report;
    CHECK(policy == default_policy().policy);
}

TEST_CASE("the sample file holds every key") {
    for (const auto& origin : parsed(with_every_key(content_of("etc/gdrcheck.toml"))).origins) {
        CAPTURE(origin.key);
        CHECK(origin.origin.starts_with("sample:"));
    }
}

TEST_CASE("the sample file explains every key in the line above it") {
    std::string_view before;
    const auto sample = content_of("etc/gdrcheck.toml");
    for (const auto line : split(sample, '\n')) {
        CAPTURE(line);
        if (is_switched_off_key(line)) CHECK((before.starts_with("# ") && before.size() > 10));
        before = line;
    }
}

TEST_CASE("the override of the sample file parses") {
    const auto sample = content_of("etc/gdrcheck.toml");
    const auto begin = sample.find("# [[override]]");
    REQUIRE(begin != std::string::npos);
    std::string text;
    const auto example = sample.substr(begin);
    for (const auto line : split(example, '\n')) text += std::string(line.substr(line.empty() ? 0 : 2)) + '\n';
    const auto result = parse_policy(text, "sample", "h100-007");
    INFO((result ? "" : result.error().what));
    REQUIRE(result.has_value());
    CHECK(result->policy.expect.gpus == 8);
    CHECK(result->policy.checks == std::map<std::string, Severity>{{"port-down", Severity::ignore}});
}

TEST_CASE("the reference has a row for every key with its default") {
    const auto reference = content_of("docs/gdrcheck.toml.md");
    for (const auto& origin : parsed("").origins) {
        CAPTURE(origin.key);
        const auto at = reference.find("\n| `" + origin.key + "` |");
        REQUIRE(at != std::string::npos);
        const auto row = reference.substr(at + 1, reference.find('\n', at + 1) - at - 1);
        CAPTURE(row);
        CHECK(row.find("| `" + origin.value + "` |") != std::string::npos);
    }
}

TEST_CASE("the reference names every word that a key takes") {
    const auto reference = content_of("docs/gdrcheck.toml.md");
    for (const auto& key : config::all_keys()) {
        const auto* words = std::get_if<config::Words>(&key.takes);
        if (words == nullptr) continue;
        const auto at = reference.find("\n| `" + key.path + "` |");
        REQUIRE(at != std::string::npos);
        const auto row = reference.substr(at + 1, reference.find('\n', at + 1) - at - 1);
        for (const auto word : words->words) {
            CAPTURE(key.path, word);
            CHECK(row.find("`\"" + std::string(word) + "\"`") != std::string::npos);
        }
    }
}
