// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 3.3, 4.4, 5.2: RDMA Read with the IUT as Data Source (it answers) and as Data
// Sink (it asks).
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t sink_stag = 0xABCD1234;
constexpr std::uint64_t sink_offset = 0x1122334455667788;

// A Read of `length` octets at `offset` of the region, into our sink.
Outgoing read_of(const Region& region, std::uint32_t length, std::uint64_t offset = 0) {
  return read_request({.sink_stag = sink_stag,
                       .sink_offset = sink_offset,
                       .length = length,
                       .source_stag = region.stag,
                       .source_offset = region.base + offset});
}

Octets part(const Octets& all, std::size_t from, std::size_t length) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace

// ---------------------------------------------------------------- the IUT as Data Source

CONFORMANCE_CASE(read_is_answered_with_the_octets_of_the_source,
                 rules("rdmap.read.response-data-from-source", "rdmap.read.valid-request-answered",
                       "rdmap.read.sink-stag-copied", "rdmap.read.sink-to-copied"),
                 in_both_roles, over_both_families) {
  Region source = iut.register_memory(256, access::remote_read);
  iut.write_memory(source, payload(256));
  peer.send(read_of(source, 100, 17));
  const Message response =
      expect_message(Opcode::read_response, "rdmap.read.valid-request-answered");
  expect_that(response.stag() == sink_stag, fmt::format("STag {:#010x}", sink_stag),
              fmt::format("{:#010x}", response.stag()), "rdmap.read.sink-stag-copied");
  expect_that(response.tagged_offset() == sink_offset, fmt::format("TO {:#x}", sink_offset),
              fmt::format("{:#x}", response.tagged_offset()), "rdmap.read.sink-to-copied");
  expect_that(response.payload == part(payload(256), 17, 100), "octets 17 to 116 of the source",
              rnic::wire::hex(response.payload), "rdmap.read.response-data-from-source");
}

CONFORMANCE_CASE(read_response_is_as_long_as_asked,
                 rules("rdmap.read.response-length-matches-request")) {
  Region source = iut.register_memory(8192, access::remote_read);
  iut.write_memory(source, payload(8192));
  for (const std::uint32_t length : {1U, 2U, 3U, 4U, 1023U, 4096U, 8192U}) {
    peer.send(read_of(source, length));
    expect(peer, tagged_message(Opcode::read_response, sink_stag, sink_offset,
                                part(payload(8192), 0, length)));
  }
}

CONFORMANCE_CASE(zero_length_read_is_answered, rules("rdmap.read.zero-length-answered")) {
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_of(source, 0));
  const Message response = expect_message(Opcode::read_response);
  expect_that(
      response.payload.empty() && response.segments.size() == 1, "one segment without payload",
      fmt::format("{} segments, {} octets", response.segments.size(), response.payload.size()));
}

CONFORMANCE_CASE(zero_length_read_is_not_validated, rules("rdmap.read.zero-length-not-validated")) {
  peer.send(
      read_request({.sink_stag = sink_stag, .source_stag = 0, .source_offset = ~std::uint64_t{0}}));
  expect(peer, message(Opcode::read_response, Octets{}));
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_request(
      {.sink_stag = sink_stag, .source_stag = source.stag_with_other_key(), .source_offset = 7}));
  expect(peer, message(Opcode::read_response, Octets{}));
}

CONFORMANCE_CASE(each_read_request_gets_one_response,
                 rules("rdmap.read.one-request-one-response",
                       "rdmap.read.requests-processed-in-order")) {
  Region source = iut.register_memory(64, access::remote_read);
  iut.write_memory(source, payload(64));
  for (std::uint32_t i = 1; i <= 4; ++i) {
    peer.send(read_of(source, 8 * i));
    expect(peer, message(Opcode::read_response, part(payload(64), 0, 8 * i)));
  }
  expect_still_working("rdmap.read.one-request-one-response");
}

