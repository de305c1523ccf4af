#include <algorithm>
#include <tuple>

#include "common/act/act.hpp"

namespace gdrcheck::act {
namespace {

std::size_t others_of(const Order& order, const ClusterView& cluster) {
    return static_cast<std::size_t>(std::count_if(cluster.ours.begin(), cluster.ours.end(),
                                                  [&](const auto& ours) { return ours.name != order.node; }));
}

}  // namespace

std::optional<std::size_t> budget(const Manners& manners, std::size_t nodes) {
    std::optional<std::size_t> limit;
    if (manners.budget_percent) {
        const auto percent = static_cast<std::size_t>(std::max(0, *manners.budget_percent));
        limit = std::max<std::size_t>(1, (nodes * percent + 99) / 100);
    }
    if (manners.budget_nodes) {
        const auto most = static_cast<std::size_t>(std::max(0, *manners.budget_nodes));
        limit = limit ? std::min(*limit, most) : most;
    }
    return limit;
}

bool is_full(const Order& order, const ClusterView& cluster) {
    const auto limit = budget(order.manners, cluster.nodes);
    return limit && others_of(order, cluster) >= *limit;
}

bool lost_race(const Order& order, const ClusterView& cluster) {
    const auto limit = budget(order.manners, cluster.nodes);
    if (!limit) return false;
    const auto self = std::find_if(cluster.ours.begin(), cluster.ours.end(),
                                   [&](const auto& ours) { return ours.name == order.node; });
    if (self == cluster.ours.end()) return false;  // somebody changed our reason: the drain is theirs now
    const auto before_self = [&](const ClusterView::Ours& other) {
        return std::tie(other.reason_time_s, other.name) < std::tie(self->reason_time_s, self->name);
    };
    const auto rank = std::count_if(cluster.ours.begin(), cluster.ours.end(), before_self);
    return static_cast<std::size_t>(rank) >= *limit;
}

}  // namespace gdrcheck::act
