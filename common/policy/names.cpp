#include "common/policy/policy.hpp"

namespace gdrcheck {

const char* to_string(Severity severity) {
    switch (severity) {
        case Severity::fail:
            return "fail";
        case Severity::warn:
            return "warn";
        case Severity::ignore:
            return "ignore";
    }
    return "?";
}

const char* to_string(OnFail value) {
    switch (value) {
        case OnFail::drain:
            return "drain";
        case OnFail::report:
            return "report";
        case OnFail::off:
            return "off";
    }
    return "?";
}

const char* to_string(Require value) {
    switch (value) {
        case Require::any:
            return "any";
        case Require::peermem:
            return "peermem";
        case Require::dmabuf:
            return "dmabuf";
    }
    return "?";
}

const char* to_string(ExportWhen value) {
    switch (value) {
        case ExportWhen::multi_node:
            return "multi-node";
        case ExportWhen::always:
            return "always";
        case ExportWhen::option:
            return "option";
        case ExportWhen::off:
            return "off";
    }
    return "?";
}

}  // namespace gdrcheck
