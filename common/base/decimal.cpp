// Apart from the rest of text.hpp: numbers with a fraction bring libm along, which the Slurm plugin must not load.
#include <cmath>

#include "common/base/text.hpp"

namespace gdrcheck {

std::optional<double> parse_decimal(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace gdrcheck
