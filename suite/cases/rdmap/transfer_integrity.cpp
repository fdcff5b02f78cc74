// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is sent arrives octet for octet: every operation in both directions, in sizes around those
// of segments and pages, with and without CRCs and Markers, scattered and gathered, and long.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/rdmap/transfer_steps.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

void for_each_size(StreamPeer& partner, std::uint64_t seed,
                   const std::function<void(const Octets&)>& transfer) {
  PayloadGenerator generator(seed);
  for (const std::size_t size : sizes_around_segments(partner)) transfer(generator.octets(size));
}

}  // namespace

CONFORMANCE_CASE(sends_of_every_size_are_received,
                 rules("ddp.untagged.placed-at-mo", "ddp.delivery.message-length-given"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 11, [&](const Octets& data) { send_to_iut(*this, partner, data); });
}

CONFORMANCE_CASE(sends_of_every_size_are_sent_whole,
                 rules("ddp.segmentation.all-data-sent", "ddp.segmentation.mo-is-message-offset",
                       "ddp.untagged.first-mo-zero", "ddp.untagged.msn-same-in-segments",
                       "ddp.header.l-set-on-last", "ddp.header.l-clear-on-others"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 12, [&](const Octets& data) { send_from_iut(*this, partner, data); });
}

CONFORMANCE_CASE(writes_of_every_size_are_placed, rules("ddp.tagged.placed-at-to"), in_both_roles,
                 over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 13, [&](const Octets& data) { write_to_iut(*this, partner, data); });
}

CONFORMANCE_CASE(writes_of_every_size_are_sent_whole,
                 rules("ddp.segmentation.to-is-initial-plus-offset",
                       "ddp.tagged.stag-same-in-segments", "rdmap.write.send-signals-delivery"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 14, [&](const Octets& data) { write_from_iut(*this, partner, data); });
}

CONFORMANCE_CASE(reads_of_every_size_are_served,
                 rules("rdmap.read.response-data-from-source",
                       "rdmap.read.response-length-matches-request", "rdmap.read.sink-to-copied",
                       "rdmap.read.valid-request-answered"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 15, [&](const Octets& data) {
    if (!data.empty()) read_from_iut(*this, partner, data);
  });
}

CONFORMANCE_CASE(reads_of_every_size_fill_their_sink,
                 rules("rdmap.order.read-completes-after-response",
                       "rdmap.read.response-delivered-to-ulp"),
                 in_both_roles, over_both_families, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  for_each_size(partner, 16, [&](const Octets& data) {
    if (!data.empty()) read_by_iut(*this, partner, data);
  });
}

// ---------------------------------------------------------------- CRCs and Markers

CONFORMANCE_CASE(everything_arrives_without_crcs,
                 rules("mpa.receive.boundaries-by-length-field",
                       "mpa.crc.field-present-when-disabled", "ddp.tagged.placed-at-to",
                       "ddp.untagged.placed-at-mo", "ddp.segmentation.all-data-sent"),
                 in_both_roles, configured({.crc = false}), deadline_of(30s)) {
  StreamPeer& partner = connect_and_find_fpdus(*this);
  transfer_everything(*this, partner);
}

CONFORMANCE_CASE(everything_arrives_with_markers_both_ways,
                 rules("mpa.receive.boundaries-by-length-field", "mpa.markers.every-512-octets",
                       "mpa.markers.zero-pointer-between-fpdus", "ddp.tagged.placed-at-to",
                       "ddp.untagged.placed-at-mo"),
                 in_both_roles, over_both_families, configured({.markers = true}),
                 deadline_of(30s)) {
  StreamPeer& partner = connect_and_find_fpdus(*this, {.markers = true});
  transfer_everything(*this, partner);
}

CONFORMANCE_CASE(everything_arrives_with_markers_and_without_crcs,
                 rules("mpa.receive.boundaries-by-length-field", "ddp.tagged.placed-at-to",
                       "ddp.untagged.placed-at-mo"),
                 in_both_roles, configured({.crc = false, .markers = true}), deadline_of(30s)) {
  StreamPeer& partner = connect_and_find_fpdus(*this, {.markers = true});
  transfer_everything(*this, partner);
}

CONFORMANCE_CASE(everything_arrives_with_markers_to_the_iut_only,
                 rules("mpa.receive.boundaries-by-length-field",
                       "mpa.markers.none-when-peer-m-zero", "ddp.tagged.placed-at-to",
                       "ddp.untagged.placed-at-mo"),
                 in_both_roles, configured({.markers = true}), deadline_of(30s)) {
  StreamPeer& partner = connect_and_find_fpdus(*this, {.markers = false});
  transfer_everything(*this, partner);
}

// ---------------------------------------------------------------- pieces

CONFORMANCE_CASE(message_is_scattered_over_all_pieces_of_a_receive,
                 rules("ddp.untagged.placed-at-mo"), in_both_roles) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(21);
  for (const std::uint32_t size : {1U, 16U, 17U, 5000U, 9017U}) {
    const Region front = iut.register_memory(64), middle = iut.register_memory(8192),
                 last = iut.register_memory(4096);
    // 16 octets, then 5000, then the rest; none of them begins where its region does.
    const Work receive = iut.post_receive(
        {{front.handle, 3, 16}, {middle.handle, 101, 5000}, {last.handle, 1, 4001}});
    const Octets data = generator.octets(size);
    partner.send(data);
    expect(receive, completes().with_length(size));
    const auto part = [&](std::size_t from, std::size_t length) {
      const std::size_t begin = std::min(from, data.size());
      const std::size_t end = std::min(from + length, data.size());
      return Octets(data.begin() + static_cast<std::ptrdiff_t>(begin),
                    data.begin() + static_cast<std::ptrdiff_t>(end));
    };
    expect(front, holds(part(0, 16), 3));
    expect(middle, holds(part(16, 5000), 101));
    expect(last, holds(part(5016, 4001), 1));
  }
}

