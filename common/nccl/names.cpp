#include "common/nccl/model.hpp"

namespace gdrcheck::nccl {

const char* to_string(Path path) {
    switch (path) {
        case Path::LOC:
            return "LOC";
        case Path::NVL:
            return "NVL";
        case Path::NVB:
            return "NVB";
        case Path::C2C:
            return "C2C";
        case Path::PIX:
            return "PIX";
        case Path::PXB:
            return "PXB";
        case Path::P2C:
            return "P2C";
        case Path::PXN:
            return "PXN";
        case Path::PHB:
            return "PHB";
        case Path::SYS:
            return "SYS";
        case Path::NET:
            return "NET";
        case Path::DIS:
            return "DIS";
    }
    return "DIS";
}

const char* to_string(Via via) {
    switch (via) {
        case Via::none:
            return "none";
        case Via::dmabuf:
            return "dmabuf";
        case Via::peermem:
            return "peermem";
    }
    return "none";
}

const char* to_string(Tristate value) {
    switch (value) {
        case Tristate::no:
            return "no";
        case Tristate::yes:
            return "yes";
        case Tristate::unknown:
            return "unknown";
    }
    return "unknown";
}

const char* to_string(PeermemState state) {
    switch (state) {
        case PeermemState::registered:
            return "registered";
        case PeermemState::loaded:
            return "loaded";
        case PeermemState::absent:
            return "absent";
    }
    return "absent";
}

const char* to_string(GpuStatus status) {
    switch (status) {
        case GpuStatus::gdr:
            return "gdr";
        case GpuStatus::relay:
            return "relay";
        case GpuStatus::staged:
            return "staged";
        case GpuStatus::no_nic:
            return "no-nic";
        case GpuStatus::unknown:
            return "unknown";
    }
    return "unknown";
}

}  // namespace gdrcheck::nccl
