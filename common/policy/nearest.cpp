#include "common/policy/nearest.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gdrcheck::config {
namespace {

constexpr std::size_t longest = 64;

std::string_view last_part(std::string_view path) {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

template <class Distance>
std::string_view least(const std::vector<std::string_view>& candidates, const Distance& distance) {
    std::string_view best;
    auto best_distance = std::numeric_limits<std::size_t>::max();
    for (const auto candidate : candidates) {
        const auto here = distance(candidate);
        if (here >= best_distance) continue;
        best_distance = here;
        best = candidate;
    }
    return best;
}

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
    left = left.substr(0, longest);
    right = right.substr(0, longest);
    using Row = std::array<std::size_t, longest + 1>;
    Row before_last{};
    Row last{};
    Row row{};
    for (std::size_t column = 0; column <= right.size(); ++column) last[column] = column;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t change = left[i - 1] == right[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last = row;
    }
    return last[right.size()];
}

std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& candidates) {
    return least(candidates, [&](std::string_view candidate) { return edit_distance(word, candidate); });
}

std::string_view nearest_path(std::string_view path, const std::vector<std::string_view>& candidates) {
    return least(candidates, [&](std::string_view candidate) {
        const auto whole = edit_distance(path, candidate);
        const auto moved = 3 * edit_distance(last_part(path), last_part(candidate)) + 1;
        return std::min(whole, moved);
    });
}

}  // namespace gdrcheck::config
