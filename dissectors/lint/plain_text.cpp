// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/plain_text.hpp"

#include <iterator>

#include <fmt/format.h>

namespace dissectors::lint {

std::string plain(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c >= ' ' && c <= '~')
      result += c;
    else
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace dissectors::lint
