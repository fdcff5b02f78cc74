// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace rnic::wire;
using test::require;

namespace {

void check(MpaFrameKind kind, Bytes input) {
  const auto parsed = parse_mpa_frame(kind, input);
  if (!parsed) return;
  const MpaFrame& frame = parsed->frame;
  require(parsed->consumed <= input.size(), "no more is consumed than there is");
  require(frame.private_data.size() <= mpa_max_private_data, "private data stays within 512");
  require(!describe(frame).empty(), "a frame has a description");

  std::array<std::byte, mpa_frame_header_size + mpa_max_private_data> buffer;
  Writer out(buffer);
  format_mpa_frame(out, kind, frame.flags, frame.revision, frame.enhanced(),
                   frame.ulp_private_data());
  require(std::ranges::equal(out.written(), input.first(parsed->consumed)),
          "format undoes parse, octet for octet");

  const auto shorter = parse_mpa_frame(kind, input.first(parsed->consumed - 1));
  require(!shorter && shorter.error() == MpaFrameError::incomplete,
          "a frame without its last octet is incomplete");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(MpaFrameKind::request, test::fuzz_input(data, size));
  check(MpaFrameKind::reply, test::fuzz_input(data, size));
  return 0;
}
