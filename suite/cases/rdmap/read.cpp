// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 section 5.2: RDMA Read, the IUT as Data Source and as Data Sink.
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/rdmap/error_steps.hpp"
#include "suite/cases/rdmap/read_requests.hpp"

namespace suite::cases {

CONFORMANCE_CASE(read_request_is_answered,
                 rules("rdmap.read.valid-request-answered", "rdmap.read.sink-stag-copied",
                       "rdmap.read.sink-to-copied", "rdmap.read.response-length-matches-request",
                       "rdmap.read.response-data-from-source", "rdmap.read.response-tagged"),
                 in_both_roles) {
  Region region = iut.register_memory(8192, access::remote_read);
  iut.write_memory(region, payload(8192));
  for (const std::uint32_t length : {1U, 1000U, 8000U}) {
    peer.send(read_from(region, 100, length));
    const Arrival arrival =
        expect(peer, message(Opcode::read_response), "rdmap.read.valid-request-answered");
    const Message& response = *arrival.as<Message>();
    expect_that(response.stag() == sink_stag, "the SinkSTag", arrival.text(),
                "rdmap.read.sink-stag-copied");
    expect_that(response.tagged_offset() == sink_offset, "the SinkTO", arrival.text(),
                "rdmap.read.sink-to-copied");
    expect_that(response.payload.size() == length, fmt::format("{} octets", length), arrival.text(),
                "rdmap.read.response-length-matches-request");
    const bool same =
        std::equal(response.payload.begin(), response.payload.end(), region.contents.begin() + 100);
    expect_that(same, "the octets of the source", "other octets",
                "rdmap.read.response-data-from-source");
  }
}

CONFORMANCE_CASE(read_request_is_answered_once, rules("rdmap.read.one-request-one-response")) {
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(read_from(region, 0, 8));
  expect(peer, message(Opcode::read_response));
  expect(peer, silence());
}

CONFORMANCE_CASE(write_posted_after_a_read_completes_after_it,
                 rules("rdmap.order.completed-in-submission-order")) {
  let_iut_send();
  const Work read = iut.post_read(8, 0x77, 0x1000),
             write = iut.post_write(payload(8), 0x77, 0x2000);
  const auto request = expect_message(Opcode::read_request).read_request();
  expect_around({message(Opcode::rdma_write)}, [&] {
    expect_none(completion_of(write));
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(8)));
  });
  expect_in_order({read, write});
}

CONFORMANCE_CASE(zero_length_read_is_answered_unchecked,
                 rules("rdmap.read.zero-length-answered", "rdmap.read.zero-length-not-validated")) {
  peer.send(read_request({.sink_stag = sink_stag,
                          .sink_offset = sink_offset,
                          .length = 0,
                          .source_stag = 0xDEAD,
                          .source_offset = 1}));
  const Arrival arrival = peer.ready().next(context().deadline);
  peer.raw().put_back(arrival);
  // If it was refused, its source was checked; otherwise it was answered, or not.
  const bool refused = arrival.is_end() || arrival.message(Opcode::terminate) != nullptr;
  expect(peer, message(Opcode::read_response, {}),
         refused ? RuleRef("rdmap.read.zero-length-not-validated")
                 : RuleRef("rdmap.read.zero-length-answered"));
}

CONFORMANCE_CASE(source_of_a_zero_length_read_is_not_validated,
                 rules("rdmap.read.zero-length-not-validated", "rdmap.read.zero-length-answered")) {
  const Region region = iut.register_memory(64, access::remote_read);
  peer.send(read_from(region, 0, 0));
  expect(peer, message(Opcode::read_response, {}), "rdmap.read.zero-length-answered");
  peer.send(read_request(
      {.sink_stag = 0, .sink_offset = 0, .length = 0, .source_stag = 0xDEAD, .source_offset = 1}));
  expect(peer, message(Opcode::read_response, {}));
}

