// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5040 sections 4.4 and 5.2: RDMA Reads of any place and size, and their order.
#include <algorithm>
#include <array>

#include "suite/cases/rdmap/read_requests.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t remote_stag = 0x01020304;

Region source_of(Body& body, std::size_t length) {
  Region source = body.iut.register_memory(length, access::remote_read);
  body.iut.write_memory(source, payload(length));
  return source;
}

/// The answer to read_from(): these octets of the source.
Expected answer(const Region& source, std::size_t offset, std::size_t length) {
  return tagged_message(Opcode::read_response, sink_stag, sink_offset,
                        part_of(source.contents, offset, length));
}

}  // namespace

// ---------------------------------------------------------------- the IUT as Data Source

CONFORMANCE_CASE(response_goes_to_any_offset_of_the_sink,
                 rules("rdmap.read.sink-to-arbitrary", "rdmap.read.response-nonzero-offset"),
                 in_both_roles) {
  const Region source = source_of(*this, 64);
  constexpr std::uint64_t top = ~std::uint64_t{0};
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFFFFFFFF},
                                     std::uint64_t{1} << 32, std::uint64_t{1} << 63, top - 31}) {
    peer.send(read_request({.sink_stag = sink_stag,
                            .sink_offset = offset,
                            .length = 32,
                            .source_stag = source.stag,
                            .source_offset = source.base}));
    const Arrival arrival =
        expect(peer, message(Opcode::read_response, part_of(source.contents, 0, 32)));
    const std::uint64_t seen = arrival.as<Message>()->tagged_offset();
    expect_that(seen >> 32 == offset >> 32, fmt::format("TO {:#x}", offset), arrival.text(),
                "rdmap.read.sink-to-arbitrary");
    expect_that(seen == offset, fmt::format("TO {:#x}", offset), arrival.text(),
                "rdmap.read.response-nonzero-offset");
  }
}

CONFORMANCE_CASE(read_begins_at_any_offset_of_the_source, rules("rdmap.read.src-to-arbitrary"),
                 in_both_roles) {
  const Region source = source_of(*this, 8192);
  for (const std::uint64_t offset : {0, 1, 2, 3, 5, 7, 63, 65, 4095, 4097, 8183}) {
    peer.send(read_from(source, offset, 9));
    expect(peer, answer(source, offset, 9));
  }
}

CONFORMANCE_CASE(any_part_of_a_source_can_be_read, rules("rdmap.read.partial-buffer"),
                 in_both_roles) {
  struct Part {
    std::uint32_t offset, length;
  };
  const Region source = source_of(*this, 5000);
  for (const Part part : {Part{0, 5000}, Part{0, 1}, Part{4999, 1}, Part{1, 4999}, Part{0, 4999},
                          Part{2499, 13}, Part{4095, 2}}) {
    peer.send(read_from(source, part.offset, part.length));
    expect(peer, answer(source, part.offset, part.length));
  }
}

CONFORMANCE_CASE(read_of_any_size_is_answered, rules("rdmap.read.message-size-range"),
                 in_both_roles, deadline_of(20s)) {
  const Region source = source_of(*this, 200'001);
  for (const std::uint32_t size :
       {0U, 1U, 255U, 256U, 65535U, 65536U, 65537U, 131'072U, 200'001U}) {
    peer.send(read_from(source, 0, size));
    expect(peer, size == 0 ? message(Opcode::read_response, Octets{}) : answer(source, 0, size));
  }
}

CONFORMANCE_CASE(read_longer_than_its_source_is_rejected_whatever_the_length,
                 rules("rdmap.error.read-source-end-in-range",
                       "rdmap.terminate.code-base-or-bounds"),
                 in_both_roles) {
  for (const std::uint32_t length : {65537U, 0x00FFFFFFU, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
    row(fmt::format("{} octets of 65536", length), [&] {
      const Region source = iut.register_memory(65536, access::remote_read);
      peer.send(read_from(source, 0, length));
      expect_rejection(refusal::read_wrap, "rdmap.error.read-source-end-in-range",
                       "rdmap.terminate.code-base-or-bounds");
    });
  }
}

CONFORMANCE_CASE(read_is_served_without_the_consumer,
                 rules("rdmap.read.request-processed-by-rdmap"), in_both_roles) {
  see_iut_send();
  while (iut.take<iut::CompletionEvent>(context().loop.now() + environment().quiet_window)) {
  }
  const Region source = source_of(*this, 64);
  for (int i = 0; i < 8; ++i) {
    peer.send(read_from(source, 3, 40));
    expect(peer, answer(source, 3, 40));
  }
  const auto event = iut.take<iut::CompletionEvent>(context().loop.now());
  expect_that(!event, "no completion for the consumer of the source",
              event ? describe(*event) : "none");
}

CONFORMANCE_CASE(reads_of_all_sizes_are_served_in_their_order,
                 rules("rdmap.read.requests-processed-in-order", "rdmap.read.zero-length-answered"),
                 in_both_roles) {
  const Region source = source_of(*this, 8192);
  std::vector<Outgoing> requests;
  const std::vector<std::uint32_t> sizes{8000, 1, 3000, 0};
  for (const std::uint32_t size : sizes) requests.push_back(read_from(source, size % 7, size));
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}, .opening = true});
  peer.send_together(requests);
  for (const std::uint32_t size : sizes)
    expect(peer, message(Opcode::read_response, part_of(source.contents, size % 7, size)),
           size > 0 ? RuleRef("rdmap.read.requests-processed-in-order")
                    : RuleRef("rdmap.read.zero-length-answered"));
}

