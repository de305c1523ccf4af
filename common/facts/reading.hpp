// A fact that could be absent keeps the reason why: unknown is not fail.
#pragma once

#include <optional>
#include <string>

namespace gdrcheck {

template <class T>
struct Reading {
    std::optional<T> value;
    std::string why;  ///< when there is no value: path and cause ("/sys/…/config: Permission denied")

    [[nodiscard]] bool known() const { return value.has_value(); }
    bool operator==(const Reading&) const = default;
};

}  // namespace gdrcheck