CONFORMANCE_CASE(invalidate_stag_of_a_read_request_is_ignored,
                 rules("rdmap.header.invalidate-stag-ignored")) {
  const Region region = iut.register_memory(64, access::remote_read);
  for (int i = 0; i < 2; ++i) {
    peer.send(read_from(region, 0, 8).with_ulp_word(region.stag));
    expect(peer, message(Opcode::read_response, part_of(region.contents, 0, 8)));
  }
}

CONFORMANCE_CASE(reads_are_answered_in_their_order,
                 rules("rdmap.read.responses-in-request-order")) {
  establish({.parameters = {.private_data = {}, .ird = 4}});
  Region region = iut.register_memory(4096, access::remote_read);
  iut.write_memory(region, payload(4096));
  std::vector<Outgoing> requests;
  for (std::uint32_t i = 0; i < 4; ++i) {
    Outgoing request = read_request({.sink_stag = sink_stag + i,
                                     .sink_offset = i,
                                     .length = 10,
                                     .source_stag = region.stag,
                                     .source_offset = region.base});
    requests.push_back(request);
  }
  peer.send_together(requests);
  for (std::uint32_t i = 0; i < 4; ++i)
    expect(peer, tagged_message(Opcode::read_response, sink_stag + i, i, payload(10)),
           "rdmap.read.responses-in-request-order");
}

CONFORMANCE_CASE(as_many_reads_as_granted_are_served,
                 rules("rdmap.resources.read-queue-holds-ird")) {
  const Region region = iut.register_memory(64, access::remote_read);
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}, .opening = true});
  peer.send_together(std::vector<Outgoing>(4, read_from(region, 0, 8)));
  for (int i = 0; i < 4; ++i) expect(peer, message(Opcode::read_response));
}

CONFORMANCE_CASE(consumer_that_grants_no_reads_has_none_served,
                 rules("rdmap.resources.inbound-limit-kept"), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_read);
  establish({.parameters = {.private_data = {}, .ird = 0, .ord = 4}, .opening = true});
  peer.send(read_from(region, 0, 8));
  // An API may take 0 for a depth that is left open.
  expect(peer, any_terminate() | advisory(torn_down() | message(Opcode::read_response)));
}

CONFORMANCE_CASE(one_read_more_than_granted_is_an_error,
                 rules("rdmap.resources.inbound-limit-kept"), in_both_roles, deadline_of(30s)) {
  constexpr int granted = 4;
  // More than the send buffer of an LLP takes (Linux limits it to 4 MiB), while we receive nothing.
  constexpr std::uint32_t more_than_an_llp_holds = 8U << 20;
  const auto refused = [&](const char* name, bool under_way, bool atomic = false) {
    row(name, [&] {
      const Region region = iut.register_memory(
          more_than_an_llp_holds, atomic ? access::remote_atomic : access::remote_read);
      establish(
          {.parameters = {.private_data = {}, .ird = granted, .ord = granted}, .opening = true});
      const Work receive = iut.post_receive(64);
      // The first Response cannot be sent, so none of the Requests is done. If the message after
      // them is delivered, they have all been delivered.
      std::vector<Outgoing> messages(granted, read_from(region, 0, 8));
      // Atomics have their places in the same queue (RFC 7306 section 5.2.2).
      if (atomic) messages.back() = fetch_add(1, region.stag, region.base, 1);
      messages.push_back(send_message(payload(16)));
      const Outgoing first = read_from(region, 0, static_cast<std::uint32_t>(region.length));
      peer.stall();
      if (under_way) {
        peer.send(first);
        watch();
      } else {
        messages.insert(messages.begin(), first);
      }
      peer.send_together(messages);
      const bool all_held =
          iut.take(success_of(receive).matches, context().loop.now() + environment().quiet_window)
              .has_value();
      peer.resume();
      const Expected response("a Response or its beginning", [](const Arrival& arrival) {
        const auto* message = arrival.as<Message>();
        return message != nullptr && (message->opcode() == Opcode::read_response ||
                                      message->opcode() == Opcode::atomic_response);
      });
      const Expected error = any_terminate() | advisory(torn_down());
      // An IUT may accept one Request after another, each when the one before is done.
      const Expected one_more = all_held ? error : error | inconclusive(response);
      for (int answered = 0; answered <= granted; ++answered) {
        const Arrival arrival = expect(peer, answered < granted ? error | response : one_more);
        const auto* message = arrival.as<Message>();
        if (message == nullptr || message->opcode() == Opcode::terminate) return;
      }
    });
  };
  refused("all at once", false);
  refused("while the first Response is sent", true);
  if (!iut.can(capability::atomics)) return;
  refused("an Atomic too many", false, true);
  refused("an Atomic too many while the first Response is sent", true, true);
}