CONFORMANCE_CASE(read_responses_come_in_the_order_of_the_requests,
                 rules("rdmap.read.responses-in-request-order"), in_both_roles) {
  Region source = iut.register_memory(64, access::remote_read);
  iut.write_memory(source, payload(64));
  peer.send_together({read_of(source, 5), read_of(source, 6)});
  expect(peer, message(Opcode::read_response, part(payload(64), 0, 5)));
  expect(peer, message(Opcode::read_response, part(payload(64), 0, 6)));
}

CONFORMANCE_CASE(read_sees_an_earlier_write, rules("rdmap.order.read-sees-earlier-write")) {
  const Region region = iut.register_memory(64, access::remote_read_write);
  peer.send_together({rdma_write(region.stag, region.base, payload(32)), read_of(region, 32)});
  expect(peer, message(Opcode::read_response, payload(32)));
}

CONFORMANCE_CASE(read_request_takes_no_receive, rules("rdmap.read.request-not-delivered")) {
  const Work receive = iut.post_receive(64);
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_of(source, 16));
  static_cast<void>(expect_message(Opcode::read_response));
  peer.send(send_message(payload(10)));
  expect(receive, completes().with_length(10));
}

CONFORMANCE_CASE(read_of_an_unknown_stag_is_terminated,
                 rules("rdmap.terminate.code-invalid-stag", "rdmap.read.source-stag-validated"),
                 in_both_roles) {
  const Region source = iut.register_memory(64, access::remote_read);
  Outgoing request = read_request({.sink_stag = sink_stag,
                                   .length = 8,
                                   .source_stag = source.stag_with_other_key(),
                                   .source_offset = source.base});
  peer.send(request);
  expect_rejection({cause::rdmap_invalid_stag}, "rdmap.read.source-stag-validated",
                   "rdmap.terminate.code-invalid-stag");
}

CONFORMANCE_CASE(read_beyond_the_source_is_terminated,
                 rules("rdmap.terminate.code-base-or-bounds", "rdmap.read.source-to-validated"),
                 over_both_families) {
  for (const std::uint64_t offset : {57ULL, 64ULL, 4096ULL}) {
    row(fmt::format("8 octets at {} of 64", offset), [&] {
      const Region source = iut.register_memory(64, access::remote_read);
      peer.send(read_of(source, 8, offset));
      expect_rejection({cause::rdmap_base_or_bounds}, "rdmap.read.source-to-validated",
                       "rdmap.terminate.code-base-or-bounds");
    });
  }
}

CONFORMANCE_CASE(read_whose_offset_wraps_is_terminated,
                 rules("rdmap.terminate.code-to-wrap", "rdmap.read.source-to-validated")) {
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_request({.sink_stag = sink_stag,
                          .length = 16,
                          .source_stag = source.stag,
                          .source_offset = ~std::uint64_t{0} - 7}));
  // Such a range is out of bounds too, and no text says which is to be checked first
  // (docs/disputes.md D11).
  expect_rejection({cause::rdmap_to_wrap, cause::rdmap_base_or_bounds},
                   "rdmap.read.source-to-validated", "rdmap.terminate.code-to-wrap");
}

CONFORMANCE_CASE(read_without_the_access_right_is_terminated,
                 rules("rdmap.terminate.code-access-rights",
                       "sec.buffer.write-only-not-readable")) {
  const Region write_only = iut.register_memory(64, access::remote_write);
  peer.send(read_of(write_only, 8));
  expect_rejection({cause::rdmap_access_rights}, "sec.buffer.write-only-not-readable",
                   "rdmap.terminate.code-access-rights");
}

CONFORMANCE_CASE(read_of_another_domain_is_terminated,
                 rules("rdmap.terminate.code-stag-not-associated")) {
  const Region foreign = iut.register_memory(64, access::remote_read, 0x5A, iut.create_domain());
  peer.send(read_of(foreign, 8));
  expect_rejection({cause::rdmap_stag_not_associated}, "rdmap.terminate.code-stag-not-associated",
                   "rdmap.terminate.code-stag-not-associated");
}

