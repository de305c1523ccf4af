#include "common/base/deadline.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/base/fd.hpp"
#include "tests/support/tree.hpp"

using Catch::Matchers::ContainsSubstring;
using gdrcheck::Fd;
using gdrcheck::run_with_deadline;

namespace {

constexpr int long_enough_ms = 60'000;

[[noreturn]] void work_forever() {
    while (true) ::pause();
}

bool has_children() {
    return ::waitpid(-1, nullptr, WNOHANG) >= 0;
}

}  // namespace

TEST_CASE("a worker's answer comes back whole") {
    CHECK(run_with_deadline([] { return std::string("answer"); }, long_enough_ms).value() == "answer");
    CHECK(run_with_deadline([] { return std::string(); }, long_enough_ms).value().empty());
    CHECK_FALSE(has_children());
}

TEST_CASE("an answer larger than a pipe comes back whole") {
    std::string expected(10'000'000, 'x');
    for (std::size_t i = 0; i < expected.size(); i += 4099) expected[i] = static_cast<char>('a' + i % 26);
    CHECK(run_with_deadline([&] { return expected; }, long_enough_ms).value() == expected);
    CHECK_FALSE(has_children());
}

TEST_CASE("a worker that does not answer in time is killed, and said so") {
    const auto answer = run_with_deadline([]() -> std::string { work_forever(); }, 50);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error().what, ContainsSubstring("no answer within 50 ms; worker "));
    CHECK_THAT(answer.error().what, ContainsSubstring(", killed"));
    CHECK(answer.error().code == ETIME);
    CHECK_FALSE(has_children());
}

TEST_CASE("a worker that crashes is reported with its signal") {
    const auto answer = run_with_deadline(
        []() -> std::string {
            ::signal(SIGTERM, SIG_DFL);
            ::raise(SIGTERM);
            work_forever();
        },
        long_enough_ms);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error().what, ContainsSubstring("was killed by signal 15 (Terminated)"));
    CHECK_FALSE(has_children());
}

TEST_CASE("a worker that ends without an answer is reported with its exit code") {
    const auto answer = run_with_deadline([]() -> std::string { ::_exit(7); }, long_enough_ms);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error().what, ContainsSubstring("ended with exit code 7 and no answer"));
}

TEST_CASE("a worker out of memory is reported") {
    const auto answer = run_with_deadline([]() -> std::string { throw std::bad_alloc(); }, long_enough_ms);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error().what, ContainsSubstring("ran out of memory"));
}

TEST_CASE("half an answer is no answer") {
    const auto answer = run_with_deadline(
        []() -> std::string {
            static_cast<void>(!::write(3, "\x08\0\0\0\0\0\0\0half", 12));
            ::_exit(0);
        },
        long_enough_ms);
    REQUIRE_FALSE(answer.has_value());
    CHECK_THAT(answer.error().what, ContainsSubstring("no answer"));
}

TEST_CASE("a worker holds no descriptor of ours, not even those it could inherit") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);  // without O_CLOEXEC, as slurmd's are
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    const gdrcheck::test::TemporaryDirectory directory;
    const auto released = directory.path() + "/released";

    gdrcheck::Result<std::string> answer = gdrcheck::fail("not run");
    std::thread runner([&] {
        answer = run_with_deadline(
            [&] {
                while (!std::filesystem::exists(released)) ::usleep(1000);
                return std::string("was alive meanwhile");
            },
            long_enough_ms);
    });
    while (!has_children()) ::usleep(1000);
    writing.reset();
    pollfd end{.fd = reading.get(), .events = POLLIN, .revents = 0};
    CHECK(::poll(&end, 1, 10'000) == 1);
    CHECK((end.revents & POLLHUP) != 0);
    std::ofstream{released};
    runner.join();
    CHECK(answer.value() == "was alive meanwhile");
}

TEST_CASE("a worker has /dev/null for its standard three and a session of its own") {
    const auto answer = run_with_deadline(
        [] {
            std::string seen;
            for (int fd = 0; fd < 32; ++fd) {
                std::array<char, 256> name{};
                if (::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name.data(), name.size() - 1) < 0)
                    continue;
                seen += std::to_string(fd) + ' ' + std::string(name.data()).substr(0, 9) + '\n';
            }
            return seen + (::getsid(0) == ::getpid() ? "own session" : "our session");
        },
        long_enough_ms);
    REQUIRE(answer.has_value());
    CHECK_THAT(*answer, ContainsSubstring("0 /dev/null\n") || ContainsSubstring("0 /dev/nul\n"));
    CHECK_THAT(*answer, ContainsSubstring("3 pipe:["));
    CHECK_THAT(*answer, ContainsSubstring("own session"));
    CHECK_FALSE(answer->find("\n4 ") != std::string::npos);
}