CONFORMANCE_CASE(read_sees_what_a_write_before_it_wrote,
                 rules("rdmap.order.read-sees-earlier-write")) {
  const Region region = iut.register_memory(4096, access::remote_read_write);
  peer.send_together(
      {rdma_write(region.stag, region.base, payload(500)), read_from(region, 0, 500)});
  expect(peer, tagged_message(Opcode::read_response, sink_stag, sink_offset, payload(500)));
}

CONFORMANCE_CASE(read_of_an_unknown_stag_is_rejected,
                 rules("rdmap.terminate.code-invalid-stag", "rdmap.read.invalid-request-surfaced"),
                 in_both_roles) {
  Region region = iut.register_memory(64, access::remote_read);
  region.stag = region.stag_with_other_key();
  peer.send(read_from(region, 0, 8));
  expect_rejection({cause::rdmap_invalid_stag}, "rdmap.read.invalid-request-surfaced",
                   "rdmap.terminate.code-invalid-stag");
}

CONFORMANCE_CASE(unknown_stag_of_a_read_is_reported_as_such,
                 rules("rdmap.terminate.code-invalid-stag")) {
  const auto tell = [&](const Region& region) {
    peer.send(read_from(region, 0, 8));
    expect(peer, terminate(cause::rdmap_invalid_stag));
  };
  row("another key", [&] {
    Region region = iut.register_memory(64, access::remote_read);
    region.stag = region.stag_with_other_key();
    tell(region);
  });
  row("deregistered", [&] {
    const Region region = iut.register_memory(64, access::remote_read);
    iut.deregister(region);
    tell(region);
  });
}

CONFORMANCE_CASE(consumer_learns_of_a_refused_read,
                 rules("rdmap.read.error-passed-up-and-terminated")) {
  Region region = iut.register_memory(64, access::remote_read);
  region.stag = region.stag_with_other_key();
  peer.send(read_from(region, 0, 8));
  expect(peer, any_terminate() | advisory(torn_down()));
  expect(iut, asynchronous_error() | disconnected());
}

CONFORMANCE_CASE(read_beyond_bounds_is_rejected, rules("rdmap.error.read-source-end-in-range",
                                                       "rdmap.error.read-source-start-in-range",
                                                       "rdmap.terminate.code-base-or-bounds")) {
  for (const std::uint64_t offset : {57, 64, 4096}) {
    row(fmt::format("offset {}", offset), [&] {
      const Region region = iut.register_memory(64, access::remote_read);
      peer.send(read_from(region, offset, 8));
      expect_rejection({cause::rdmap_base_or_bounds}, "rdmap.error.read-source-end-in-range",
                       "rdmap.terminate.code-base-or-bounds");
    });
  }
  // Eight octets, of which zero or seven lie in the source.
  for (const std::uint64_t before : {8, 1}) {
    row(fmt::format("{} octets before the base", before), [&] {
      const Region region = iut.register_memory(64, access::remote_read);
      if (region.base < before) stop(Verdict::inconclusive, "the region begins at offset 0");
      peer.send(read_from(region, 0 - before, 8));
      expect_rejection({cause::rdmap_base_or_bounds}, "rdmap.error.read-source-start-in-range",
                       "rdmap.terminate.code-base-or-bounds");
    });
  }
}

