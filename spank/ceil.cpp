// {fmt} refers to ceil() for numbers with a fraction, which nothing here prints; with one of our own, libm is not
// loaded into every program of Slurm for it.
#include <cmath>

extern "C" double ceil(double value) noexcept {
    constexpr double whole_from_here = 9007199254740992.0;  // 2^53
    if (!(value < whole_from_here && value > -whole_from_here)) return value;
    const auto whole = static_cast<double>(static_cast<long long>(value));
    return whole < value ? whole + 1 : whole;
}