CONFORMANCE_CASE(message_is_gathered_from_all_its_pieces,
                 rules("ddp.segmentation.all-data-sent", "rdmap.write.send-signals-delivery"),
                 in_both_roles) {
  StreamPeer& partner = connect_partner();
  PayloadGenerator generator(22);
  const Octets data = generator.octets(12'000);
  Region source = iut.register_memory(data.size());
  iut.write_memory(source, data);
  // The pieces are the source, with two octets left out between them, the last piece first.
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{source.handle, 9000, 3000}, {source.handle, 0, 1}, {source.handle, 3, 5000}};
  Octets wanted(data.begin() + 9000, data.end());
  wanted.push_back(data.front());
  wanted.insert(wanted.end(), data.begin() + 3, data.begin() + 5003);
  const Work sent = iut.post(send);
  expect_received(partner, wanted);
  expect(sent, completes());
  const TesterBuffer& buffer = partner.add_buffer(Octets(wanted.size()));
  iut::PostWork write = send;
  write.operation = operation::write;
  write.remote_stag = buffer.stag;
  write.remote_offset = buffer.base;
  const Work written = iut.post(write);
  const Work announcement = iut.post_send({});
  expect_received(partner, {}, "rdmap.write.send-signals-delivery");
  expect_buffer(buffer, wanted);
  expect(written, completes());
  expect(announcement, completes());
}

CONFORMANCE_CASE(small_messages_across_a_page_are_sent_whole,
                 rules("ddp.segmentation.all-data-sent"), in_both_roles, deadline_of(20s)) {
  StreamPeer& partner = connect_partner();
  constexpr std::uint64_t page = 4096;
  const Octets data = PayloadGenerator(23).octets(3 * page);
  Region source = iut.register_memory(data.size());
  iut.write_memory(source, data);
  // With most APIs offsets are addresses, so the second-last page ends here.
  const std::uint64_t boundary = 2 * page - source.base % page;
  for (const std::uint32_t size : {2U, 3U, 8U, 63U, 100U, 500U, 1300U}) {
    for (const std::uint32_t before : {1U, size / 2, size - 1}) {
      const std::uint64_t from = boundary - before;
      const auto begin = data.begin() + static_cast<std::ptrdiff_t>(from);
      const Octets wanted(begin, begin + size);
      const TesterBuffer& buffer = partner.add_buffer(Octets(size));
      iut::PostWork write;
      write.operation = operation::write;
      write.pieces = {{source.handle, from, size}};
      write.remote_stag = buffer.stag;
      write.remote_offset = buffer.base;
      iut::PostWork send = write;
      send.operation = operation::send;
      const Work written = iut.post(write), sent = iut.post(send);
      expect_received(partner, wanted);
      expect_buffer(buffer, wanted);
      expect(written, completes());
      expect(sent, completes());
    }
  }
}

// ---------------------------------------------------------------- length

CONFORMANCE_CASE(write_of_mebibytes_is_placed, rules("ddp.tagged.placed-at-to"), in_both_roles,
                 deadline_of(60s)) {
  StreamPeer& partner = connect_partner();
  write_to_iut(*this, partner, PayloadGenerator(31).octets(3 * mebibyte + 1));
}

CONFORMANCE_CASE(read_of_mebibytes_is_served, rules("rdmap.read.response-data-from-source"),
                 in_both_roles, deadline_of(60s)) {
  StreamPeer& partner = connect_partner();
  read_from_iut(*this, partner, PayloadGenerator(32).octets(3 * mebibyte + 1));
}

CONFORMANCE_CASE(write_of_mebibytes_is_sent_whole,
                 rules("ddp.segmentation.to-is-initial-plus-offset"), in_both_roles,
                 deadline_of(60s)) {
  StreamPeer& partner = connect_partner();
  write_from_iut(*this, partner, PayloadGenerator(33).octets(3 * mebibyte + 1));
}

CONFORMANCE_CASE(read_of_mebibytes_fills_its_sink,
                 rules("rdmap.order.read-completes-after-response",
                       "rdmap.read.response-delivered-to-ulp"),
                 in_both_roles, deadline_of(60s)) {
  StreamPeer& partner = connect_partner();
  read_by_iut(*this, partner, PayloadGenerator(34).octets(3 * mebibyte + 1));
}

CONFORMANCE_CASE(send_of_hundreds_of_kibibytes_arrives_in_both_directions,
                 rules("ddp.untagged.placed-at-mo", "ddp.segmentation.all-data-sent"),
                 in_both_roles, deadline_of(60s)) {
  StreamPeer& partner = connect_partner();
  send_to_iut(*this, partner, PayloadGenerator(35).octets(200'001));
  send_from_iut(*this, partner, PayloadGenerator(36).octets(200'001));
}

CASES_OF_FILE(rdmap, transfer_integrity)

}  // namespace suite::cases
