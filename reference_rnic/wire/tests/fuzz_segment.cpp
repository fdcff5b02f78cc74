// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace rnic::wire;
using test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = test::fuzz_input(data, size);
  require(!describe_ulpdu(input).empty(), "any ULPDU has a description");
  const auto segment = parse_segment(input);
  if (!segment) return 0;
  const Bytes header = segment->header();
  require(std::ranges::equal(header, input.first(header.size())), "the header is what came");
  require(std::ranges::equal(segment->payload, input.subspan(header.size())),
          "the payload is all that stands behind the header");
  require(describe_ulpdu(input).starts_with(describe(*segment).substr(0, 4)),
          "the notation begins with the segment's");
  return 0;
}
