// Slurm host lists: "h100-[001-512,600],rack[1-2]node[01-16],login1". The width of a range's first number is the
// padding of all its numbers (slurm src/common/hostlist.c): [001-512] holds 007 and not 7.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/text.hpp"
#include "common/policy/policy.hpp"

namespace gdrcheck {
namespace {

constexpr std::size_t longest_list = 64 * 1024;
constexpr std::size_t longest_host = 255;
constexpr std::size_t most_digits = 18;  // fits 64 bits
constexpr std::size_t most_groups = 8;   // Slurm has up to five

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
}

struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t width = 1;

    [[nodiscard]] bool takes(std::string_view digits) const {
        if (digits.size() < width || (digits.size() > width && digits.front() == '0')) return false;
        const auto value = parse_number<std::uint64_t>(digits);
        return value && first <= *value && *value <= last;
    }
};

Result<Range> parse_range(std::string_view text) {
    const auto dash = text.find('-');
    const auto low = text.substr(0, dash);
    const auto high = dash == std::string_view::npos ? low : text.substr(dash + 1);
    for (const auto number : {low, high}) {
        if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit))
            return fail(fmt::format("{} is no number and no range", quoted(text)));
        if (number.size() > most_digits)
            return fail(fmt::format("{} has more than {} digits", quoted(text), most_digits));
    }
    const Range range{*parse_number<std::uint64_t>(low), *parse_number<std::uint64_t>(high), low.size()};
    if (range.first > range.last) return fail(fmt::format("{} runs backwards", quoted(text)));
    return range;
}

/// The places in a host name up to which an item can have taken it.
class Places {
  public:
    explicit Places(std::string_view host) : host_(host), here_(host.size() + 1, false) { here_[0] = true; }

    void take_character(char c) {
        for (auto at = here_.size(); at-- > 0;) here_[at] = at > 0 && here_[at - 1] && host_[at - 1] == c;
    }

    void take_group(const std::vector<Range>& ranges) {
        std::vector<bool> after(here_.size(), false);
        for (std::size_t at = 0; at < host_.size(); ++at) {
            if (!here_[at]) continue;
            for (std::size_t length = 1; length <= most_digits && at + length <= host_.size(); ++length) {
                if (!is_digit(host_[at + length - 1])) break;
                const auto digits = host_.substr(at, length);
                const auto takes = [&](const Range& range) { return range.takes(digits); };
                if (std::any_of(ranges.begin(), ranges.end(), takes)) after[at + length] = true;
            }
        }
        here_ = std::move(after);
    }

    [[nodiscard]] bool reach_the_end() const { return here_.back(); }

  private:
    std::string_view host_;
    std::vector<bool> here_;
};

Result<std::vector<Range>> parse_group(std::string_view body) {
    std::vector<Range> ranges;
    for (const auto piece : split(body, ',')) {
        auto range = parse_range(piece);
        if (!range) return tl::unexpected(range.error());
        ranges.push_back(*range);
    }
    return ranges;
}

Result<bool> item_takes(std::string_view item, std::string_view host) {
    if (item.empty()) return fail("a name is empty");
    Places places(host);
    std::size_t groups = 0;
    for (std::size_t at = 0; at < item.size(); ++at) {
        if (item[at] != '[') {
            if (!is_name_character(item[at]))
                return fail(fmt::format("{} holds {}", quoted(item), quoted(item.substr(at, 1))));
            places.take_character(item[at]);
            continue;
        }
        const auto end = item.find(']', at);
        if (end == std::string_view::npos) return fail(fmt::format("{} has no closing ]", quoted(item)));
        if (++groups > most_groups) return fail(fmt::format("{} has more than {} groups", quoted(item), most_groups));
        const auto ranges = parse_group(item.substr(at + 1, end - at - 1));
        if (!ranges) return tl::unexpected(ranges.error());
        places.take_group(*ranges);
        at = end;
    }
    return places.reach_the_end();
}

/// The end of the item that begins at `from`: the next comma outside brackets.
std::size_t item_end(std::string_view list, std::size_t from) {
    bool inside = false;
    for (auto at = from; at < list.size(); ++at) {
        if (list[at] == '[') inside = true;
        if (list[at] == ']') inside = false;
        if (list[at] == ',' && !inside) return at;
    }
    return list.size();
}

}  // namespace

Result<bool> hostlist_contains(std::string_view hostlist, std::string_view host) {
    if (hostlist.size() > longest_list) return fail(fmt::format("host list: more than {} bytes", longest_list));
    if (host.empty() || host.size() > longest_host)
        return fail(fmt::format("host name {}: empty or more than {} bytes", quoted(host), longest_host));
    bool found = false;
    for (std::size_t from = 0; from <= hostlist.size();) {
        const auto end = item_end(hostlist, from);
        const auto takes = item_takes(trim(hostlist.substr(from, end - from)), host);
        if (!takes) return fail(fmt::format("host list {}: {}", quoted(hostlist), takes.error().what));
        found = found || *takes;
        from = end + 1;
    }
    return found;
}

}  // namespace gdrcheck
