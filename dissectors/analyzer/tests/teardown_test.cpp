// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The end of a stream of which no Terminate says why it ends (RFC 5040 section 6.2): noted, and never a
// broken rule.
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/tests/traffic.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::analyzer::tests {

namespace {

/// A stream on which the client has sent one Send.
struct Stream {
  Stream() {
    pair.client.send(10);
    pair.start(link);
  }
  /// Sends what has not been sent.
  void carry(Direction from) {
    const Sender& end = from == to_server ? pair.client : pair.server;
    std::size_t& sent = sent_[from == to_server ? 0 : 1];
    link.carry_all(from, end.octets, std::max(sent, end.origin));
    sent = end.octets.size();
  }
  void close(Direction from) {
    link.close(from, (from == to_server ? pair.client : pair.server).octets.size());
  }
  void reset(Direction from) {
    capture::Segment segment = link.blank(from);
    segment.rst = true;
    link.pass(segment);
  }
  /// The notes of the whole stream, once the capture has ended.
  std::size_t noted() {
    link.analyzer.finish();
    return link.record.noted(NoteKind::no_terminate);
  }
  void damage_a_send() {
    pair.client.send(20);
    pair.client.octets.back() ^= std::byte{1};
  }
  void terminate() {
    Octets ulpdu(wire::untagged_header_size + sizeof(wire::TerminateControl));
    wire::UntaggedHeader header;
    header.ddp = wire::DdpControl::make(false, true);
    header.rdmap = wire::RdmapControl::make(wire::Opcode::terminate);
    header.queue_number = static_cast<std::uint32_t>(wire::queue_of(wire::Opcode::terminate));
    header.message_sequence_number = 1;
    wire::Writer(ulpdu).write(header);
    ulpdu[wire::untagged_header_size] = std::byte{0x20};   // LLP
    ulpdu[wire::untagged_header_size + 1] = std::byte{2};  // CRC
    pair.server.fpdu(ulpdu);
  }

  Pair pair{false, false};
  Link link;

 private:
  std::array<std::size_t, 2> sent_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(teardown)

BOOST_AUTO_TEST_CASE(stream_that_is_done_needs_no_terminate) {
  Stream it;
  it.carry(to_server);
  it.close(to_server);
  it.close(to_client);
  BOOST_TEST(it.noted() == 0U);
}

BOOST_AUTO_TEST_CASE(end_that_closes_after_an_error) {
  for (const bool terminates : {false, true}) {
    Stream it;
    it.damage_a_send();
    it.carry(to_server);
    if (terminates) it.terminate();
    it.carry(to_client);
    it.close(to_client);
    it.close(to_server);
    BOOST_TEST(it.link.record.broken("mpa.crc.crc32c-as-in-iscsi"));
    BOOST_TEST(it.noted() == (terminates ? 0U : 1U));
    if (terminates) continue;
    const Note& note = it.link.record.notes.back();
    BOOST_TEST((note.place.direction == to_client));
    BOOST_TEST(note.text.contains("after frame 5 broke mpa.crc.crc32c-as-in-iscsi"), note.text);
  }
}

BOOST_AUTO_TEST_CASE(end_that_closes_within_a_message) {
  Stream it;
  it.pair.client.send(10, false);
  it.carry(to_server);
  it.close(to_server);
  it.close(to_client);
  BOOST_TEST(it.noted() == 1U);
}

BOOST_AUTO_TEST_CASE(reset_in_midstream) {
  Stream it;
  it.carry(to_server);
  it.reset(to_client);
  BOOST_TEST(it.noted() == 1U);

  Stream closing;
  closing.carry(to_server);
  closing.close(to_server);
  closing.reset(to_client);
  BOOST_TEST(closing.noted() == 0U);

  Stream unused;  // no stream was there
  unused.reset(to_client);
  BOOST_TEST(unused.noted() == 0U);
}

BOOST_AUTO_TEST_CASE(terminate_that_may_be_in_what_is_missing) {
  Stream it;
  it.damage_a_send();
  it.carry(to_server);
  it.terminate();  // and is not captured
  it.link.acknowledge_in_vain(to_server, it.pair.server.octets.size());
  it.close(to_client);
  it.close(to_server);
  BOOST_TEST(it.link.record.noted(NoteKind::octets_missing) == 1U);
  BOOST_TEST(it.noted() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
