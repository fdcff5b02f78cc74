// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each way of sending wrongly is found and named by its rule;
// right streams, in whatever cut, are found right.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "suite/lower_tester/tests/observed.hpp"

using namespace suite::lower_tester;
using suite::lower_tester::tests::Observed;

namespace {

std::set<std::string> faults_of(const Outgoing& message) {
  const auto iut = Observed::started();
  iut->sends(message);
  return iut->told();
}

bool breaks(const Outgoing& message, const std::string& rule) {
  const auto iut = Observed::started();
  iut->sends(message);
  return iut->breaks(rule);
}

std::set<std::string> faults_of_frame(const StartupFrame& frame) {
  Observed iut(frame.kind);
  if (frame.kind == wire::MpaFrameKind::reply)
    iut.judge.sent_frame(wire::MpaFrameKind::request, mpa_request().encode());
  iut.comes(frame.encode());
  return iut.told();
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
  iut->gets(ours);
  iut->sends(answer);
  return iut->told();
}

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(Faults)
BOOST_AUTO_TEST_SUITE(sender_judge)

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
    BOOST_TEST(iut->told().empty());
    BOOST_REQUIRE(iut->messages.size() == 7u);
    BOOST_TEST((iut->messages[0].payload == payload(5000)));
    BOOST_TEST(iut->messages[0].segments.size() == 4u);
    BOOST_TEST((iut->messages[3].payload == payload(4001)));
    BOOST_TEST(iut->messages[5].read_request()->source_offset == 5u);
    BOOST_TEST(!iut->reception.in_the_middle());
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
  BOOST_TEST(breaks(send.with_opcode(0x0), "rdmap.header.tagged-flag-per-opcode"));
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
  BOOST_TEST((iut->told() == Faults{"ddp.untagged.msn-increments-per-message"}));

  const auto at = [](std::size_t which, std::uint32_t offset) {
    return send_message(payload(30))
        .with_segments_of(10)
        .with_untagged([=](std::size_t i, wire::UntaggedHeader& h) {
          if (i == which) h.message_offset = offset;
        });
  };
  BOOST_TEST((faults_of(at(0, 4)) == Faults{"ddp.untagged.first-mo-zero"}));
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
  BOOST_TEST(iut->told().contains("ddp.segmentation.increasing-to"));
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
  BOOST_TEST((iut->told() == Faults{"ddp.header.l-set-on-last"}));
  BOOST_TEST(iut->messages.size() == 2u);
}

BOOST_AUTO_TEST_CASE(octets_that_nobody_has_described_may_be_blamed) {
  for (const bool more : {false, true}) {
    const auto iut = Observed::started();
    iut->gets(send_message(payload(8)));
    if (more) iut->judge.sent_undescribed();
    iut->sends(
        terminate_about(rdma_write(1, 2, payload(8)), wire::cause::ddp_tagged_invalid_stag, false));
    BOOST_TEST(iut->breaks("rdmap.terminate.ddp-header-copied") != more);
  }
}

BOOST_AUTO_TEST_CASE(a_message_may_be_cut_off_by_a_terminate_or_by_the_close) {
  const auto terminated = Observed::started();
  terminated->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  terminated->sends(terminate_message(wire::cause::rdmap_local_catastrophic));
  BOOST_TEST((terminated->told() == Faults{}));
  BOOST_REQUIRE(terminated->messages.size() == 2u);
  BOOST_TEST((terminated->messages[0].cut_off && !terminated->messages[1].cut_off));
  BOOST_TEST(terminated->messages[0].payload.size() == 10u);

  const auto closed = Observed::started();
  closed->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  closed->reception.examine_rest(true);
  closed->judge.closed();
  BOOST_TEST((closed->told() == Faults{}));
  BOOST_REQUIRE(closed->messages.size() == 1u);
  BOOST_TEST(closed->messages[0].cut_off);

  const auto left = Observed::started();
  left->sends(send_message(payload(30)).with_segments_of(10).segments(1440, 1).front());
  left->reception.examine_rest();
  left->judge.nothing_more_comes();
  BOOST_TEST((left->told() == Faults{"ddp.header.l-set-on-last"}));
}

