// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each way of sending wrongly is found and named by its rule;
// right streams, in whatever cut, are found right.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "suite/lower_tester/sender_rules.hpp"

using namespace suite::lower_tester;

namespace {

/// An IUT's stream, looked at through Intake and SenderRules.
struct Observed : Intake::Listener {
  std::set<std::string> faults;
  std::vector<Message> messages;
  std::vector<ReceivedFrame> frames;
  std::vector<Malformed> malformed;
  std::size_t max_ulpdu = 1440;
  SenderRules rules{[this](const SenderFault& fault) { faults.insert(std::string(fault.rule)); }};
  Intake intake;
  Framing framing;
  std::map<std::uint32_t, std::uint32_t> msn;

  explicit Observed(wire::MpaFrameKind kind = wire::MpaFrameKind::reply) : intake(kind, *this) {}
  /// An IUT in RDMA mode.
  static std::unique_ptr<Observed> started(Framing framing = {}) {
    auto observed = std::make_unique<Observed>();
    observed->framing = framing;
    observed->intake.take(mpa_reply().encode());
    observed->intake.start_fpdus(framing.crc, framing.markers);
    return observed;
  }

  void sends(const Fpdu& fpdu) {
    const Octets octets = encode(fpdu, framing);
    framing.position += octets.size();
    for (const std::byte octet : octets) intake.take(wire::Bytes(&octet, 1));
  }
  void sends(const Outgoing& message) {
    auto& next = msn.try_emplace(message.queue_number(), 1U).first->second;
    for (const Fpdu& fpdu : message.segments(max_ulpdu, message.tagged ? 0 : next++)) sends(fpdu);
  }

