// gdrcheck: tells before a job starts whether NCCL will have GPUDirect RDMA on this node.
#include <csignal>
#include <exception>

#include "prolog/gdrcheck/cli.hpp"
#include "prolog/gdrcheck/output.hpp"

int main(int argc, char** argv) {
    const auto start = gdrcheck::cli::Clock::now();
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), not the end of the process
    gdrcheck::cli::hold_standard_descriptors();
    try {
        return gdrcheck::cli::run_command_line(argc, argv, start);
    } catch (const std::exception& exception) {
        gdrcheck::cli::say(exception.what());
    } catch (...) {
        gdrcheck::cli::say("unknown internal error");
    }
    return gdrcheck::cli::exit_unknown;
}
