#include "prolog/order/order_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "prolog/order/key_values.hpp"

namespace gdrcheck::order {
namespace {

constexpr const char* request_head = "gdrcheck-order 1";
constexpr const char* answer_head = "gdrcheck-answer 1";
constexpr std::array<std::string_view, 3> programs{"prolog", "epilog", "health"};
constexpr std::array<std::string_view, 4> intents{"nothing", "tell", "drain", "mend"};
constexpr std::array<std::string_view, 4> marker_changes{"keep", "forget", "told", "resumed"};
constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_clause = 300;
constexpr std::int64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 2;
constexpr int most_ms = 600'000;

class Writer {
  public:
    explicit Writer(const char* head) : text_(head) { text_ += '\n'; }
    Writer& add(const char* key, std::string_view value, std::size_t longest = longest_clause) {
        text_ += fmt::format("{}={}\n", key, one_line(value, longest));
        return *this;
    }
    Writer& add(const char* key, bool value) { return add(key, std::string_view(value ? "1" : "0")); }
    Writer& add(const char* key, const char* value) { return add(key, std::string_view(value)); }
    Writer& add_number(const char* key, std::int64_t value) { return add(key, std::to_string(value)); }
    Writer& add_limit(const char* key, const std::optional<int>& value) {
        return add(key, value ? std::to_string(*value) : std::string("none"));
    }
    [[nodiscard]] std::string end() { return text_ + "end\n"; }

  private:
    std::string text_;
};

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

act::Manners manners_in(KeyValues& lines) {
    act::Manners manners;
    manners.requeue = lines.truth("requeue");
    manners.notify = lines.truth("notify");
    manners.resume = lines.truth("resume");
    manners.budget_percent = lines.limit("budget_percent");
    manners.budget_nodes = lines.limit("budget_nodes");
    manners.max_requeues = static_cast<int>(lines.number("max_requeues", 0, std::numeric_limits<int>::max()));
    return manners;
}

act::OwnDrain own_drain_in(KeyValues& lines) {
    act::OwnDrain own;
    own.reason = lines.text("own_reason");
    own.time_s = lines.number("own_time", 0, most_seconds);
    own.told = lines.truth("own_told");
    own.settled = lines.truth("own_settled");
    own.resumes_today = static_cast<int>(lines.number("own_resumes_today", 0, 1000));
    return own;
}

act::Order order_in(KeyValues& lines) {
    act::Order order;
    order.program = static_cast<act::Program>(lines.word("program", programs));
    order.intent = static_cast<act::Intent>(lines.word("intent", intents));
    order.node = lines.text("node");
    order.job_id = static_cast<std::uint32_t>(lines.number("job", 0, std::numeric_limits<std::uint32_t>::max()));
    order.reason = lines.text("reason");
    order.why_not_drained = lines.text("why_not_drained");
    order.well = lines.truth("well");
    order.now_s = lines.number("now", 0, most_seconds);
    order.manners = manners_in(lines);
    order.own = own_drain_in(lines);
    if (!is_node_name(order.node)) lines.complain("node");
    const auto is_reason = [](const std::string& text) {
        return text.size() <= longest_reason && (text.empty() || text.starts_with("gdr:"));
    };
    if (!is_reason(order.reason)) lines.complain("reason");
    if (!is_reason(order.own.reason)) lines.complain("own_reason");
    if (order.intent == act::Intent::drain && order.reason.empty()) lines.complain("reason");
    return order;
}

}  // namespace

bool is_node_name(std::string_view name) {
    constexpr std::size_t longest = 255;
    const auto plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
               c == '_';
    };
    return !name.empty() && name.size() <= longest && name.front() != '.' && name.front() != '-' &&
           std::all_of(name.begin(), name.end(), plain) && name.find("..") == std::string_view::npos;
}

std::string one_line(std::string_view text, std::size_t longest) {
    std::string line(text.substr(0, longest));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return line;
}

std::string to_text(const Request& request) {
    const auto& order = request.order;
    Writer lines(request_head);
    lines.add("program", name_of(programs, order.program))
        .add("intent", name_of(intents, order.intent))
        .add("node", order.node)
        .add_number("job", order.job_id)
        .add("reason", order.reason, longest_reason)
        .add("why_not_drained", order.why_not_drained)
        .add("well", order.well)
        .add_number("now", order.now_s)
        .add("requeue", order.manners.requeue)
        .add("notify", order.manners.notify)
        .add("resume", order.manners.resume)
        .add_limit("budget_percent", order.manners.budget_percent)
        .add_limit("budget_nodes", order.manners.budget_nodes)
        .add_number("max_requeues", order.manners.max_requeues)
        .add("own_reason", order.own.reason, longest_reason)
        .add_number("own_time", order.own.time_s)
        .add("own_told", order.own.told)
        .add("own_settled", order.own.settled)
        .add_number("own_resumes_today", order.own.resumes_today)
        .add_number("rpc_ms", request.rpc_ms);
    return lines.end();
}

Result<Request> parse_request(std::string_view text) {
    auto lines = KeyValues::parse(text, request_head);
    if (!lines) return fail("order " + lines.error().what);
    Request request;
    request.order = order_in(*lines);
    request.rpc_ms = static_cast<int>(lines->number("rpc_ms", 1, most_ms));
    if (const auto complaint = lines->complaint()) return fail("order: " + *complaint);
    return request;
}

std::string to_text(const Answer& answer) {
    return Writer(answer_head)
        .add_number("exit_code", answer.exit_code)
        .add("marker", name_of(marker_changes, answer.marker))
        .add("settled", answer.settled)
        .add("why", answer.why)
        .end();
}

Result<Answer> parse_answer(std::string_view text) {
    auto lines = KeyValues::parse(text, answer_head);
    if (!lines) return fail("answer " + lines.error().what);
    Answer answer;
    answer.exit_code = static_cast<int>(lines->number("exit_code", 0, 1));
    answer.marker = static_cast<act::MarkerChange>(lines->word("marker", marker_changes));
    answer.settled = lines->truth("settled");
    answer.why = lines->text("why");
    if (const auto complaint = lines->complaint()) return fail("answer: " + *complaint);
    return answer;
}

}  // namespace gdrcheck::order
