#include "common/base/glob.hpp"

#include <string>

#include <catch2/catch_test_macros.hpp>

using gdrcheck::glob_matches;

TEST_CASE("a glob matches the whole name") {
    CHECK(glob_matches("mlx5_0", "mlx5_0"));
    CHECK_FALSE(glob_matches("mlx5_1", "mlx5_10"));
    CHECK_FALSE(glob_matches("mlx5_10", "mlx5_1"));
    CHECK_FALSE(glob_matches("", "mlx5_0"));
    CHECK(glob_matches("", ""));
}

TEST_CASE("a star takes any run of characters, none included") {
    CHECK(glob_matches("mlx5_*", "mlx5_10"));
    CHECK(glob_matches("mlx5_*", "mlx5_"));
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("*bond*", "mlx5_bond_0"));
    CHECK(glob_matches("*_0", "mlx5_0_0"));
    CHECK_FALSE(glob_matches("*_0", "mlx5_0_1"));
    CHECK(glob_matches("a*b*c", "aXbYbZc"));
}

TEST_CASE("a question mark takes exactly one character") {
    CHECK(glob_matches("mlx5_?", "mlx5_1"));
    CHECK_FALSE(glob_matches("mlx5_?", "mlx5_10"));
    CHECK_FALSE(glob_matches("mlx5_?", "mlx5_"));
}

TEST_CASE("a set takes one of its characters, a negated one any other") {
    CHECK(glob_matches("mlx5_[0-3]", "mlx5_2"));
    CHECK_FALSE(glob_matches("mlx5_[0-3]", "mlx5_4"));
    CHECK(glob_matches("mlx5_[!0-3]", "mlx5_4"));
    CHECK(glob_matches("mlx5_[^0-3]", "mlx5_4"));
    CHECK_FALSE(glob_matches("mlx5_[!0-3]", "mlx5_2"));
    CHECK(glob_matches("ib[ps]*", "ibs1"));
    CHECK(glob_matches("[a-cx-z]1", "y1"));
    CHECK(glob_matches("[]]", "]"));
    CHECK(glob_matches("[!]]", "a"));
    CHECK(glob_matches("[a-]", "-"));
    CHECK(glob_matches("*[0-3]", "mlx5_12"));
}

TEST_CASE("a bracket without an end stands for itself") {
    CHECK(glob_matches("a[b", "a[b"));
    CHECK_FALSE(glob_matches("a[b", "ab"));
    CHECK_FALSE(glob_matches("[", ""));
}

TEST_CASE("many stars end in time") {
    std::string pattern;
    for (int i = 0; i < 120; ++i) pattern += "a*";
    CHECK_FALSE(glob_matches(pattern + "b", std::string(4'000, 'a')));
}
