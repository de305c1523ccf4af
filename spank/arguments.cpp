#include "spank/arguments.hpp"

#include <string_view>

#include "common/base/text.hpp"
#include "spank/slurm_api.hpp"

namespace gdrcheck::spank {

Arguments parse_arguments(int count, char** words) {
    Arguments arguments{.run_directory = GDRCHECK_RUN_DIRECTORY, .helper = GDRCHECK_STEP_HELPER};
    for (int index = 0; words != nullptr && index < count; ++index) {
        if (words[index] == nullptr) continue;
        const std::string_view word{words[index]};
        const auto equals = word.find('=');
        const auto name = word.substr(0, equals);
        const auto value = equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
        std::string* const known = name == "run_dir"      ? &arguments.run_directory
                                   : name == "helper"     ? &arguments.helper
                                   : name == "device_dir" ? &arguments.device_directory
                                                          : nullptr;
        if (known != nullptr && value.starts_with('/')) {
            *known = value;
        } else {
            slurm_error("gdrcheck: plugstack.conf: %s is not run_dir=, helper= or device_dir= and an absolute path",
                        quoted(word).c_str());
        }
    }
    return arguments;
}

}  // namespace gdrcheck::spank
