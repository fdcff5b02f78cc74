// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <vector>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/tests/format_fpdu.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace rnic::wire;
using test::require;

namespace {

/// Room for the largest FPDU with its Markers.
constexpr std::size_t room = fpdu_size(max_ulpdu) + 1024;

void check_format_undoes_parse(const ParsedFpdu& parsed, Bytes input, const FpduOptions& options) {
  std::vector<std::byte> wire(room), scratch(room);
  Writer out(wire);
  test::format_fpdu(out, std::span(&parsed.ulpdu, 1), options);
  require(out.size() == parsed.consumed, "format gives the length that parse consumed");
  // Only the pad, an unused CRC field and the reserved bits of Markers may differ from what came.
  if (options.crc && !options.markers && parsed.pad_is_zero)
    require(std::ranges::equal(out.written(), input.first(parsed.consumed)),
            "format undoes parse, octet for octet");
  const auto again = parse_fpdu(out.written(), options, scratch);
  require(again && std::ranges::equal(again->ulpdu, parsed.ulpdu), "what is formatted is parsed");
}

void check(Bytes input, const FpduOptions& options) {
  std::vector<std::byte> scratch(fpdu_size(max_ulpdu));
  const auto wire_size = fpdu_wire_size(input, options);
  const auto parsed = parse_fpdu(input, options, scratch);
  if (!parsed) {
    const bool whole = wire_size && *wire_size <= input.size();
    require(whole == (parsed.error() != FpduError::incomplete),
            "incomplete is said exactly while octets are missing");
    return;
  }
  require(wire_size && *wire_size == parsed->consumed, "the size is known from the length field");
  require(parsed->consumed <= input.size(), "no more is consumed than there is");
  check_format_undoes_parse(*parsed, input, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = test::fuzz_input(data, size);
  for (bool crc : {true, false}) {
    check(input, {.crc = crc, .markers = false, .position = 0});
    for (std::uint64_t position : {0U, 4U, 0x1ecU, 504U, 508U})
      check(input, {.crc = crc, .markers = true, .position = position});
  }
  return 0;
}