CONFORMANCE_CASE(no_octet_is_sent_before_the_source_is_checked,
                 rules("rdmap.read.source-stag-validated", "rdmap.read.source-to-validated"),
                 in_both_roles) {
  const Expected refused = any_terminate() | torn_down();
  row("unknown STag", [&] {
    Region source = source_of(*this, 8192);
    source.stag = source.stag_with_other_key();
    peer.send(read_from(source, 0, 8192));
    expect(peer, refused, "rdmap.read.source-stag-validated");
  });
  row("STag of another domain", [&] {
    const Region source = iut.register_memory(8192, access::remote_read, 0xA5, iut.create_domain());
    peer.send(read_from(source, 0, 8192));
    expect(peer, refused, "rdmap.read.source-stag-validated");
  });
  row("the last octet only is outside", [&] {
    const Region source = source_of(*this, 8192);
    peer.send(read_from(source, 1, 8192));
    expect(peer, refused, "rdmap.read.source-to-validated");
  });
  row("the first octet only is outside", [&] {
    const Region source = source_of(*this, 8192);
    if (source.base == 0) stop(Verdict::inconclusive, "the region begins at offset 0");
    peer.send(read_from(source, ~std::uint64_t{0}, 8192));
    expect(peer, refused, "rdmap.read.source-to-validated");
  });
}

// ---------------------------------------------------------------- the IUT as Data Sink

CONFORMANCE_CASE(read_requests_are_sent_in_the_order_posted,
                 rules("rdmap.read.requests-in-submission-order"), in_both_roles) {
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}});
  let_iut_send();
  std::vector<Work> reads;
  for (std::uint32_t i = 0; i < 4; ++i)
    reads.push_back(iut.post_read(100 - i, remote_stag, 0x1000 + i));
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto request = expect_message(Opcode::read_request).read_request();
    expect_that(
        request && request->length == 100 - i && request->source_offset == 0x1000 + i,
        fmt::format("the Request of Read {}", i + 1),
        request ? fmt::format("{} octets from {:#x} on", request->length, request->source_offset)
                : "another message");
    peer.send(read_response(request->sink_stag, request->sink_offset, payload(100 - i)));
  }
  expect_in_order(reads, "rdmap.read.requests-in-submission-order");
}

CONFORMANCE_CASE(each_source_buffer_has_a_request_of_its_own,
                 rules("rdmap.read.multiple-buffers-multiple-requests"), in_both_roles) {
  let_iut_send();
  for (const std::uint32_t stag : {0x11110001U, 0x22220002U, 0x33330003U}) {
    const Work read = iut.post_read(12, stag, stag);
    const auto request = expect_message(Opcode::read_request).read_request();
    expect_that(request && request->source_stag == stag && request->source_offset == stag,
                fmt::format("a Request for STag {:#x}", stag),
                request ? fmt::format("STag {:#x}", request->source_stag) : "another message");
    const Octets data = payload(12, static_cast<std::uint8_t>(stag));
    peer.send(read_response(request->sink_stag, request->sink_offset, data));
    expect(read, completes());
    expect(read.buffer, holds(data));
  }
}

CONFORMANCE_CASE(read_of_zero_octets_requests_zero_octets, rules("rdmap.read.zero-length-request"),
                 in_both_roles) {
  let_iut_send();
  iut::PostWork command;
  command.operation = operation::read;
  command.remote_stag = remote_stag;
  const Attempt read = iut.try_post(command);
  if (!read.taken())
    stop(Verdict::not_applicable, "the API has no Reads of no octets: " + read.reply.error);
  const auto request = expect_message(Opcode::read_request).read_request();
  expect_that(request && request->length == 0, "a message size of 0",
              request ? fmt::format("{}", request->length) : "another message");
  peer.send(read_response(request->sink_stag, request->sink_offset, {}));
  expect(read.work, completes());
}

CONFORMANCE_CASE(as_many_requests_are_sent_as_were_granted,
                 rules("rdmap.resources.outbound-reads-provided"), in_both_roles) {
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}});
  let_iut_send();
  std::vector<Work> reads;
  std::vector<ReadRequestFields> requests;
  for (std::uint32_t i = 0; i < 4; ++i) reads.push_back(iut.post_read(8, remote_stag, 8 * i));
  for (int i = 0; i < 4; ++i) {
    const auto request = expect_message(Opcode::read_request).read_request();
    if (request) requests.push_back(*request);
  }
  for (const ReadRequestFields& request : requests)
    peer.send(read_response(request.sink_stag, request.sink_offset, payload(8)));
  expect_in_order(reads);
}

