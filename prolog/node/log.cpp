#include "prolog/node/log.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/fd.hpp"
#include "prolog/order/order_text.hpp"

namespace gdrcheck::node {
namespace {

constexpr int facility_daemon = 3;
constexpr std::size_t longest_text = 900;  ///< RFC 3164 allows 1024 bytes for the whole

}  // namespace

Log::Log(std::string program, const char* socket_path) : program_(std::move(program)), socket_path_(socket_path) {}

void Log::set_subject(std::string subject) {
    subject_ = std::move(subject) + ": ";
}

void Log::say(Level level, std::string_view text) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path_.size() >= sizeof address.sun_path) return;
    std::copy(socket_path_.begin(), socket_path_.end(), address.sun_path);
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return;
    const auto line = fmt::format("<{}>{}[{}]: {}", facility_daemon * 8 + static_cast<int>(level), program_, ::getpid(),
                                  order::one_line(subject_ + std::string(text.substr(0, longest_text)), longest_text));
    // the answer does not matter: nothing may depend on a logger
    static_cast<void>(::sendto(socket.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

}  // namespace gdrcheck::node
