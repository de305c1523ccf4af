// A configuration file as a plain tree: what policy.cpp makes of TOML, and all that the rest of this room sees of it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace gdrcheck::config {

struct Position {
    int line = 0;
    int column = 0;
    auto operator<=>(const Position&) const = default;
};

struct Node {
    enum class Kind { table, list, text, integer, number, boolean, date };

    Kind kind = Kind::table;
    std::string key;  ///< of a member of a table
    Position key_at;
    Position at;  ///< of the value
    std::string text;
    std::int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    std::vector<Node> children;  ///< members of a table in the order of the file, items of a list
};

}  // namespace gdrcheck::config
