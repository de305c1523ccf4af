#include "common/facts/port_state.hpp"

namespace gdrcheck {

const char* to_string(PortState state) {
    switch (state) {
        case PortState::nop:
            return "NOP";
        case PortState::down:
            return "DOWN";
        case PortState::init:
            return "INIT";
        case PortState::armed:
            return "ARMED";
        case PortState::active:
            return "ACTIVE";
        case PortState::active_defer:
            return "ACTIVE_DEFER";
    }
    return "unknown";
}

}  // namespace gdrcheck