BOOST_AUTO_TEST_CASE(wrong_framing_is_named) {
  const auto fault = [](Fpdu fpdu, Framing framing = {}) {
    const auto iut = Observed::started(framing);
    iut->sends(fpdu);
    return iut->told();
  };
  const auto breaks = [](const Fpdu& fpdu, const std::string& rule, Framing framing = {}) {
    const auto iut = Observed::started(framing);
    iut->sends(fpdu);
    return iut->breaks(rule);
  };
  const Fpdu good = send_message(payload(3)).segments(1440, 1).front();
  BOOST_TEST(breaks(good.with_crc(CrcChoice::wrong), "mpa.crc.field-holds-crc32c"));
  BOOST_TEST(
      (fault(good.with_crc(CrcChoice::zero)) == Faults{"mpa.crc.generated-when-either-c-one"}));
  BOOST_TEST((fault(good.with_crc(CrcChoice::wrong), {.crc = false}) == Faults{}));
  BOOST_TEST((fault(good.with_pad(octets({1}))) == Faults{"mpa.framing.pad-sent-as-zero"}));
  BOOST_TEST((fault(Fpdu{.ulpdu = octets({0x41, 0x43, 0})}) ==
              Faults{"ddp.header.present-in-every-segment"}));
  BOOST_TEST((fault(Fpdu{.ulpdu = {}}) == Faults{"ddp.header.present-in-every-segment"}));
  BOOST_TEST(breaks(send_message(payload(1441)).segments(5000, 1).front(),
                    "mpa.segmentation.records-within-mulpdu"));
  Fpdu marked = good;
  marked.change_before_crc = [](wire::MutableBytes octets) { octets[3] = std::byte{4}; };
  BOOST_TEST(
      breaks(marked, "mpa.markers.zero-pointer-between-fpdus", {.crc = true, .markers = true}));
  marked.change_before_crc = [](wire::MutableBytes octets) { octets[0] = std::byte{4}; };
  BOOST_TEST((fault(marked, {.crc = true, .markers = true}) ==
              Faults{"mpa.markers.reserved-sent-as-zero"}));
}

BOOST_AUTO_TEST_CASE(the_longest_mulpdu_counts_unless_the_emss_is_tiny) {
  const auto send_of = [](Observed& iut, std::size_t octets) {
    for (const Fpdu& fpdu : send_message(payload(octets)).segments(5000, iut.msn[0] += 1))
      iut.sends(fpdu);
  };
  const auto shrunk = Observed::started();
  send_of(*shrunk, 1400);
  shrunk->emss = 700;
  send_of(*shrunk, 1400);
  BOOST_TEST((shrunk->faults == Faults{}));
  send_of(*shrunk, 1441);
  BOOST_TEST(shrunk->breaks("mpa.segmentation.records-within-mulpdu"));

  const auto tiny = Observed::started();
  send_of(*tiny, 1400);
  tiny->emss = 128;
  send_of(*tiny, 1441);
  BOOST_TEST((tiny->told() == Faults{}));
}

BOOST_AUTO_TEST_CASE(what_the_iut_leaves_unfinished_is_named) {
  const Octets fpdu = encode(send_message(payload(9)).segments(1440, 1).front(), {});
  const auto ends_early = [&](bool closes) {
    const auto iut = Observed::started();
    iut->comes(part_of(fpdu, 0, 20));
    if (closes)
      iut->judge.closed();
    else
      iut->judge.nothing_more_comes();
    return iut->told();
  };
  BOOST_TEST((ends_early(true) == Faults{"mpa.framing.fpdu-layout"}));
  BOOST_TEST((ends_early(false) == Faults{"mpa.framing.fpdu-layout"}));
  // A reset may come anywhere.
  const auto broken = Observed::started();
  broken->comes(part_of(fpdu, 0, 20));
  broken->judge.reset();
  BOOST_TEST((broken->told() == Faults{}));
  const auto without_crc = Observed::started({.crc = false});
  without_crc->comes(part_of(fpdu, 0, fpdu.size() - 4));
  without_crc->judge.nothing_more_comes();
  BOOST_TEST(without_crc->breaks("mpa.crc.field-present-when-disabled"));
}

