// One order carried out: asks Slurm for its view, decides, acts. Runs behind a deadline.
#pragma once

#include "prolog/order/order_text.hpp"

namespace gdrcheck::slurm {

[[nodiscard]] order::Answer carry_out(const act::Order& order);

}  // namespace gdrcheck::slurm
