// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 4.2, 4.3 and 6: what the tester sends is received where TCP's sequence numbers pass
// 2^32, be it in a Marker, in a header, in the payload or between FPDUs. An LLP chooses its own numbers:
// the IUT's wrap only on long connections, and no case makes one.
#include "reference_rnic/llp/sequence_numbers.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {
namespace {

/// Octets of the stream of FPDUs after which the numbers wrap.
constexpr std::uint32_t places_without_markers[] = {0,  1,  2,  3,  4,    6,    16,
                                                    18, 19, 20, 24, 1000, 1460, 3000};
/// With Markers: around the first one, the next one and what lies between them.
constexpr std::uint32_t places_with_markers[] = {0,   1,   2,   4,   5,    6,    8,    20,  24,
                                                 500, 508, 510, 511, 512,  513,  514,  515, 516,
                                                 518, 520, 532, 600, 1024, 1026, 1028, 1536};

/// During its lifetime, the tester's connections have numbers that wrap `place` octets after the Request.
class WrappingNumbers {
 public:
  WrappingNumbers(Body& test, const StartupFrame& request, std::uint32_t place)
      : numbers_(dynamic_cast<rnic::llp::SequenceNumbers*>(&test.context().network)) {
    if (numbers_ == nullptr) test.stop(Verdict::not_applicable, "the link has no sequence numbers");
    const auto before = static_cast<std::uint32_t>(request.encode().size()) + place;
    if (!numbers_->begin_at(0U - before))
      test.stop(Verdict::inconclusive,
                "the tester may not choose its sequence numbers: CAP_NET_ADMIN is missing");
  }
  ~WrappingNumbers() { static_cast<void>(numbers_->begin_at({})); }
  WrappingNumbers(const WrappingNumbers&) = delete;
  WrappingNumbers& operator=(const WrappingNumbers&) = delete;

 private:
  rnic::llp::SequenceNumbers* numbers_;
};

/// Sends and a long Write, whose headers, pads and Markers lie at all places, are received whole.
void expect_received_across(Body& test, std::uint32_t place) {
  const StartupFrame request = mpa_request();
  const WrappingNumbers wrapping(test, request, place);
  test.establish({.request = request});
  for (const std::uint32_t size : {1U, 300U, 500U}) {
    const Work receive = test.iut.post_receive(size);
    test.peer.send(send_message(payload(size)));
    test.expect(receive, completes().with_length(size));
    test.expect(receive.buffer, holds(payload(size)));
  }
  const Region region = test.iut.register_memory(4096, access::remote_write);
  test.peer.send(rdma_write(region.stag, region.base, payload(4000)));
  test.expect(region, holds(payload(4000)));
}

}  // namespace

CONFORMANCE_CASE(fpdus_are_received_where_sequence_numbers_wrap,
                 rules("mpa.receive.ulpdu-and-length-to-ddp")) {
  for (const std::uint32_t place : places_without_markers)
    row(fmt::format("after {} octets", place), [&] { expect_received_across(*this, place); });
}

CONFORMANCE_CASE(markers_are_received_where_sequence_numbers_wrap,
                 rules("mpa.markers.receiver-handles-sequence-wrap"),
                 configured({.markers = true})) {
  for (const std::uint32_t place : places_with_markers)
    row(fmt::format("after {} octets", place), [&] { expect_received_across(*this, place); });
}

CASES_OF_FILE(mpa, sequence_wrap)

}  // namespace suite::cases
