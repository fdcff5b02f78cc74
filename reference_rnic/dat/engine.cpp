// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/dat/engine.hpp"

namespace rnic::dat {

Engine& engine() {
  static Engine& shared = *new Engine;  // NOLINT: threads may still use it while the process ends
  return shared;
}

}  // namespace rnic::dat
