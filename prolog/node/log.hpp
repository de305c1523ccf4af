// To syslog, without ever waiting for it: a datagram that the logger cannot take at once is lost.
#pragma once

#include <string>
#include <string_view>

namespace gdrcheck::node {

enum class Level { error = 3, warning = 4, info = 6 };  ///< of syslog(3)

class Log {
  public:
    explicit Log(std::string program, const char* socket_path = "/dev/log");
    void say(Level level, std::string_view text) const;
    /// In front of every line from now on: node and job.
    void set_subject(std::string subject);

  private:
    std::string program_;
    std::string socket_path_;
    std::string subject_;
};

}  // namespace gdrcheck::node
