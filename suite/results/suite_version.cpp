// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/suite_version.hpp"

#include "base/version.hpp"

namespace suite::results {

SuiteVersion suite_version() {
  return {.version = std::string(base::version()), .commit = std::string(base::commit())};
}

}  // namespace suite::results