CONFORMANCE_CASE(read_just_below_the_highest_offset_is_answered,
                 rules("rdmap.read.valid-request-answered", "rdmap.error.read-source-no-wrap",
                       "rdmap.terminate.code-to-wrap"),
                 needs(capability::chosen_base)) {
  // The sum of SrcTO and size may be 2^64 - 1; whether it may be 2^64 is disputed (D17).
  constexpr std::uint64_t length = 4095, last_page = ~std::uint64_t{0} - length;
  row("up to a sum of 2^64 - 1", [&] {
    const Region region = iut.register_at(last_page, length, access::remote_read);
    peer.send(read_from(region, length - 8, 8));
    expect(peer, message(Opcode::read_response, Octets(8, std::byte{0xA5})));
  });
  row("one octet too many", [&] {
    const Region region = iut.register_at(last_page, length, access::remote_read);
    peer.send(read_from(region, length - 8, 9));
    expect_rejection(refusal::read_wrap, "rdmap.error.read-source-no-wrap",
                     "rdmap.terminate.code-to-wrap");
  });
}

CONFORMANCE_CASE(read_without_the_access_right_is_rejected,
                 rules("sec.buffer.write-only-not-readable",
                       "rdmap.terminate.code-access-rights")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(read_from(region, 0, 8));
  expect_rejection({cause::rdmap_access_rights}, "sec.buffer.write-only-not-readable",
                   "rdmap.terminate.code-access-rights");
}

CONFORMANCE_CASE(read_of_another_domain_is_rejected,
                 rules("rdmap.error.read-source-stag-associated",
                       "rdmap.terminate.code-stag-not-associated")) {
  const Region region = iut.register_memory(64, access::remote_read, 0xA5, iut.create_domain());
  peer.send(read_from(region, 0, 8));
  expect_rejection(refusal::read_of_another_domain, "rdmap.error.read-source-stag-associated",
                   "rdmap.terminate.code-stag-not-associated");
}

CONFORMANCE_CASE(read_whose_offset_wraps_is_rejected,
                 rules("rdmap.error.read-source-no-wrap", "rdmap.terminate.code-to-wrap")) {
  // One that fits a segment, and one of more than a page.
  for (const std::uint32_t length : {16, 4097}) {
    row(fmt::format("{} octets", length), [&] {
      const Region region = iut.register_memory(64, access::remote_read);
      peer.send(read_request({.sink_stag = 1,
                              .sink_offset = 0,
                              .length = length,
                              .source_stag = region.stag,
                              .source_offset = ~std::uint64_t{0} - 3}));
      expect_rejection(refusal::read_wrap, "rdmap.error.read-source-no-wrap",
                       "rdmap.terminate.code-to-wrap");
    });
  }
}

CONFORMANCE_CASE(terminate_for_a_bad_read_request_is_complete,
                 rules("rdmap.error.read-request-fields",
                       "rdmap.terminate.protection-error-rdma-header",
                       "rdmap.terminate.r-bit-per-figure")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(read_from(region, 0, 8));
  const Arrival arrival =
      expect(peer, any_terminate() | advisory(torn_down()), "rdmap.error.read-request-fields");
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  expect_that(terminate && terminate->r, "R set", arrival.text(),
              "rdmap.terminate.r-bit-per-figure");
}

CONFORMANCE_CASE(posted_read_becomes_one_request,
                 rules("rdmap.read.request-header-format", "rdmap.read.request-qn-field-one",
                       "rdmap.read.request-carries-no-payload", "rdmap.read.request-untagged",
                       "rdmap.order.read-completes-after-response",
                       "rdmap.order.response-suffices-to-complete"),
                 in_both_roles) {
  let_iut_send();
  const Work work = iut.post_read(3000, 0x01020304, 0x1122334455667788);
  const Arrival arrival =
      expect(peer, message(Opcode::read_request), "rdmap.read.request-header-format");
  expect_that(arrival.as<Message>()->payload.size() <= 28, "28 octets", arrival.text(),
              "rdmap.read.request-carries-no-payload");
  const auto request = arrival.as<Message>()->read_request();
  expect_that(request && request->source_stag == 0x01020304 &&
                  request->source_offset == 0x1122334455667788 && request->length == 3000,
              "the source as posted", arrival.text(), "rdmap.read.request-header-format");
  expect_none(completion_of(work), "rdmap.order.read-completes-after-response");
  const auto segments =
      peer.prepare(read_response(request->sink_stag, request->sink_offset, payload(3000))
                       .with_segments_of(1000));  // even if the MTU would let all of it pass
  peer.send(segments[0]);
  expect_none(completion_of(work), "rdmap.order.read-completes-after-response");
  for (std::size_t i = 1; i < segments.size(); ++i) peer.send(segments[i]);
  expect(work, completes(), "rdmap.order.response-suffices-to-complete");
  expect(work.buffer, holds(payload(3000)), "rdmap.order.response-suffices-to-complete");
}