CONFORMANCE_CASE(bad_read_request_gets_no_response, rules("rdmap.read.invalid-request-surfaced")) {
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_of(source, 65));
  expect(peer, any_terminate() | advisory(torn_down()));
}

CONFORMANCE_CASE(terminate_for_a_read_carries_its_headers,
                 rules("rdmap.terminate.protection-error-rdma-header",
                       "rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
                       "rdmap.terminate.r-bit-per-figure")) {
  const Region source = iut.register_memory(64, access::remote_read);
  const Outgoing request = read_of(source, 65);
  const Octets ulpdu = peer.prepare(request).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  const Arrival arrival = expect(peer, any_terminate());
  const auto terminate = arrival.terminate();
  const Octets ddp(ulpdu.begin(), ulpdu.begin() + rnic::wire::untagged_header_size);
  const Octets rdmap(ulpdu.begin() + rnic::wire::untagged_header_size, ulpdu.end());
  expect_that(terminate->r, "R = 1", rnic::wire::describe(*terminate),
              "rdmap.terminate.r-bit-per-figure");
  expect_that(std::ranges::equal(terminate->ddp_header, ddp), rnic::wire::hex(ddp),
              rnic::wire::hex(terminate->ddp_header), "rdmap.terminate.ddp-header-copied");
  expect_that(std::ranges::equal(terminate->rdmap_header, rdmap), rnic::wire::hex(rdmap),
              rnic::wire::hex(terminate->rdmap_header),
              "rdmap.terminate.protection-error-rdma-header");
  expect_that(terminate->segment_length == ulpdu.size(),
              fmt::format("DDP Segment Length {}", ulpdu.size()),
              terminate->segment_length ? fmt::format("{}", *terminate->segment_length) : "none",
              "rdmap.terminate.segment-length-value");
}

CONFORMANCE_CASE(read_queue_holds_as_many_requests_as_granted,
                 rules("rdmap.resources.read-queue-holds-ird"),
                 needs(capability::enhanced_startup)) {
  establish({.request = mpa_request().with_enhanced({.ird = 1, .ord = 4}),
             .parameters = {.private_data = {}, .ird = 4, .ord = {}},
             .opening = true});
  const auto granted = peer.raw().received_frame()->frame().enhanced();
  expect_that(granted && granted->ird >= 4, "IRD 4 or more in the Reply",
              granted ? fmt::format("IRD {}", granted->ird) : "none");
  Region source = iut.register_memory(64, access::remote_read);
  iut.write_memory(source, payload(64));
  std::vector<Outgoing> requests;
  for (std::uint32_t i = 1; i <= 4; ++i) requests.push_back(read_of(source, i));
  peer.send_together(requests);
  for (std::uint32_t i = 1; i <= 4; ++i)
    expect(peer, message(Opcode::read_response, part(payload(64), 0, i)));
}

// ---------------------------------------------------------------- the IUT as Data Sink

CONFORMANCE_CASE(iut_asks_for_a_read_in_the_right_form,
                 rules("rdmap.read.request-header-format", "rdmap.read.request-qn-field-one",
                       "rdmap.read.request-carries-no-payload"),
                 in_both_roles) {
  let_iut_send();
  const Work read = iut.post_read(100, 0x01020304, 0x1000000020);
  const Message request = expect_message(Opcode::read_request, "rdmap.read.request-qn-field-one");
  expect_that(request.payload.size() == sizeof(rnic::wire::ReadRequestHeader),
              "28 octets behind the DDP header", fmt::format("{} octets", request.payload.size()),
              "rdmap.read.request-carries-no-payload");
  expect_that(request.queue() == 1, "queue 1", fmt::format("queue {}", request.queue()),
              "rdmap.read.request-qn-field-one");
  const auto fields = request.read_request();
  expect_that(
      fields && fields->source_stag == 0x01020304 && fields->source_offset == 0x1000000020 &&
          fields->length == 100 && fields->sink_stag == read.buffer.stag &&
          fields->sink_offset == read.buffer.base,
      fmt::format("SinkSTag {:#010x} SinkTO {:#x} size 100 SrcSTag 0x01020304 SrcTO 0x1000000020",
                  read.buffer.stag, read.buffer.base),
      rnic::wire::hex(request.payload), "rdmap.read.request-header-format");
}

