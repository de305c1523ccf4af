#include "common/base/deadline.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "common/base/fd.hpp"

namespace gdrcheck {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t longest_answer = std::size_t{64} << 20;
constexpr int result_descriptor = 3;  ///< in the worker, the only one above the standard three
constexpr int exit_work_threw = 121;
constexpr int exit_answer_not_taken = 122;
constexpr milliseconds reap_time{200};  ///< how long a worker that is on its way out is waited for

/// An answer is its length and then its bytes: half of one is no answer.
using Length = std::uint64_t;

void close_from(unsigned first) {
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
    rlimit limit{};  // a kernel before 5.9
    const auto end = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min<rlim_t>(limit.rlim_cur, 1U << 20) : 1024U;
    for (auto fd = rlim_t{first}; fd < end; ++fd) ::close(static_cast<int>(fd));
}

bool write_all(int fd, const char* bytes, std::size_t size) {
    while (size > 0) {
        const auto written = ::write(fd, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Everything the worker does. Async-signal-unsafe calls are fine: the parent has one thread that matters, or is a
/// test.
[[noreturn]] void be_worker(const std::function<std::string()>& work, int result, pid_t parent) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_answer_not_taken);
    const int kept = ::fcntl(result, F_DUPFD, result_descriptor);
    const int null = ::open("/dev/null", O_RDWR);
    for (int standard = 0; standard < result_descriptor; ++standard) {
        if (null < 0) {
            ::close(standard);
        } else if (null != standard) {
            ::dup2(null, standard);
        }
    }
    if (kept < 0 || (kept != result_descriptor && ::dup2(kept, result_descriptor) < 0)) ::_exit(exit_answer_not_taken);
    close_from(result_descriptor + 1);
    std::string answer;
    try {
        answer = work();
    } catch (...) {
        ::_exit(exit_work_threw);
    }
    const Length length = answer.size();
    std::array<char, sizeof length> header{};
    std::memcpy(header.data(), &length, sizeof length);
    const bool sent = write_all(result_descriptor, header.data(), header.size()) &&
                      write_all(result_descriptor, answer.data(), answer.size());
    ::_exit(sent ? 0 : exit_answer_not_taken);
}

/// Reads until the end, the deadline (ETIME) or an error.
int receive(int fd, Clock::time_point deadline, std::string& received) {
    std::array<char, std::size_t{16} * 1024> buffer{};
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return ETIME;
        pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(left));
        if (ready < 0 && errno != EINTR) return errno;
        if (ready <= 0) continue;
        const auto got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno != EINTR && errno != EAGAIN) return errno;
        if (got == 0) return 0;
        if (got > 0) received.append(buffer.data(), static_cast<std::size_t>(got));
        if (received.size() > longest_answer + sizeof(Length)) return EFBIG;
    }
}

/// The answer in what was received, when all of it is there.
std::optional<std::string_view> whole_answer(std::string_view received) {
    Length length = 0;
    if (received.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, received.data(), sizeof length);
    received.remove_prefix(sizeof length);
    if (received.size() != length) return std::nullopt;
    return received;
}

/// Waits for the end of a worker that is about to end, never longer than `reap_time`. nullopt: it is still there.
std::optional<int> reap(pid_t worker) {
    const auto end = Clock::now() + reap_time;
    auto pause = std::chrono::microseconds(20);
    while (true) {
        int status = 0;
        const auto ended = ::waitpid(worker, &status, WNOHANG);
        if (ended == worker) return status;
        if (ended < 0 && errno != EINTR) return 0;  // SIGCHLD is ignored: the kernel has reaped it
        if (Clock::now() >= end) return std::nullopt;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(5000));
    }
}

/// The letter of proc(5) for what a process is doing: the third field of its stat, after a name in parentheses.
char state_of(pid_t process) {
    const Fd stat(::open(fmt::format("/proc/{}/stat", process).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 256> buffer{};
    const auto got = stat ? ::read(stat.get(), buffer.data(), buffer.size()) : -1;
    if (got <= 0) return '?';
    const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    const auto name_end = text.rfind(')');
    return name_end == std::string_view::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

std::string how_it_ended(pid_t worker, int status) {
    if (WIFSIGNALED(status)) {
        return fmt::format("worker {} was killed by signal {} ({})", worker, WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == exit_work_threw) return fmt::format("worker {} ran out of memory", worker);
    return fmt::format("worker {} ended with exit code {} and no answer", worker, WEXITSTATUS(status));
}

tl::unexpected<Error> give_up(pid_t worker, int deadline_ms) {
    const char state = state_of(worker);
    ::kill(worker, SIGKILL);
    const char* const left = reap(worker) ? "killed" : "left behind";
    return fail(fmt::format("no answer within {} ms; worker {} in state {}, {}", deadline_ms, worker, state, left),
                ETIME);
}

}  // namespace

Result<std::string> run_with_deadline(const std::function<std::string()>& work, int deadline_ms) {
    const auto deadline = Clock::now() + milliseconds(deadline_ms);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail(fmt::format("pipe for the worker: {}", std::generic_category().message(errno)), errno);
    }
    Fd reading(ends[0]);
    Fd writing(ends[1]);
    const pid_t parent = ::getpid();
    const pid_t worker = ::fork();
    if (worker < 0) {
        return fail(fmt::format("fork of the worker: {}", std::generic_category().message(errno)), errno);
    }
    if (worker == 0) be_worker(work, writing.get(), parent);
    writing.reset();

    std::string received;
    const int error = receive(reading.get(), deadline, received);
    if (error == ETIME) return give_up(worker, deadline_ms);
    if (error != 0) {
        ::kill(worker, SIGKILL);
        reap(worker);
        return fail(fmt::format("answer of worker {}: {}", worker, std::generic_category().message(error)), error);
    }
    const auto status = reap(worker);
    if (const auto answer = whole_answer(received)) return std::string(*answer);
    if (!status) {  // it closed the pipe and lives on
        return give_up(worker, deadline_ms);
    }
    return fail(how_it_ended(worker, *status));
}

}  // namespace gdrcheck
