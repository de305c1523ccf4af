#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "common/policy/nearest.hpp"
#include "common/policy/policy.hpp"

using namespace gdrcheck;

namespace {

std::string repeated(std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
}

void check_refused(const std::string& text) {
    const auto result = parse_policy(text, "f", "n1");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().what.starts_with("f:"));
    CHECK(result.error().what.size() < 1'000);
}

}  // namespace

TEST_CASE("a file over 1 MiB is refused, one below it is read") {
    check_refused(repeated("#\n", 600'000));
    CHECK(parse_policy(repeated("#\n", 500'000), "f", "n1").has_value());
}

TEST_CASE("deep nesting is refused") {
    check_refused("a = " + repeated("[", 200'000));
    check_refused("a = " + repeated("{a=", 100'000));
    check_refused("[" + repeated("a.", 200'000) + "a]");
    check_refused(repeated("a.", 200'000) + "a = 1");
    check_refused(repeated("a . ", 100'000) + "a = 1");
    check_refused(repeated("\"a\".", 100'000) + "a = 1");
    check_refused("x = { y = \"\"\"\n\"\"\", " + repeated("a.", 100'000) + "a = 1 }");
    check_refused("x = { y = \"\"\"\n # \"\"\", " + repeated("a.", 100'000) + "a = 1 }");
    check_refused(repeated("\"..\".", 100'000) + "a = 1");
}

TEST_CASE("dots in a comment or in a string are no nesting") {
    CHECK(parse_policy("# " + repeated("a.b ", 500) + "\n", "f", "n1").has_value());
    CHECK(parse_policy("nics.exclude = \"a.b.c.d.e.f.g\" # ..........................................\n", "f", "n1")
              .has_value());
}

TEST_CASE("bytes that are no text are refused") {
    check_refused(std::string("a\0b = 1", 7));
    check_refused("\xff\xfe = 1");
    check_refused("nics.exclude = \"\xc3\x28\"");
    check_refused("nccl.topo_file = \"/a\\u001b[31m\"");
    check_refused("nccl.topo_file = \"/a\\u009b31m\"");
}

TEST_CASE("long strings and lists are refused") {
    check_refused("nics.exclude = \"" + std::string(257, 'a') + "\"");
    check_refused("nics.exclude = [" + repeated("\"a\",", 1'025) + "]");
    check_refused("nccl.topo_file = \"/" + std::string(5'000, 'a') + "\"");
    check_refused(std::string(100'000, 'a') + " = 1");
    check_refused(repeated("[[override]]\nnodes = \"a\"\n", 1'025));
    CHECK(parse_policy("nics.exclude = [" + repeated("\"a\",", 1'024) + "]", "f", "n1").has_value());
}

TEST_CASE("a key that is given twice is refused") {
    check_refused("[policy]\non_fail = \"drain\"\non_fail = \"off\"\n");
    check_refused("[policy]\n[policy]\n");
    check_refused("policy.on_fail = \"off\"\n[policy]\non_fail = \"off\"\n");
}

TEST_CASE("an error message holds no control character of the file") {
    for (const auto* text : {"\"a\\u001b[2J\\n\" = 1", "expect.gdr = tr\n", "expect.gdr = t\x7f",
                             "expect.gpus = \x1b[2J", "\x1b = 1", "a = \"\\\x1b\""}) {
        CAPTURE(text);
        const auto result = parse_policy(text, "f", "n1");
        REQUIRE_FALSE(result.has_value());
        const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
        CHECK(std::all_of(result.error().what.begin(), result.error().what.end(), printable));
    }
}

TEST_CASE("damaged files give a policy or an error with its place, never anything else") {
    const std::string whole =
        "[scope]\nmin_nodes = 2 # x\n[nccl]\nassume = [\"2.28\", '2.21.5']\n[expect]\ngbps = 4e2\ngpus = 0x8\n"
        "[[override]]\nnodes = \"n[1-3],m\"\nexpect = { gdr = true, nics = 1_0 }\n[override.checks.self]\n"
        "severity = \"\"\"warn\"\"\"\n";
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp,bugprone-random-generator-seed): the same files every time
    constexpr std::string_view alphabet = "[]{}\"'=.,#\n\\ux0 a-_:\xc3\x7f";
    for (int round = 0; round < 4'000; ++round) {
        auto text = whole;
        for (int change = 0; change < 1 + round % 4; ++change) {
            const auto at = random() % text.size();
            const auto c = alphabet[random() % alphabet.size()];
            if (random() % 3 == 0) {
                text.erase(at, 1 + random() % 8);
            } else if (random() % 2 == 0) {
                text[at] = c;
            } else {
                text.insert(at, 1, c);
            }
        }
        const auto result = parse_policy(text, "f", "n1");
        if (!result && !result.error().what.starts_with("f:")) FAIL(text);
    }
}

TEST_CASE("the edit distance counts insertions, deletions, changes and swaps") {
    CHECK(config::edit_distance("", "") == 0);
    CHECK(config::edit_distance("abc", "") == 3);
    CHECK(config::edit_distance("on_fial", "on_fail") == 1);
    CHECK(config::edit_distance("onfail", "on_fail") == 1);
    CHECK(config::edit_distance("kitten", "sitting") == 3);
    CHECK(config::edit_distance(std::string(10'000, 'a'), "a") == 63);
}
