#include "prolog/node/ask_slurm.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "common/base/fd.hpp"
#include "prolog/node/places.hpp"

namespace gdrcheck::node {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int margin_ms = 300;  ///< for the program itself, beyond the deadline it keeps
constexpr milliseconds reap_time{200};
constexpr int exit_not_started = 127;

tl::unexpected<Error> failed(const char* doing) {
    return fail(fmt::format("{}: {}", doing, std::strerror(errno)), errno);
}

/// Of the child, after fork: its three descriptors, no signal of ours held back, an environment without the job's.
[[noreturn]] void become(const std::string& program, const std::string& slurm_conf, int input, int output) {
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    // above the standard three first, so that no dup2 closes what the next one needs
    const int in = ::fcntl(input, F_DUPFD_CLOEXEC, 3);
    const int out = ::fcntl(output, F_DUPFD_CLOEXEC, 3);
    if (in < 0 || out < 0 || null < 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(null, 2) < 0)
        ::_exit(exit_not_started);
#ifdef SYS_close_range
    ::syscall(SYS_close_range, 3U, ~0U, 0U);  // slurmd's descriptors that are not close-on-exec
#endif
    if (::chdir("/") != 0) ::_exit(exit_not_started);
    std::string name = program;
    std::string configuration = "SLURM_CONF=" + slurm_conf;
    std::array<char*, 2> arguments{name.data(), nullptr};
    std::array<char*, 2> environment{slurm_conf.empty() ? nullptr : configuration.data(), nullptr};
    ::execve(program.c_str(), arguments.data(), environment.data());
    ::_exit(exit_not_started);
}

/// Everything the program says, until it closes its output; nullopt: the deadline.
std::optional<std::string> receive(int fd, Clock::time_point deadline) {
    std::string text;
    std::array<char, 1024> buffer{};
    while (text.size() <= order::largest_text) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return std::nullopt;
        pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
        const auto got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

/// Ends the child and waits for it, but not for one the kernel holds. nullopt: still there.
std::optional<int> end(pid_t child, bool kill) {
    if (kill) ::kill(child, SIGKILL);
    const auto until = Clock::now() + reap_time;
    while (true) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child) return status;
        if (Clock::now() >= until) {
            if (kill) return std::nullopt;
            ::kill(child, SIGKILL);
            return end(child, true);
        }
        std::this_thread::sleep_for(milliseconds(1));
    }
}

std::string how_it_ended(const std::string& program, std::optional<int> status) {
    if (!status) return program + " cannot be ended";
    if (WIFSIGNALED(*status)) return fmt::format("{} was killed by signal {}", program, WTERMSIG(*status));
    if (WEXITSTATUS(*status) == exit_not_started)
        return program + " could not be started; is the Slurm library it was built for still installed?";
    return fmt::format("{} ended with exit code {}", program, WEXITSTATUS(*status));
}

}  // namespace

Result<order::Answer> ask_slurm(const order::Request& request, const std::string& slurm_conf) {
    const auto program = sibling_program("gdrcheck-slurm");
    if (!program) return tl::unexpected(program.error());
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0) return failed("pipe");
    Fd order_end(to[0]);
    Fd order_writer(to[1]);
    if (::pipe2(from.data(), O_CLOEXEC) != 0) return failed("pipe");
    const Fd answer_end(from[0]);
    Fd answer_writer(from[1]);
    // Fits the pipe, and both of its ends are ours: cannot wait and cannot raise SIGPIPE.
    const auto text = order::to_text(request);
    if (::write(order_writer.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return failed("write");

    const auto child = ::fork();
    if (child < 0) return failed("fork");
    if (child == 0) become(*program, slurm_conf, order_end.get(), answer_writer.get());
    order_end.reset();
    order_writer.reset();
    answer_writer.reset();
    const auto deadline_ms = request.rpc_ms + order::longest_jitter_ms + order::settle_ms + margin_ms;
    const auto said = receive(answer_end.get(), Clock::now() + milliseconds(deadline_ms));
    const auto status = end(child, !said);
    if (!said) return fail(fmt::format("{} gave no answer within {} ms", *program, deadline_ms), ETIME);
    auto answer = order::parse_answer(*said);
    if (!answer) return fail(said->empty() ? how_it_ended(*program, status) : *program + ": " + answer.error().what);
    return answer;
}

}  // namespace gdrcheck::node
