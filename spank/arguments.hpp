// The administrator's words after the plugin's path in plugstack.conf.
#pragma once

#include <string>

namespace gdrcheck::spank {

struct Arguments {
    std::string run_directory;              ///< run_dir=: where the prolog leaves the job files
    std::string helper;                     ///< helper=: the program that checks a node within an allocation
    std::string device_directory = "/dev";  ///< device_dir=: where the nvidiaN device files are
};

/// Unknown words are logged and left out; only absolute paths are taken.
[[nodiscard]] Arguments parse_arguments(int count, char** words);

}  // namespace gdrcheck::spank
