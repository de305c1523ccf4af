#include "spank/helper.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <vector>

namespace gdrcheck::spank {
namespace {

struct FileActions {
    posix_spawn_file_actions_t value{};
    FileActions() { ::posix_spawn_file_actions_init(&value); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { ::posix_spawn_file_actions_destroy(&value); }
};

struct Attributes {
    posix_spawnattr_t value{};
    Attributes() { ::posix_spawnattr_init(&value); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() { ::posix_spawnattr_destroy(&value); }
};

std::int64_t now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void sleep_ms(long milliseconds) {
    const timespec pause{.tv_sec = 0, .tv_nsec = milliseconds * 1'000'000};
    ::nanosleep(&pause, nullptr);
}

int spawn(pid_t& child, const HelperCall& call) {
    FileActions actions;
    Attributes attributes;
    int error = 0;
    for (const int descriptor : {0, 1, 2}) {
        if (error == 0) {
            error = ::posix_spawn_file_actions_addopen(&actions.value, descriptor, "/dev/null",
                                                       descriptor == 0 ? O_RDONLY : O_WRONLY, 0);
        }
    }
    if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions.value, 3);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    if (error == 0) error = ::posix_spawnattr_setsigmask(&attributes.value, &none);
    if (error == 0) error = ::posix_spawnattr_setsigdefault(&attributes.value, &all);
    if (error == 0) {
        error = ::posix_spawnattr_setflags(&attributes.value,
                                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    if (error != 0) return error;

    std::string program = call.program;
    std::string option = "--step";
    const std::array<char*, 3> argv{program.data(), option.data(), nullptr};
    std::vector<std::string> variables{
        "SLURM_JOB_ID=" + std::to_string(call.job_id),
        "SLURM_JOB_UID=" + std::to_string(call.uid),
        "SLURM_JOB_NUM_NODES=" + std::to_string(call.nodes),
        "SPANK_GDRCHECK_MODE=" + call.mode,
        "SLURMD_NODENAME=" + call.node_name,
    };
    if (!call.slurm_configuration.empty()) variables.push_back("SLURM_CONF=" + call.slurm_configuration);
    std::vector<char*> environment;
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    return ::posix_spawn(&child, program.c_str(), &actions.value, &attributes.value, argv.data(), environment.data());
}

}  // namespace

const char* run_helper(const HelperCall& call) {
    pid_t child = -1;
    if (spawn(child, call) != 0) return "the check could not be started";
    const auto end = now_ms() + call.deadline_ms;
    for (;;) {
        int status = 0;
        const pid_t reaped = ::waitpid(child, &status, WNOHANG);
        if (reaped == child) return nullptr;  // what it found is in the job file
        if (reaped < 0 && errno != EINTR) return "the check could not be waited for";
        if (now_ms() >= end) break;
        sleep_ms(1);
    }
    // It keeps its own, shorter deadline; one that is not even killed by now is stuck in the kernel and is left there.
    ::kill(child, SIGKILL);
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::waitpid(child, nullptr, WNOHANG) == child) break;
        sleep_ms(2);
    }
    return "the check gave no answer in time";
}

}  // namespace gdrcheck::spank
