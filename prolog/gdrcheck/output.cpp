#include "prolog/gdrcheck/output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/report/terminal_text.hpp"

namespace gdrcheck::cli {
namespace {

/// 0 or an errno.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

bool set_and_not_empty(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

}  // namespace

void hold_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        // Read only, so that what is written to a closed stdout still fails. open takes the lowest free number: fd.
        (void)::open("/dev/null", O_RDONLY);
    }
}

report::Style terminal_style() {
    constexpr int narrowest = 40;
    constexpr int widest = 120;
    report::Style style;
    if (::isatty(STDOUT_FILENO) == 0) return style;
    const char* terminal = std::getenv("TERM");
    const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
    style.colour = !is_dumb && !set_and_not_empty("NO_COLOR");
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        style.width = std::clamp(static_cast<int>(size.ws_col), narrowest, widest);
    }
    return style;
}

int print_result(std::string_view text, int exit_code) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error == 0) return exit_code;
    if (error != EPIPE) say(fmt::format("cannot write the result to stdout: {}", std::strerror(error)));
    return exit_unknown;
}

void say(std::string_view text) {
    std::string message;
    while (!text.empty()) {
        const auto end = text.find('\n');
        message += "gdrcheck: " + report::printable(text.substr(0, end)) + '\n';
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    (void)write_all(STDERR_FILENO, message);
}

}  // namespace gdrcheck::cli
