// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/glob.hpp"

#include <fnmatch.h>

namespace base {

bool matches_glob(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace base
