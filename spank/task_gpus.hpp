// Which of the node's GPUs a task sees, from what is certain; nothing where it is not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/state/job_file.hpp"

namespace gdrcheck::spank {

/// What the task may open of /dev/nvidia<minor>.
struct DeviceAccess {
    std::vector<int> open;  ///< minors, ascending
    bool known = false;     ///< false: at least one device could not be told
};

/// Asks the kernel, which asks the device cgroup, without opening a device: opening one would wake the driver.
[[nodiscard]] DeviceAccess find_device_access(const std::string& device_directory);

/// Indices into `gpus` in the order of CUDA_VISIBLE_DEVICES (`visible`; nullopt: not set, so all that may be opened).
/// CUDA counts the devices that it can open, so index N is the N-th of those, with a device cgroup or without. That
/// holds only while minor numbers and PCI addresses are in the same order; else, and when a device in the list is not
/// one of `gpus`, the answer is empty.
[[nodiscard]] std::vector<std::size_t> map_task_gpus(const std::optional<std::string>& visible,
                                                     const std::vector<state::JobGpu>& gpus,
                                                     const DeviceAccess& access);

}  // namespace gdrcheck::spank
