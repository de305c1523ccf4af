#include "common/report/terminal_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace gdrcheck::report;

TEST_CASE("an escape sequence from a file does not reach the terminal") {
    CHECK(printable("mlx5_0\x1b[31m") == "mlx5_0\\x1b[31m");
    CHECK(printable("a\nb\tc\r\x7f") == "a\\x0ab\\x09c\\x0d\\x7f");
    CHECK(printable("\xc2\x9b"
                    "31m") == "\\xc2\\x9b31m");
    CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("plain text stays as it is") {
    CHECK(printable("NVIDIA H100 80GB HBM3 ~!") == "NVIDIA H100 80GB HBM3 ~!");
}

TEST_CASE("text is broken at blanks to the width") {
    std::string out;
    append_wrapped(out, "one two three four", "-> ", 3, 12);
    CHECK(out == "-> one two\n   three\n   four\n");
}

TEST_CASE("a path wider than the line is not cut") {
    std::string out;
    append_wrapped(out, "see /sys/bus/pci/devices/0000:18:00.0/config now", "", 0, 20);
    CHECK(out == "see\n/sys/bus/pci/devices/0000:18:00.0/config\nnow\n");
}

TEST_CASE("colour is only added where it is wanted") {
    CHECK(painted("FAIL", Colour::red, false) == "FAIL");
    CHECK(painted("FAIL", Colour::red, true) == "\x1b[1;31mFAIL\x1b[0m");
    CHECK(painted("FAIL", Colour::none, true) == "FAIL");
}
