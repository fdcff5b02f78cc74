// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <vector>

#include "reference_rnic/wire/notation.hpp"
#include "reference_rnic/wire/terminate.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace rnic::wire;
using test::require;

namespace {

void check_terminate(Bytes payload) {
  const auto terminate = parse_terminate(payload);
  if (!terminate) {
    if (terminate.error() == TerminateError::trailing_octets)
      require(payload.size() > sizeof(TerminateControl), "trailing octets are behind something");
    return;
  }
  require(!describe(*terminate).empty(), "a Terminate has a description");
  require(terminate->segment_length.has_value() == (terminate->m || terminate->d),
          "the length is there with M or D");
  require(terminate->ddp_header.empty() != terminate->d, "the DDP header is there with D");
  require(terminate->rdmap_header.empty() != terminate->r, "the RDMA header is there with R");
  std::vector<std::byte> buffer(payload.size());
  Writer out(buffer);
  format_terminate(out, *terminate);
  require(!out.overflowed() && std::ranges::equal(out.written(), payload),
          "format undoes parse, octet for octet");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes payload = test::fuzz_input(data, size);
  check_terminate(payload);

  const UntaggedHeader header{.rdmap = RdmapControl::make(Opcode::terminate),
                              .queue_number = static_cast<std::uint32_t>(Queue::terminate),
                              .message_sequence_number = 1U};
  std::vector<std::byte> ulpdu(sizeof header + size);
  Writer out(ulpdu);
  out.write(header);
  out.write(payload);
  require(describe_ulpdu(ulpdu).starts_with("Terminate L qn=2 msn=1 mo=0"),
          "the notation names the message");
  return 0;
}