CONFORMANCE_CASE(read_completes_with_the_data_of_the_response,
                 rules("rdmap.read.response-delivered-to-ulp"), in_both_roles, over_both_families) {
  let_iut_send();
  const Work read = iut.post_read(3000, 0x01020304, 0);
  const Message request = expect_message(Opcode::read_request);
  peer.send(read_response(request.read_request()->sink_stag, request.read_request()->sink_offset,
                          payload(3000)));
  expect(read, completes().with_length(3000));
  expect(read.buffer, holds(payload(3000)));
}

CONFORMANCE_CASE(read_does_not_complete_before_its_last_segment,
                 rules("rdmap.order.read-completes-after-response")) {
  let_iut_send();
  const Work read = iut.post_read(64, 0x01020304, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  auto segments = peer.prepare(
      read_response(request->sink_stag, request->sink_offset, payload(64)).with_segments_of(32));
  peer.send(segments.front());
  expect_none(completion_of(read));
  peer.send(segments.back());
  expect(read, completes().with_length(64));
}

CONFORMANCE_CASE(iut_keeps_within_its_outbound_limit,
                 rules("rdmap.resources.outbound-limit-kept",
                       "mpa.enhanced.responder-ord-within-initiator-ird"),
                 needs(capability::enhanced_startup)) {
  establish({.request = mpa_request().with_enhanced({.ird = 2, .ord = 2}),
             .parameters = {.private_data = {}, .ird = {}, .ord = 8},
             .opening = true});
  std::vector<Work> reads;
  for (int i = 0; i < 4; ++i) reads.push_back(iut.post_read(8, 0x01020304, 0));
  const auto first = expect_message(Opcode::read_request).read_request();
  const auto second = expect_message(Opcode::read_request).read_request();
  expect(peer, silence());
  peer.send(read_response(first->sink_stag, first->sink_offset, payload(8)));
  const auto third = expect_message(Opcode::read_request).read_request();
  for (const auto& request : {second, third})
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  const auto fourth = expect_message(Opcode::read_request).read_request();
  peer.send(read_response(fourth->sink_stag, fourth->sink_offset, payload(8)));
  for (const Work& read : reads) expect(read, completes().with_length(8));
}

CONFORMANCE_CASE(unasked_read_response_is_terminated,
                 rules("rdmap.read.invalid-response-surfaced")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(read_response(region.stag, region.base, payload(16)));
  expect(peer, any_terminate() | advisory(torn_down()));
  expect(region, unchanged);
}

CONFORMANCE_CASE(response_that_answers_another_read_does_not_complete_it,
                 rules("rdmap.read.response-validated-by-sink")) {
  const Region other = iut.register_memory(64, access::remote_write);
  let_iut_send();
  const Work read = iut.post_read(16, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(read_response(other.stag, other.base, payload(16)));
  // Checking STag, offset and length against the request is a MAY: an IUT that does not check
  // completes the Read.
  expect(peer, any_terminate() | torn_down() | advisory(silence()));
}

CONFORMANCE_CASE(terminated_read_completes_in_error,
                 rules("rdmap.terminate.outstanding-completed-in-error")) {
  let_iut_send();
  const Work read = iut.post_read(16, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(terminate_message(cause::rdmap_invalid_stag));
  expect(read, completes_in_error());
}

CASES_OF_FILE(rdmap, read)

}  // namespace suite::cases
