#include "prolog/node/job_environment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "common/base/text.hpp"
#include "prolog/order/order_text.hpp"

namespace gdrcheck::node {
namespace {

constexpr std::size_t longest_list = 64UL * 1024;
constexpr std::uint32_t most_nodes = 1'000'000;
constexpr std::size_t longest_gpu_list = 4096;

/// A set variable of at most `longest` bytes; longer ones count as not set.
std::optional<std::string_view> value_of(const Lookup& lookup, const char* name, std::size_t longest) {
    const char* value = lookup(name);
    if (value == nullptr || ::strnlen(value, longest + 1) > longest) return std::nullopt;
    return std::string_view(value);
}

std::optional<std::uint32_t> number_of(const Lookup& lookup, const char* name) {
    const auto value = value_of(lookup, name, 16);
    return value ? parse_number<std::uint32_t>(*value) : std::nullopt;
}

std::optional<std::uint32_t> node_count(const Lookup& lookup) {
    if (const auto number = number_of(lookup, "SLURM_JOB_NUM_NODES"); number && *number > 0) return number;
    // from 23.02 / before
    for (const auto* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
        const auto list = value_of(lookup, name, longest_list);
        if (!list) continue;
        if (const auto count = count_hosts(*list)) return count;
    }
    return std::nullopt;
}

/// "0,1,3" and nothing else: indices as gres.conf's File= gives them, which are device minors.
std::string gpu_list(const Lookup& lookup) {
    const auto value = value_of(lookup, "SLURM_JOB_GPUS", longest_gpu_list);
    if (!value || value->empty()) return {};
    const auto is_of_list = [](char c) { return (c >= '0' && c <= '9') || c == ','; };
    if (!std::all_of(value->begin(), value->end(), is_of_list)) return {};
    return std::string(*value);
}

/// An option without its optional argument comes as "(null)", or as nothing.
state::Mode mode_of(const Lookup& lookup) {
    constexpr std::size_t longest = 16;
    if (const auto value = value_of(lookup, "SPANK_GDRCHECK_MODE", longest))
        return state::parse_mode(*value).value_or(state::Mode::none);
    // what Slurm sets by itself, unless another plugin makes it strip these
    if (value_of(lookup, "SPANK__SLURM_SPANK_OPTION_gdrcheck_no_gdr_check", longest)) return state::Mode::off;
    if (const auto value = value_of(lookup, "SPANK__SLURM_SPANK_OPTION_gdrcheck_gdr_check", longest))
        return *value == "enforce" ? state::Mode::enforce : state::Mode::report;
    return state::Mode::none;
}

/// Product of the sizes of an item's bracketed groups: "rack[1-2]node[01-16]" is 32.
std::optional<std::uint64_t> hosts_in_item(std::string_view item) {
    std::uint64_t product = 1;
    for (std::size_t at = 0; (at = item.find('[', at)) != std::string_view::npos;) {
        const auto end = item.find(']', at);
        if (end == std::string_view::npos) return std::nullopt;
        std::uint64_t size = 0;
        for (const auto piece : split(item.substr(at + 1, end - at - 1), ',')) {
            const auto dash = piece.find('-');
            const auto low = parse_number<std::uint64_t>(piece.substr(0, dash));
            const auto high =
                dash == std::string_view::npos ? low : parse_number<std::uint64_t>(piece.substr(dash + 1));
            if (!low || !high || *high < *low || *high - *low >= most_nodes) return std::nullopt;
            size += *high - *low + 1;
        }
        product *= size;
        if (product > most_nodes) return std::nullopt;
        at = end;
    }
    return product;
}

}  // namespace

std::optional<std::uint32_t> count_hosts(std::string_view list) {
    if (list.empty() || list.size() > longest_list) return std::nullopt;
    std::uint64_t total = 0;
    std::size_t begin = 0;
    bool inside = false;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        if (at < list.size()) {
            if (list[at] == '[') inside = true;
            if (list[at] == ']') inside = false;
            if (list[at] != ',' || inside) continue;
        }
        const auto item = list.substr(begin, at - begin);
        const auto hosts = item.empty() ? std::nullopt : hosts_in_item(item);
        if (!hosts) return std::nullopt;
        total += *hosts;
        begin = at + 1;
    }
    if (total > most_nodes) return std::nullopt;
    return static_cast<std::uint32_t>(total);
}

Result<std::string> read_node_name(const Lookup& lookup) {
    const auto name = value_of(lookup, "SLURMD_NODENAME", 255);
    if (!name) return fail("SLURMD_NODENAME is not set; slurmd sets it for its prolog, epilog and health program");
    if (!order::is_node_name(*name)) return fail(fmt::format("SLURMD_NODENAME: {} is no node name", quoted(*name)));
    return std::string(*name);
}

Result<JobEnvironment> read_job_environment(const Lookup& lookup) {
    auto node = read_node_name(lookup);
    if (!node) return tl::unexpected(node.error());
    const auto job_id = number_of(lookup, "SLURM_JOB_ID");
    if (!job_id || *job_id == 0) return fail("SLURM_JOB_ID is not set or no job number");
    JobEnvironment job;
    job.node = std::move(*node);
    job.job_id = *job_id;
    job.uid = number_of(lookup, "SLURM_JOB_UID");
    job.nodes = node_count(lookup);
    job.gpus = gpu_list(lookup);
    job.mode = mode_of(lookup);
    return job;
}

}  // namespace gdrcheck::node
