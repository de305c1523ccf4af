// gdrcheck-slurm: the one program that does Slurm RPCs. Takes an order on its standard input and answers on its
// standard output; started by gdrcheck-prolog, -epilog and -health, and only where there is something to do.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "common/base/deadline.hpp"
#include "prolog/order/order_text.hpp"
#include "prolog/slurm/carry_out.hpp"
#include "prolog/slurm/slurm_api.hpp"

namespace {

using namespace gdrcheck;

std::string read_standard_input() {
    std::string text;
    std::array<char, 1024> buffer{};
    while (text.size() <= order::largest_text) {
        const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

int run() {
    if (::isatty(STDIN_FILENO) == 1) {
        std::fputs("gdrcheck-slurm takes orders from gdrcheck-prolog, gdrcheck-epilog and gdrcheck-health\n", stderr);
        return 2;
    }
    const auto request = order::parse_request(read_standard_input());
    if (!request) {
        std::fprintf(stderr, "gdrcheck-slurm: %s\n", request.error().what.c_str());
        return 2;
    }
    // libslurm may end its process or wait for ever: a worker does the calls, this process answers.
    const auto work = [&request] {
        slurm::initialize();
        return order::to_text(slurm::carry_out(request->order));
    };
    auto answer = run_with_deadline(work, request->rpc_ms + order::longest_jitter_ms + order::settle_ms);
    if (!answer) {
        const auto& order = request->order;
        answer = order::to_text({act::exit_code_without_slurm(order.program, order.intent), act::MarkerChange::keep,
                                 true, "Slurm's library: " + answer.error().what});
    }
    return std::fputs(answer->c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (...) {
        return 1;
    }
}