CONFORMANCE_CASE(no_more_reads_are_outstanding_than_granted,
                 rules("rdmap.resources.outbound-limit-kept")) {
  for (const int ord : {1, 2, 3}) {
    row(fmt::format("ORD {}", ord), [&] {
      establish({.parameters = {.private_data = {}, .ird = 4, .ord = ord}});
      let_iut_send();
      std::vector<Work> works;
      for (int i = 0; i < 2 * ord; ++i) works.push_back(iut.post_read(8, 0x77, 0x1000));
      std::vector<ReadRequestFields> requests;
      for (int i = 0; i < ord; ++i)
        requests.push_back(*expect_message(Opcode::read_request).read_request());
      expect(peer, silence());
      for (const ReadRequestFields& request : requests)
        peer.send(read_response(request.sink_stag, request.sink_offset, payload(8)));
      for (int i = 0; i < ord; ++i) expect(peer, message(Opcode::read_request));
    });
  }
}

CONFORMANCE_CASE(unsolicited_read_response_is_rejected,
                 rules("rdmap.read.invalid-response-surfaced")) {
  const Region region = iut.register_memory(64, access::remote_write);
  peer.send(read_response(region.stag, region.base, payload(8)));
  expect(peer, any_terminate() | torn_down());
}

CONFORMANCE_CASE(read_response_has_the_requested_length,
                 rules("rdmap.read.response-length-matches-request")) {
  Region source = iut.register_memory(8192, access::remote_read);
  iut.write_memory(source, payload(8192));
  for (const std::uint32_t length : {1U, 2U, 3U, 4U, 1023U, 4096U, 8192U}) {
    peer.send(read_from(source, 0, length));
    expect(peer, tagged_message(Opcode::read_response, sink_stag, sink_offset,
                                part_of(payload(8192), 0, length)));
  }
}

