// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/version.hpp"

#include "base/commit.hpp"

namespace base {

std::string_view version() { return RNIC_SUITE_VERSION; }

std::string_view commit() { return built_commit; }

std::string version_text(std::string_view program) {
  return std::string(program) + " " + RNIC_SUITE_VERSION + " (commit " + built_commit + ")";
}

}  // namespace base