BOOST_AUTO_TEST_CASE(who_speaks_before_its_turn_is_named) {
  const Octets fpdu = encode(send_message({}).segments(1440, 1).front(), {});
  Observed initiator(wire::MpaFrameKind::request);
  initiator.comes(mpa_request().encode());
  initiator.comes(fpdu);
  BOOST_TEST((initiator.faults == Faults{}));
  initiator.judge.sent_frame(wire::MpaFrameKind::reply, mpa_reply().encode());
  BOOST_TEST((initiator.faults == Faults{"mpa.startup.no-fpdu-before-both-frames"}));

  Observed cut(wire::MpaFrameKind::request);
  cut.comes(mpa_request().encode());
  cut.comes(part_of(fpdu, 0, 9));
  cut.judge.sent_frame(wire::MpaFrameKind::reply, mpa_reply().with_reject().encode());
  BOOST_TEST((cut.told() == Faults{}));  // whether it was an FPDU does not show
  Observed answered_late(wire::MpaFrameKind::request);
  answered_late.comes(mpa_request().encode());
  answered_late.comes(part_of(fpdu, 0, 9));
  answered_late.judge.sent_frame(wire::MpaFrameKind::reply, mpa_reply().encode());
  answered_late.comes(part_of(fpdu, 9, fpdu.size() - 9));
  BOOST_TEST((answered_late.told() == Faults{"mpa.startup.no-fpdu-before-both-frames"}));
  Observed rejected(wire::MpaFrameKind::request);
  rejected.comes(mpa_request().encode());
  rejected.comes(fpdu);
  rejected.judge.sent_frame(wire::MpaFrameKind::reply, mpa_reply().with_reject().encode());
  BOOST_TEST((rejected.told() == Faults{"mpa.startup.no-fpdu-before-both-frames"}));

  Observed unanswered(wire::MpaFrameKind::request);
  unanswered.comes(mpa_request().encode());
  unanswered.comes(fpdu);
  BOOST_TEST((unanswered.told() == Faults{"mpa.startup.no-fpdu-before-both-frames"}));

  Observed responder;
  responder.judge.sent_frame(wire::MpaFrameKind::request, mpa_request().encode());
  responder.comes(mpa_reply().encode());
  responder.comes(fpdu);
  BOOST_TEST((responder.faults == Faults{"mpa.startup.responder-silent-before-first-fpdu"}));

  // Part of an FPDU gives it no turn (RFC 5044 section 7.1.2).
  Observed hasty;
  hasty.judge.sent_frame(wire::MpaFrameKind::request, mpa_request().encode());
  hasty.comes(mpa_reply().encode());
  hasty.judge.sent_undescribed();
  hasty.comes(fpdu);
  BOOST_TEST((hasty.faults == Faults{"mpa.startup.responder-silent-before-first-fpdu"}));

  Observed patient;
  patient.judge.sent_frame(wire::MpaFrameKind::request, mpa_request().encode());
  patient.comes(mpa_reply().encode());
  patient.gets(send_message({}));
  patient.comes(fpdu);
  BOOST_TEST((patient.told() == Faults{}));
}

BOOST_AUTO_TEST_CASE(the_tester_is_never_blamed) {
  const auto iut = Observed::started();
  iut->gets(send_message(payload(3)).with_queue(9).with_msn(77).with_ddp_version(2));
  iut->judge.sent_fpdu(octets({1, 2, 3}), true);
  iut->judge.sent_fpdu(octets({1, 2, 3}), false);
  iut->gets(read_response(1, 2, payload(5)));
  iut->gets(terminate_message({7, 7, 7}));
  iut->gets(send_message({}));
  BOOST_TEST((iut->told() == Faults{}));
}

BOOST_AUTO_TEST_CASE(a_damaged_request_asks_for_nothing) {
  const auto iut = Observed::started();
  const Outgoing read = read_request(
      {.sink_stag = 1, .sink_offset = 2, .length = 3, .source_stag = 4, .source_offset = 5});
  for (const Fpdu& fpdu : read.segments(1440, 1)) iut->judge.sent_fpdu(fpdu.ulpdu, false);
  iut->sends(read_response(1, 2, payload(3)));
  BOOST_TEST((iut->told() == Faults{"rdmap.read.response-opposite-direction"}));
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
  Observed reserved(wire::MpaFrameKind::request);
  reserved.comes(enhanced.with_flag(0x08).encode());
  BOOST_TEST(reserved.breaks("mpa.enhanced.reserved-bits-sent-as-zero"));
  BOOST_TEST(
      faults_of_frame(enhanced.with_revision(1)).contains("mpa.enhanced.revision-two-or-higher"));
  BOOST_TEST((faults_of_frame(mpa_request().with_enhanced({.rtr_send = true})) ==
              Faults{"mpa.enhanced.rtr-flags-zero-without-a"}));
  BOOST_TEST((faults_of_frame(mpa_request().with_revision(2).with_flag(wire::MpaFlags::s)) ==
              Faults{"mpa.enhanced.private-data-starts-with-enhanced-data"}));
}

BOOST_AUTO_TEST_CASE(what_follows_no_startup_frame_is_not_judged) {
  Observed iut(wire::MpaFrameKind::request);
  iut.comes(payload(600));
  iut.comes(encode(send_message({}).with_queue(7).segments(1440, 1).front(), {}));
  BOOST_TEST((iut.told() == Faults{"mpa.startup.request-key"}));
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

BOOST_AUTO_TEST_CASE(terminate_may_blame_the_first_of_two_segments_with_one_header) {
  constexpr int between = 500;
  const Outgoing write = rdma_write(1, 2, payload(9));
  const auto iut = Observed::started();
  iut->gets(write);
  for (int i = 0; i < between; ++i) iut->gets(rdma_write(3, 4, payload(5)));
  iut->gets(rdma_write(1, 2, payload(8)));
  iut->sends(terminate_about(write, wire::cause::ddp_tagged_base_or_bounds, false));
  BOOST_TEST((iut->told() == Faults{}));
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
  BOOST_TEST((iut->told() == Faults{"rdmap.terminate.nothing-sent-after"}));
}

BOOST_AUTO_TEST_SUITE_END()
