#include "common/checks/finding.hpp"

namespace gdrcheck {

const char* to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::fail:
            return "fail";
        case Outcome::warn:
            return "warn";
        case Outcome::unknown:
            return "unknown";
    }
    return "unknown";
}

}  // namespace gdrcheck