CONFORMANCE_CASE(messages_before_a_response_are_accepted,
                 rules("rdmap.order.read-response-after-later-messages"), in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_read_write);
  const Work receive = iut.post_receive(16);
  let_iut_send();
  const Work read = iut.post_read(24, remote_stag, 0);
  const auto request = expect_message(Opcode::read_request).read_request();
  peer.send(rdma_write(region.stag, region.base, payload(40, 0x21)));
  peer.send(send_message(payload(9)));
  peer.send(read_from(region, 0, 40));
  expect(receive, completes().with_length(9));
  expect(peer, tagged_message(Opcode::read_response, sink_stag, sink_offset, payload(40, 0x21)));
  peer.send(read_response(request->sink_stag, request->sink_offset, payload(24)));
  expect(read, completes());
  expect(read.buffer, holds(payload(24)));
}

CONFORMANCE_CASE(reads_posted_together_name_their_own_sinks,
                 rules("rdmap.read.request-header-format",
                       "rdmap.read.requests-in-submission-order"),
                 in_both_roles) {
  // The IUT chooses which STag and offset stand for a sink: they are its own if what arrives there
  // is in it. No two sinks begin at the same place of their regions, since all regions may begin at
  // offset 0.
  struct Read {
    std::uint32_t length;
    std::uint64_t sink_begin, source_offset;
    Work work;
  };
  const auto octets_of = [](const Read& read) {
    return payload(read.length, static_cast<std::uint8_t>(read.length));
  };
  std::vector<Read> reads{{700, 0, 0x1000, {}}, {33, 1024, 0x5000, {}}, {1500, 512, 0x3000, {}}};
  establish({.parameters = {.private_data = {}, .ird = 4, .ord = 4}});
  let_iut_send();
  for (Read& read : reads) read.work.buffer = iut.register_memory(4096, access::remote_write);
  for (Read& read : reads) {
    iut::PostWork command;
    command.operation = operation::read;
    command.pieces = {{read.work.buffer.handle, read.sink_begin, read.length}};
    command.remote_stag = remote_stag;
    command.remote_offset = read.source_offset;
    const Work posted = iut.post(command);
    read.work.id = posted.id;
    read.work.endpoint = posted.endpoint;
  }
  for (const Read& read : reads) {
    const auto request = expect_message(Opcode::read_request).read_request();
    expect_that(request.has_value(), "28 octets that ask for a Read", "a Request of another length",
                "rdmap.read.request-header-format");
    expect_that(request->source_offset == read.source_offset,
                fmt::format("the Request from {:#x} on", read.source_offset),
                fmt::format("from {:#x} on", request->source_offset),
                "rdmap.read.requests-in-submission-order");
    expect_that(request->length == read.length, fmt::format("a message size of {}", read.length),
                fmt::format("{}", request->length));
    peer.send(read_response(request->sink_stag, request->sink_offset, octets_of(read)));
    expect(read.work, completes().with_length(read.length));
  }
  for (const Read& read : reads) expect(read.work.buffer, holds(octets_of(read), read.sink_begin));
}

CONFORMANCE_CASE(read_completes_whatever_the_order_of_its_segments,
                 rules("rdmap.read.response-delivered-to-ulp"), in_both_roles) {
  constexpr std::size_t piece = 1000, pieces = 3;
  using Places = std::array<std::size_t, pieces>;
  for (const Places& places : {Places{2, 1, 0}, Places{1, 2, 0}, Places{1, 0, 2}}) {
    row(fmt::format("thirds in the order {}", fmt::join(places, ", ")), [&] {
      let_iut_send();
      const Work read = iut.post_read(piece * pieces, remote_stag, 0);
      const auto request = expect_message(Opcode::read_request).read_request();
      const Octets data = payload(piece * pieces);
      Octets wanted(data.size());
      for (std::size_t i = 0; i < pieces; ++i)
        std::ranges::copy(part_of(data, i * piece, piece),
                          wanted.begin() + static_cast<std::ptrdiff_t>(places[i] * piece));
      peer.send(read_response(request->sink_stag, request->sink_offset, data)
                    .with_segments_of(piece)
                    .with_tagged([&](std::size_t index, wire::TaggedHeader& header) {
                      header.tagged_offset = request->sink_offset + places[index] * piece;
                    }));
      // Increasing offsets are recommended to the sender (RFC 5041 section 5.3), and a sink MAY
      // compare a Response with its Request (RFC 5040 section 5.2.2).
      const auto done = iut.take(completion_of(read).matches, context().deadline);
      const bool complete = done && success_of(read).matches(*done);
      advise_that(complete, "the Read complete", done ? describe(*done) : "no completion");
      if (complete) expect(read.buffer, holds(wanted));
    });
  }
}

CASES_OF_FILE(rdmap, read_ranges)

}  // namespace suite::cases
