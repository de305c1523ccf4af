#include "common/base/text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck;

TEST_CASE("blanks are trimmed at both ends only") {
    CHECK(trim(" \t a b\r\n") == "a b");
    CHECK(trim(" \n").empty());
    CHECK(trim("").empty());
    CHECK(first_line("  x  \ny") == "x");
    CHECK(first_line("\ny").empty());
}

TEST_CASE("a text is split at every separator") {
    using Pieces = std::vector<std::string_view>;
    CHECK(split("a,,b", ',') == Pieces{"a", "", "b"});
    CHECK(split("", ',') == Pieces{""});
    CHECK(split("a,", ',') == Pieces{"a", ""});
}

TEST_CASE("a number is the whole text or none") {
    CHECK(parse_number<int>("-1") == -1);
    CHECK(parse_number<int>("16") == 16);
    CHECK_FALSE(parse_number<int>("16 "));
    CHECK_FALSE(parse_number<int>("+16"));
    CHECK_FALSE(parse_number<int>(""));
    CHECK_FALSE(parse_number<int>("4: ACTIVE"));
    CHECK_FALSE(parse_number<int>("99999999999999999999"));
    CHECK_FALSE(parse_number<unsigned>("-1"));
    CHECK(parse_hex<unsigned>("0x10de") == 0x10de);
    CHECK_FALSE(parse_hex<unsigned short>("0x10000"));
    CHECK_FALSE(parse_hex<unsigned>("10de"));
    CHECK_FALSE(parse_hex<unsigned>("0x"));
    CHECK_FALSE(parse_hex<unsigned>("0x-1"));
    CHECK(parse_decimal("2.5") == 2.5);
    CHECK(parse_decimal("400") == 400.0);
    CHECK_FALSE(parse_decimal("1e9"));
    CHECK_FALSE(parse_decimal("nan"));
    CHECK_FALSE(parse_decimal("inf"));
    CHECK_FALSE(parse_decimal("4x"));
}

TEST_CASE("the last component of a path") {
    CHECK(last_component("../../bus/pci/drivers/nvidia") == "nvidia");
    CHECK(last_component("nvidia") == "nvidia");
    CHECK(last_component("/").empty());
}

TEST_CASE("paths are joined with one slash") {
    CHECK(join_path("/sys/bus", "pci") == "/sys/bus/pci");
    CHECK(join_path("/", "sys") == "/sys");
    CHECK(join_path("", "sys") == "/sys");
}

TEST_CASE("hostile text is shown harmless and short") {
    CHECK(quoted("4: ACTIVE") == "\"4: ACTIVE\"");
    CHECK(quoted("a\x1b[2J\"\\\n") == "\"a\\x1b[2J\\x22\\x5c\\x0a\"");
    CHECK(quoted(std::string(1000, 'x')) == '"' + std::string(60, 'x') + "…\"");
}