CONFORMANCE_CASE(read_request_consumes_no_receive, rules("rdmap.read.request-not-delivered")) {
  const Work receive = iut.post_receive(64);
  const Region source = iut.register_memory(64, access::remote_read);
  peer.send(read_from(source, 0, 16));
  static_cast<void>(expect_message(Opcode::read_response));
  peer.send(send_message(payload(10)));
  expect(receive, completes().with_length(10));
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

CONFORMANCE_CASE(later_segment_of_a_response_to_another_place_is_detected,
                 rules("rdmap.read.response-validated-by-sink")) {
  using Change = std::function<void(wire::TaggedHeader&, const Region& other)>;
  const auto answer_by = [&](const char* name, std::size_t octets, const Change& change,
                             bool after_a_whole_one = false) {
    row(name, [&] {
      const Region other = iut.register_memory(64, access::remote_write);
      // The sink is the first half of its region.
      const Region region = iut.register_memory(128, access::remote_write);
      let_iut_send();
      iut::PostWork command;
      command.operation = operation::read;
      command.pieces = {{region.handle, 0, 64}};
      command.remote_stag = 0x01020304;
      if (after_a_whole_one) {
        const Work earlier = iut.post(command);
        const auto request = expect_message(Opcode::read_request).read_request();
        peer.send(read_response(request->sink_stag, request->sink_offset, payload(64))
                      .with_segments_of(32));
        expect(earlier, completes());
      }
      const Work read = iut.post(command);
      const auto asked = expect_message(Opcode::read_request).read_request();
      peer.send(read_response(asked->sink_stag, asked->sink_offset, payload(octets))
                    .with_segments_of(32)
                    .with_tagged([&](std::size_t index, wire::TaggedHeader& header) {
                      if (index != 0) change(header, other);
                    }));
      // Checking is a MAY; an IUT that does not check completes the Read.
      expect(peer, any_terminate() | torn_down() | advisory(silence()));
    });
  };
  answer_by("another buffer", 64, [](wire::TaggedHeader& header, const Region& other) {
    header.stag = other.stag;
    header.tagged_offset = other.base;
  });
  answer_by("beyond the sink", 64, [](wire::TaggedHeader& header, const Region&) {
    header.tagged_offset = header.tagged_offset.value() + 32;
  });
  const Change none = [](wire::TaggedHeader&, const Region&) {};
  answer_by("one octet too few", 63, none);
  answer_by("one octet too few, after a whole Response", 63, none, true);
  answer_by(
      "the first segment again, after a whole Response", 64,
      [](wire::TaggedHeader& header, const Region&) {
        header.tagged_offset = header.tagged_offset.value() - 32;
      },
      true);
}

CONFORMANCE_CASE(terminated_read_completes_in_error,
                 rules("rdmap.terminate.outstanding-completed-in-error")) {
  let_iut_send();
  const Work read = iut.post_read(16, 0x01020304, 0);
  static_cast<void>(expect_message(Opcode::read_request));
  peer.send(terminate_message(cause::rdmap_invalid_stag));
  expect(read, completes_in_error());
}

CONFORMANCE_CASE(terminate_for_a_read_carries_its_headers,
                 rules("rdmap.terminate.protection-error-rdma-header",
                       "rdmap.terminate.ddp-header-copied", "rdmap.terminate.segment-length-value",
                       "rdmap.terminate.r-bit-per-figure", "rdmap.terminate.header-format"),
                 rules("rdmap.terminate.protection-error-ddp-header",
                       "rdmap.terminate.rdma-header-size")) {
  const Region source = iut.register_memory(64, access::remote_read);
  const Outgoing request = read_from(source, 0, 65);
  const Octets ulpdu = peer.prepare(request).front().ulpdu;
  peer.send(Fpdu{.ulpdu = ulpdu});
  const Arrival arrival = expect(peer, any_terminate() | advisory(torn_down()));
  if (arrival.is_end()) return;
  const auto terminate = arrival.terminate();
  expect_that(arrival.is_terminate_as_specified(),
              "a Terminate as long as its header control bits say", arrival.text(),
              "rdmap.terminate.header-format");
  const Octets ddp(ulpdu.begin(), ulpdu.begin() + rnic::wire::untagged_header_size);
  const Octets rdmap(ulpdu.begin() + rnic::wire::untagged_header_size, ulpdu.end());
  expect_that(terminate->r, "R = 1", rnic::wire::describe(*terminate),
              "rdmap.terminate.r-bit-per-figure");
  expect_that(std::ranges::equal(terminate->ddp_header, ddp), rnic::wire::hex(ddp),
              rnic::wire::hex(terminate->ddp_header), "rdmap.terminate.ddp-header-copied");
  expect_that(std::ranges::equal(terminate->rdmap_header, rdmap), rnic::wire::hex(rdmap),
              rnic::wire::hex(terminate->rdmap_header),
              "rdmap.terminate.protection-error-rdma-header");
  expect_that(tells_length_of(*terminate, ulpdu),
              fmt::format("DDP Segment Length {}", ulpdu.size()),
              terminate->segment_length ? fmt::format("{}", *terminate->segment_length) : "none",
              "rdmap.terminate.segment-length-value");
}

CONFORMANCE_CASE(read_request_of_another_version_is_not_served,
                 rules("rdmap.error.read-request-version", "rdmap.terminate.code-invalid-version"),
                 in_both_roles) {
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{2, 3}) {
    row(fmt::format("RV {}", version), [&] {
      const Region region = iut.register_memory(64, access::remote_read);
      peer.send(read_from(region, 0, 8).with_rdmap_version(version));
      expect_rejection({cause::rdmap_invalid_version}, "rdmap.error.read-request-version",
                       "rdmap.terminate.code-invalid-version");
    });
  }
}

CASES_OF_FILE(rdmap, read)

}  // namespace suite::cases