  void on_frame(const ReceivedFrame& frame) override {
    frames.push_back(frame);
    rules.check(frame);
  }
  void on_fpdu(const ReceivedFpdu& fpdu, const wire::Segment& segment) override {
    rules.check(fpdu, segment, max_ulpdu);
  }
  void on_message(const Message& message, bool broken_off) override {
    messages.push_back(message);
    rules.check(message, broken_off);
  }
  void on_malformed(const Malformed& what, RuleId rule) override {
    malformed.push_back(what);
    rules.check(what, rule);
  }
};

std::set<std::string> faults_of(const Outgoing& message) {
  const auto iut = Observed::started();
  iut->sends(message);
  return iut->faults;
}

std::set<std::string> faults_of_frame(const StartupFrame& frame) {
  Observed iut(frame.kind);
  iut.intake.take(frame.encode());
  return iut.faults;
}

using Faults = std::set<std::string>;

/// The Terminate that a conforming IUT sends about `offending`, with the header bits of Figure 10.
Outgoing terminate_about(const Outgoing& offending, wire::TerminateCause cause, bool rdma_header) {
  const Octets ulpdu = offending.segments(1440, 1).front().ulpdu;
  const auto segment = wire::parse_segment(ulpdu);
  wire::Terminate terminate;
  terminate.cause = cause;
  terminate.m = terminate.d = true;
  terminate.r = rdma_header;
  terminate.segment_length = static_cast<std::uint16_t>(ulpdu.size());
  terminate.ddp_header = segment->header();
  if (rdma_header) terminate.rdmap_header = segment->payload;
  Octets data(200);
  wire::Writer out(data);
  wire::format_terminate(out, terminate);
  Outgoing message = terminate_message(cause);
  message.payload = Octets(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(out.size()));
  return message;
}

std::set<std::string> faults_of_answer(const Outgoing& ours, const Outgoing& answer) {
  const auto iut = Observed::started();
  for (const Fpdu& fpdu : ours.segments(1440, 1)) iut->rules.note_sent(fpdu.ulpdu);
  iut->sends(answer);
  return iut->faults;
}

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(Faults)
BOOST_AUTO_TEST_SUITE(sender_rules)

BOOST_AUTO_TEST_CASE(a_right_stream_has_no_fault) {
  for (const Framing& framing :
       {Framing{.crc = true, .markers = false}, Framing{.crc = true, .markers = true},
        Framing{.crc = false, .markers = true}}) {
    const auto iut = Observed::started(framing);
    iut->sends(send_message(payload(5000)));
    iut->sends(send_message({}));
    iut->sends(send_invalidate(7, payload(3)));
    iut->sends(rdma_write(1, 2, payload(4001)));
    iut->sends(rdma_write(0, 0, {}));
    iut->sends(read_request(
        {.sink_stag = 1, .sink_offset = 2, .length = 3, .source_stag = 4, .source_offset = 5}));
    iut->sends(immediate_data(payload(8)));
    BOOST_TEST(iut->faults.empty());
    BOOST_REQUIRE(iut->messages.size() == 7u);
    BOOST_TEST((iut->messages[0].payload == payload(5000)));
    BOOST_TEST(iut->messages[0].segments.size() == 4u);
    BOOST_TEST((iut->messages[3].payload == payload(4001)));
    BOOST_TEST(iut->messages[5].read_request()->source_offset == 5u);
    BOOST_TEST(!iut->intake.in_the_middle());
  }
}

BOOST_AUTO_TEST_CASE(wrong_fields_are_named_by_their_rules) {
  const Outgoing send = send_message(payload(20));
  BOOST_TEST((faults_of(send.with_ddp_reserved(0x04)) == Faults{"ddp.header.rsvd-zero-on-send"}));
  BOOST_TEST((faults_of(send.with_ddp_version(0)) == Faults{"ddp.header.dv-is-one"}));
  BOOST_TEST(
      (faults_of(send.with_rdmap_reserved(0x10)) == Faults{"rdmap.header.reserved-bits-zero"}));
  BOOST_TEST((faults_of(send.with_rdmap_version(0)) == Faults{"rdmap.header.version-one"}));
  BOOST_TEST((faults_of(send.with_opcode(0xC)) == Faults{"rdmap.header.opcode-from-table"}));
  BOOST_TEST((faults_of(send.with_opcode(0x0)) == Faults{"rdmap.header.tagged-flag-per-opcode"}));
  BOOST_TEST((faults_of(send.with_queue(1)) == Faults{"rdmap.send.queue-zero"}));
  BOOST_TEST((faults_of(send.with_ulp_word(1)) == Faults{"rdmap.header.invalidate-stag-zero"}));
  BOOST_TEST((faults_of(send.with_msn(0)) == Faults{"ddp.untagged.msn-starts-at-one"}));
  BOOST_TEST(
      (faults_of(immediate_data(payload(7))) == Faults{"rdmap.immediate.eight-octets-sent"}));
  const auto short_read = read_request({});
  BOOST_TEST(faults_of([&] {
               Outgoing cut = short_read;
               cut.payload.pop_back();
               return cut;
             }())
                 .contains("rdmap.read.request-header-format"));
}

BOOST_AUTO_TEST_CASE(wrong_numbering_is_named) {
  const auto iut = Observed::started();
  iut->sends(send_message({}));
  iut->sends(send_message({}).with_msn(3));
  BOOST_TEST((iut->faults == Faults{"ddp.untagged.msn-increments-per-message"}));

  const auto at = [](std::size_t which, std::uint32_t offset) {
    return send_message(payload(30))
        .with_segments_of(10)
        .with_untagged([=](std::size_t i, wire::UntaggedHeader& h) {
          if (i == which) h.message_offset = offset;
        });
  };
  BOOST_TEST(faults_of(at(0, 4)).contains("ddp.untagged.first-mo-zero"));
  BOOST_TEST((faults_of(at(1, 11)).contains("ddp.segmentation.mo-is-message-offset")));
  const auto shifted = rdma_write(1, 100, payload(30))
                           .with_segments_of(10)
                           .with_tagged([](std::size_t i, wire::TaggedHeader& h) {
                             if (i == 2) h.tagged_offset = 121U;
                           });
  BOOST_TEST((faults_of(shifted) == Faults{"ddp.segmentation.to-is-initial-plus-offset"}));
}

BOOST_AUTO_TEST_CASE(segments_of_one_message_have_one_msn) {
  const auto renumbered = send_message(payload(30))
                              .with_segments_of(10)
                              .with_untagged([](std::size_t i, wire::UntaggedHeader& h) {
                                if (i == 1) h.message_sequence_number = 2U;
                              });
  BOOST_TEST((faults_of(renumbered) == Faults{"ddp.untagged.msn-same-in-segments"}));
}

BOOST_AUTO_TEST_CASE(segments_in_another_order_are_whole_but_noted) {
  const auto iut = Observed::started();
  auto fpdus = rdma_write(1, 100, payload(30)).with_segments_of(10).segments(1440, 0);
  std::swap(fpdus[0], fpdus[1]);
  for (const Fpdu& fpdu : fpdus) iut->sends(fpdu);
  BOOST_TEST(iut->faults.contains("ddp.segmentation.increasing-to"));
  BOOST_REQUIRE(iut->messages.size() == 1u);
  BOOST_TEST((iut->messages[0].payload == payload(30)));
  BOOST_TEST(iut->messages[0].tagged_offset() == 100u);
}

BOOST_AUTO_TEST_CASE(a_message_without_its_last_flag_is_named) {
  const auto iut = Observed::started();
  iut->sends(send_message(payload(4)).with_untagged([](std::size_t, wire::UntaggedHeader& h) {
    h.ddp.octet &= 0xBF;
  }));
  iut->sends(send_message(payload(4)));
  BOOST_TEST((iut->faults == Faults{"ddp.header.l-set-on-last"}));
  BOOST_TEST(iut->messages.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_message_may_be_cut_off_by_a_terminate_or_by_the_close) {
  const auto terminated = Observed::started();
  terminated->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  terminated->sends(terminate_message(wire::cause::rdmap_local_catastrophic));
  BOOST_TEST((terminated->faults == Faults{}));
  BOOST_REQUIRE(terminated->messages.size() == 2u);
  BOOST_TEST((terminated->messages[0].cut_off && !terminated->messages[1].cut_off));
  BOOST_TEST(terminated->messages[0].payload.size() == 10u);

  const auto closed = Observed::started();
  closed->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  closed->intake.examine_rest(true);
  BOOST_TEST((closed->faults == Faults{}));
  BOOST_REQUIRE(closed->messages.size() == 1u);
  BOOST_TEST(closed->messages[0].cut_off);

  const auto left = Observed::started();
  left->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  left->intake.examine_rest();
  BOOST_TEST((left->faults == Faults{"ddp.header.l-set-on-last"}));
}

BOOST_AUTO_TEST_CASE(wrong_framing_is_named) {
  const auto fault = [](Fpdu fpdu, Framing framing = {}) {
    const auto iut = Observed::started(framing);
    iut->sends(fpdu);
    return iut->faults;
  };
  const Fpdu good = send_message(payload(3)).segments(1440, 1).front();
  BOOST_TEST((fault(good.with_crc(CrcChoice::wrong)) == Faults{"mpa.crc.field-holds-crc32c"}));
  BOOST_TEST((fault(good.with_crc(CrcChoice::wrong), {.crc = false}) == Faults{}));
  BOOST_TEST((fault(good.with_pad(octets({1}))) == Faults{"mpa.framing.pad-sent-as-zero"}));
  BOOST_TEST((fault(Fpdu{.ulpdu = octets({0x41, 0x43, 0})}) ==
              Faults{"ddp.header.present-in-every-segment"}));
  BOOST_TEST((fault(Fpdu{.ulpdu = {}}) == Faults{"ddp.header.present-in-every-segment"}));
  BOOST_TEST((fault(send_message(payload(1441)).segments(5000, 1).front()) ==
              Faults{"mpa.segmentation.records-within-mulpdu"}));
  Fpdu marked = good;
  marked.change_before_crc = [](wire::MutableBytes octets) { octets[3] = std::byte{4}; };
  BOOST_TEST((fault(marked, {.crc = true, .markers = true}) ==
              Faults{"mpa.markers.zero-pointer-between-fpdus"}));
  marked.change_before_crc = [](wire::MutableBytes octets) { octets[0] = std::byte{4}; };
  BOOST_TEST((fault(marked, {.crc = true, .markers = true}) ==
              Faults{"mpa.markers.reserved-sent-as-zero"}));
}

BOOST_AUTO_TEST_CASE(the_longest_mulpdu_counts_unless_the_emss_is_tiny) {
  const auto iut = Observed::started();
  const auto send_of = [&](std::size_t octets) {
    for (const Fpdu& fpdu : send_message(payload(octets)).segments(5000, iut->msn[0] += 1))
      iut->sends(fpdu);
  };
  send_of(1400);
  iut->max_ulpdu = 700;
  send_of(1400);
  BOOST_TEST((iut->faults == Faults{}));
  send_of(1441);
  BOOST_TEST((iut->faults == Faults{"mpa.segmentation.records-within-mulpdu"}));
  iut->faults.clear();
  iut->max_ulpdu = 128;
  send_of(1441);
  BOOST_TEST((iut->faults == Faults{}));
}

BOOST_AUTO_TEST_CASE(wrong_startup_frames_are_named) {
  BOOST_TEST((faults_of_frame(mpa_request()) == Faults{}));
  BOOST_TEST((faults_of_frame(mpa_request().with_flag(0x01)) ==
              Faults{"mpa.startup.reserved-bits-sent-as-zero"}));
  BOOST_TEST((faults_of_frame(mpa_request().with_reject()) ==
              Faults{"mpa.startup.request-r-sent-as-zero"}));
  BOOST_TEST((faults_of_frame(mpa_request().with_key("MPA ID Rep Frame")) ==
              Faults{"mpa.startup.request-key"}));
  BOOST_TEST((faults_of_frame(mpa_reply().with_key("MPA ID Req Frame")) ==
              Faults{"mpa.startup.reply-key"}));
  BOOST_TEST((faults_of_frame(mpa_request().with_pd_length(513)) ==
              Faults{"mpa.private-data.at-most-512-octets"}));
  const auto enhanced = mpa_request().with_enhanced({.ird = 1, .ord = 1});
  BOOST_TEST((faults_of_frame(enhanced) == Faults{}));
  BOOST_TEST((faults_of_frame(enhanced.with_flag(0x08)) ==
              Faults{"mpa.enhanced.reserved-bits-sent-as-zero"}));
  BOOST_TEST(
      faults_of_frame(enhanced.with_revision(1)).contains("mpa.enhanced.revision-two-or-higher"));
  BOOST_TEST((faults_of_frame(mpa_request().with_enhanced({.rtr_send = true})) ==
              Faults{"mpa.enhanced.rtr-flags-zero-without-a"}));
  BOOST_TEST((faults_of_frame(mpa_request().with_revision(2).with_flag(wire::MpaFlags::s)) ==
              Faults{"mpa.enhanced.private-data-starts-with-enhanced-data"}));
}

BOOST_AUTO_TEST_CASE(read_responses_are_held_against_their_requests) {
  const Outgoing ours = read_request(
      {.sink_stag = 1, .sink_offset = 2, .length = 3, .source_stag = 4, .source_offset = 5});
  BOOST_TEST((faults_of_answer(ours, read_response(1, 2, payload(3))) == Faults{}));
  BOOST_TEST((faults_of_answer(ours, read_response(9, 2, payload(3))) ==
              Faults{"rdmap.read.sink-stag-copied"}));
  BOOST_TEST((faults_of_answer(ours, read_response(1, 9, payload(3))) ==
              Faults{"rdmap.read.sink-to-copied"}));
  BOOST_TEST((faults_of_answer(ours, read_response(1, 2, payload(2))) ==
              Faults{"rdmap.read.response-length-matches-request"}));
  BOOST_TEST((faults_of_answer(send_message({}), read_response(1, 2, payload(3))) ==
              Faults{"rdmap.read.response-opposite-direction"}));
  const Outgoing atomic = fetch_add(7, 1, 8, 1);
  BOOST_TEST((faults_of_answer(atomic, atomic_response(7, 0)) == Faults{}));
  BOOST_TEST((faults_of_answer(atomic, atomic_response(8, 0)) ==
              Faults{"rdmap.atomic.response-identifier-original"}));
  BOOST_TEST((faults_of_answer(ours, atomic_response(8, 0)) ==
              Faults{"rdmap.atomic.response-opposite-direction"}));
}

BOOST_AUTO_TEST_CASE(terminates_are_held_against_figure_10_and_what_they_copy) {
  const Outgoing write = rdma_write(1, 2, payload(9));
  const auto bounds = wire::cause::ddp_tagged_base_or_bounds;
  const Outgoing right = terminate_about(write, bounds, false);
  BOOST_TEST((faults_of_answer(write, right) == Faults{}));
  BOOST_TEST((faults_of_answer(rdma_write(8, 2, payload(9)), right) ==
              Faults{"rdmap.terminate.ddp-header-copied"}));
  BOOST_TEST((faults_of_answer(rdma_write(1, 2, payload(8)), right) ==
              Faults{"rdmap.terminate.segment-length-value"}));
  BOOST_TEST((faults_of_answer(write, terminate_message(bounds)) ==
              Faults{"rdmap.terminate.ddp-error-ddp-header"}));
  BOOST_TEST((faults_of_answer(write, right.with_queue(0)).contains("rdmap.terminate.queue-two")));

  const Outgoing read = read_request(
      {.sink_stag = 1, .sink_offset = 2, .length = 3, .source_stag = 4, .source_offset = 5});
  const auto access = wire::cause::rdmap_access_rights;
  BOOST_TEST((faults_of_answer(read, terminate_about(read, access, true)) == Faults{}));
  BOOST_TEST((faults_of_answer(read, terminate_about(read, access, false)) ==
              Faults{"rdmap.terminate.protection-error-rdma-header"}));
  const Outgoing other = read_request(
      {.sink_stag = 1, .sink_offset = 2, .length = 3, .source_stag = 4, .source_offset = 6});
  BOOST_TEST((faults_of_answer(other, terminate_about(read, access, true)) ==
              Faults{"rdmap.terminate.read-header-original"}));
  BOOST_TEST((faults_of_answer(read, terminate_message({0, 3, 0}))
                  .contains("rdmap.terminate.control-values-defined")));
}

BOOST_AUTO_TEST_CASE(nothing_may_follow_a_terminate) {
  const auto iut = Observed::started();
  iut->sends(terminate_message(wire::cause::rdmap_local_catastrophic));
  BOOST_TEST(iut->faults.empty());
  iut->sends(send_message({}));
  BOOST_TEST((iut->faults == Faults{"rdmap.terminate.nothing-sent-after"}));
}

BOOST_AUTO_TEST_SUITE_END()
