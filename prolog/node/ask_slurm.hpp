// Runs gdrcheck-slurm with one order and takes its answer. libslurm is in that program only: a Slurm upgrade that
// breaks it cannot break a prolog that has nothing to ask.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "prolog/order/order_text.hpp"

namespace gdrcheck::node {

/// Error: the program is missing, could not be started, crashed, hung or said something else.
[[nodiscard]] Result<order::Answer> ask_slurm(const order::Request& request, const std::string& slurm_conf);

}  // namespace gdrcheck::node
