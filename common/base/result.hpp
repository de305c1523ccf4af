// Errors are values: every function that can fail returns Result<T> and never throws.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace gdrcheck {

/// What went wrong, in words a person can act on: the thing (path, device, option), the value, the cause.
struct Error {
    std::string what;
    int code = 0;  ///< errno where a system call failed, else 0
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string what, int code = 0) {
    return tl::unexpected<Error>(Error{std::move(what), code});
}

}  // namespace gdrcheck
