// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets as the token of an agent that joins an event: a fault that is reported, or a token that
// is the same after it is written and read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "suite/iut/tls/join_token.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace suite::iut::tls;
  std::string error;
  const auto token = parse_join_token({reinterpret_cast<const char*>(data), size}, error);
  if (!token) {
    if (error.empty() || error.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const std::string text = head_of(*token) + "-----BEGIN ";
  const auto again = parse_join_token(text, error);
  if (!again || head_of(*again) != head_of(*token)) std::abort();
  return 0;
}
