// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets as a command and as an event: refused in one line, or a message that is the same after
// it is written and read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "suite/iut/message_lines.hpp"

using namespace suite::iut;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

void check_refusal(const ParseError& error) {
  require(!error.what.empty(), "a refusal says why");
  require(error.what.find('\n') == std::string::npos, "in one line");
}

void check_command(std::string_view line) {
  const auto parsed = parse_command(line);
  if (!parsed) return check_refusal(parsed.error());
  const std::string written = format(parsed.value().number, parsed.value().command);
  const auto again = parse_command(written);
  require(static_cast<bool>(again), "what is written is read");
  require(format(again.value().number, again.value().command) == written,
          "and written the same again");
}

void check_event(std::string_view line) {
  const auto parsed = parse_event(line);
  if (!parsed) return check_refusal(parsed.error());
  const std::string written = format(parsed.value());
  const auto again = parse_event(written);
  require(static_cast<bool>(again), "what is written is read");
  require(format(again.value()) == written, "and written the same again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view octets(reinterpret_cast<const char*>(data), size);
  check_command(octets);
  check_event(octets);
  return 0;
}
