// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 6581 section 9.2: connection models and RTR indications with the IUT as Responder.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

/// One of the three RTR indications, and how it is offered and made.
struct RtrKind {
  const char* name;
  bool Words::* flag;
  Outgoing indication;
};
const std::vector<RtrKind>& rtr_kinds() {
  static const std::vector<RtrKind> kinds{
      {"send", &Words::rtr_send, send_message({})},
      {"write", &Words::rtr_write, rdma_write(0x1234, 0, {})},
      {"read", &Words::rtr_read, read_request({.sink_stag = 0x1234, .source_stag = 0x5678})}};
  return kinds;
}
Words offering(const RtrKind& kind) {
  Words words{.peer_to_peer = true, .ird = 4, .ord = 4};
  words.*kind.flag = true;
  return words;
}

/// Continues as the Reply asks, so that a case about the Reply alone leaves a connection that has
/// come up. Other cases judge what the IUT does with it.
void go_on_after(Body& on, const Words& reply) {
  const auto kind =
      std::ranges::find_if(rtr_kinds(), [&](const RtrKind& one) { return reply.*one.flag; });
  if (kind == rtr_kinds().end()) return;
  on.peer.send(kind->indication);
  static_cast<void>(on.iut.take(established().matches, on.context().deadline));
}

/// The kind is in the Reply to a Request that offers it; otherwise nothing is judged.
void need_kind(Body& on, const RtrKind& kind, const std::optional<Words>& reply) {
  if (reply && *reply.*kind.flag) return;
  if (reply) go_on_after(on, *reply);
  throw lacking_rtr_kind(fmt::format("the IUT does not accept a {} as RTR indication", kind.name));
}

}  // namespace

CONFORMANCE_CASE(flag_a_is_echoed, rules("mpa.enhanced.flag-a-echoed"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const auto echoed = reply_words("A set", [](const Words& words) { return words.peer_to_peer; });
  for (const RtrKind& kind : rtr_kinds()) {
    row(fmt::format("offering {}", kind.name), [&] {
      ask(*this, enhanced_request(offering(kind)));
      const Arrival reply = expect(peer.raw(), echoed);
      go_on_after(*this, *words_of(*reply.as<ReceivedFrame>()));
    });
  }
}

CONFORMANCE_CASE(rejection_states_the_rtr_kinds_too,
                 rules("mpa.enhanced.matching-rtr-flags-set", "mpa.enhanced.flag-a-echoed",
                       "mpa.startup.reply-r-tells-rejection"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  ask(*this, enhanced_request(any_rtr));
  const Arrival accepted = expect(
      peer.raw(), reply_words("A set", [](const Words& words) { return words.peer_to_peer; }),
      "mpa.enhanced.flag-a-echoed");
  const Words supported = *words_of(*accepted.as<ReceivedFrame>());
  go_on_after(*this, supported);
  Peer& other = another_peer();
  if (const auto done = other.connect(iut_address()); !done)
    stop(Verdict::inconclusive, done.error());
  other.send(enhanced_request(any_rtr));
  iut.reject(asked(*this).request);
  const Arrival rejection = expect(other, rejecting_reply(), "mpa.startup.reply-r-tells-rejection");
  const auto words = words_of(*rejection.as<ReceivedFrame>());
  // RFC 6581 9.2 is about any Reply, and about what the Responder supports.
  expect_that(words && words->peer_to_peer, "A set", rejection.text(),
              "mpa.enhanced.flag-a-echoed");
  advise_that(words->rtr_send == supported.rtr_send && words->rtr_write == supported.rtr_write &&
                  words->rtr_read == supported.rtr_read,
              "the RTR kinds of the accepting Reply", rejection.text());
}

CONFORMANCE_CASE(client_server_request_gets_a_client_server_reply,
                 rules("mpa.enhanced.flag-a-zero-echoed", "mpa.enhanced.rtr-flags-zero-without-a"),
                 needs(capability::enhanced_startup)) {
  ask(*this, enhanced_request(client_server));
  const Arrival reply =
      expect(peer.raw(), reply_words("A clear", [](const Words& w) { return !w.peer_to_peer; }));
  expect_that(!any_rtr_flag(*words_of(*reply.as<ReceivedFrame>())), "B, C and D clear",
              reply.text(), "mpa.enhanced.rtr-flags-zero-without-a");
}

CONFORMANCE_CASE(rtr_flags_without_flag_a_have_no_effect,
                 rules("mpa.enhanced.rtr-flags-ignored-without-a"),
                 needs(capability::enhanced_startup)) {
  Words words = any_rtr;
  words.peer_to_peer = false;
  ask(*this, enhanced_request(words));
  expect(peer.raw(), reply_words("A clear", [](const Words& w) { return !w.peer_to_peer; }));
  const Work receive = iut.post_receive(64);
  peer.send(send_message(payload(8)));  // no RTR goes before it
  expect(receive, completes().with_length(8));
}

CONFORMANCE_CASE(reply_has_an_rtr_kind_that_was_offered,
                 rules("mpa.enhanced.one-matching-rtr-flag-at-least"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const auto words = words_of(reply_to(*this, enhanced_request(any_rtr)));
  const bool any = words && any_rtr_flag(*words);
  // The MUST binds those that support more than one kind.
  if (iut.can(capability::configure_rtr))
    expect_that(any, "B, C or D set", "none of them set");
  else
    advise_that(any, "B, C or D set", "none of them set");
  if (words) go_on_after(*this, *words);
}

CONFORMANCE_CASE(reply_has_all_rtr_kinds_in_common, rules("mpa.enhanced.matching-rtr-flags-set"),
                 needs(capability::enhanced_startup, capability::peer_to_peer),
                 configured({.rtr = {"write", "read"}})) {
  const auto words = words_of(reply_to(*this, enhanced_request(any_rtr)));
  advise_that(words && words->rtr_write && words->rtr_read, "C and D, which both sides support",
              "fewer");
  if (words) go_on_after(*this, *words);
}

CONFORMANCE_CASE(reply_names_an_rtr_kind_though_none_matches,
                 rules("mpa.enhanced.no-match-still-sets-a-flag"),
                 needs(capability::enhanced_startup, capability::peer_to_peer),
                 configured({.rtr = {"write"}})) {
  ask(*this, enhanced_request({.peer_to_peer = true, .rtr_read = true, .ird = 4, .ord = 4}));
  expect(peer.raw(), reply_words("B, C or D set", any_rtr_flag));
}

CONFORMANCE_CASE(responder_accepts_an_rtr_indication,
                 rules("mpa.enhanced.responder-supports-one-rtr-kind"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  int agreed = 0;
  for (const RtrKind& kind : rtr_kinds()) {
    row(fmt::format("zero-length {}", kind.name), [&] {
      const auto words = words_of(reply_to(*this, enhanced_request(offering(kind))));
      need_kind(*this, kind, words);
      ++agreed;
      peer.send(kind.indication);
      if (kind.flag == &Words::rtr_read)
        expect(peer, tagged_message(Opcode::read_response, 0x1234, 0, {}));
      expect(iut, established());
      expect_still_working();
    });
  }
  expect_that(agreed > 0, "at least one of the three kinds accepted", "none");
}

CONFORMANCE_CASE(rtr_indication_may_have_stag_zero,
                 rules("mpa.enhanced.responder-supports-one-rtr-kind"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  // It transfers nothing, so its STag is not checked (RFC 5041 section 5.2, RFC 5040 section 5.2).
  const std::pair<std::size_t, Outgoing> kinds[] = {{1, rdma_write(0, 0, {})},
                                                    {2, read_request({})}};
  for (const auto& [number, indication] : kinds) {
    const RtrKind& kind = rtr_kinds()[number];
    row(fmt::format("zero-length {}", kind.name), [&, &indication = indication] {
      const auto words = words_of(reply_to(*this, enhanced_request(offering(kind))));
      need_kind(*this, kind, words);
      peer.send(indication);
      if (kind.flag == &Words::rtr_read)
        expect(peer, tagged_message(Opcode::read_response, 0, 0, {}));
      expect(iut, established());
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(read_as_rtr_is_accepted_from_an_initiator_with_ord_zero,
                 rules("mpa.enhanced.responder-ird-may-grow-for-rtr",
                       "rdmap.read.zero-length-answered"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const RtrKind& kind = rtr_kinds()[2];
  const auto indicate = [&](std::uint16_t ord, RuleRef rule, int ird = 4) {
    const auto words = words_of(reply_to(
        *this, enhanced_request(with_depths_of(offering(kind), 4, ord)), with_depths(ird, 4)));
    need_kind(*this, kind, words);
    // A Reply that states Read as its only RTR kind promises to take one, whatever its IRD.
    peer.send(kind.indication);
    expect(peer, tagged_message(Opcode::read_response, 0x1234, 0, {}), rule);
    expect(iut, established(), "mpa.enhanced.responder-ird-may-grow-for-rtr");
  };
  indicate(1, "rdmap.read.zero-length-answered");
  close_connections();
  iut.reset();
  indicate(0, "mpa.enhanced.responder-ird-may-grow-for-rtr");
  close_connections();
  iut.reset();
  indicate(4, "mpa.enhanced.responder-ird-may-grow-for-rtr", 0);
}

CONFORMANCE_CASE(rtr_indication_does_not_touch_the_receive_queue,
                 rules("mpa.enhanced.startup-gives-no-completion"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const RtrKind& kind = rtr_kinds().front();  // a Send: the one that could use up a receive
  const Work receive = iut.post_receive(64);
  const auto words = words_of(reply_to(*this, enhanced_request(offering(kind))));
  need_kind(*this, kind, words);
  peer.send(kind.indication);
  peer.send(send_message(payload(8)));
  expect(receive, completes().with_length(8));
}

CONFORMANCE_CASE(part_of_an_rtr_indication_does_not_let_the_responder_send,
                 rules("mpa.startup.responder-silent-before-first-fpdu"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const RtrKind& kind = rtr_kinds()[1];
  for (const auto& [name, size, closes] :
       {std::tuple{"nothing and a FIN", 0U, true}, std::tuple{"two octets", 2U, false},
        std::tuple{"two octets and a FIN", 2U, true}, std::tuple{"all but its CRC", 16U, false},
        std::tuple{"all but its CRC and a FIN", 16U, true}}) {
    row(name, [&, size = size, closes = closes] {
      const auto words = words_of(reply_to(*this, enhanced_request(offering(kind))));
      need_kind(*this, kind, words);
      static_cast<void>(try_to_send(*this, octets("early")));
      const Fpdu fpdu = peer.prepare(kind.indication).front();
      peer.raw().means_to_send(fpdu.ulpdu);
      if (size != 0) peer.send_octets(wire::Bytes(encode(fpdu, peer.raw().sending())).first(size));
      if (closes)
        peer.half_close();
      else
        expect(peer.raw(), silence());
      // No text says when the consumer is told of the connection.
      const auto told = iut.take(established().matches, context().loop.now());
      advise_that(!told, "no connection without its RTR indication", "established");
      if (!closes) peer.half_close();
      // A Terminate is itself an FPDU.
      expect(peer.raw(), torn_down() | advisory(any_terminate()));
    });
  }
}

CONFORMANCE_CASE(first_message_other_than_an_rtr_is_detected,
                 rules("mpa.enhanced.rtr-sent-after-accept"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  // The RFC binds the Initiator and leaves the Responder's reaction open.
  row("a Write with payload", [&] {
    static_cast<void>(reply_to(*this, enhanced_request(any_rtr)));
    const Region target = iut.register_memory(16, access::remote_read_write);
    peer.send(rdma_write(target.stag, target.base, payload(8)));
    peer.send(read_of(target.stag, target.base, 1));
    const Arrival answer = peer.raw().next(context().deadline);
    advise_that(answer.message(Opcode::read_response) == nullptr, "an error of the connection",
                answer.text());
  });
  row("a Read Request for octets", [&] {
    static_cast<void>(reply_to(*this, enhanced_request(any_rtr)));
    const Region source = iut.register_memory(16, access::remote_read);
    peer.send(read_of(source.stag, source.base, 8));
    const Arrival answer = peer.raw().next(context().deadline);
    advise_that(answer.message(Opcode::read_response) == nullptr, "an error of the connection",
                answer.text());
  });
  // A kind that the Reply does not state has not been agreed on.
  for (const RtrKind& stated : rtr_kinds())
    for (const RtrKind& sent : rtr_kinds()) {
      if (&stated == &sent) continue;
      row(fmt::format("a zero-length {} in place of a {}", sent.name, stated.name), [&] {
        const auto words = words_of(reply_to(*this, enhanced_request(offering(stated))));
        need_kind(*this, stated, words);
        if ((*words).*sent.flag) stop(Verdict::not_applicable, "the Reply states this kind too");
        peer.send(sent.indication);
        const Arrival answer =
            peer.raw().next(context().loop.now() + 2 * environment().quiet_window);
        advise_that(answer.is_end() || answer.terminate().has_value(), "an error of the connection",
                    answer.text());
      });
    }
  const auto begun_by = [&](const char* name, const Outgoing& beginning) {
    row(name, [&] {
      static_cast<void>(reply_to(*this, enhanced_request(any_rtr)));
      peer.send(beginning);
      const Arrival answer = peer.raw().next(context().loop.now() + 2 * environment().quiet_window);
      advise_that(answer.is_end() || answer.terminate().has_value(), "an error of the connection",
                  answer.text());
    });
  };
  begun_by("an empty segment that begins a Send",
           send_message({}).with_untagged([](std::size_t, wire::UntaggedHeader& header) {
             header.ddp = wire::DdpControl::make(false, false);
           }));
  begun_by("an empty segment that begins a Write",
           rdma_write(0x1234, 0, {}).with_tagged([](std::size_t, wire::TaggedHeader& header) {
             header.ddp = wire::DdpControl::make(true, false);
           }));
}

CONFORMANCE_CASE(terminate_in_place_of_an_rtr_ends_the_stream,
                 rules("rdmap.terminate.delivered-to-rdmap"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  // An Initiator that cannot go on sends no RTR indication (RFC 6581 sections 9.1 and 9.2).
  for (const auto why :
       {cause::mpa_insufficient_ird, cause::mpa_no_rtr, cause::rdmap_local_catastrophic})
    row(rnic::wire::describe(why), [&] {
      static_cast<void>(reply_to(*this, enhanced_request(any_rtr)));
      // A Responder may report the connection with its Reply.
      const bool reported =
          iut.take(established().matches, context().loop.now() + environment().quiet_window)
              .has_value();
      peer.send(terminate_message(why));
      expect_end_by_terminate();
      const bool reported_now = iut.take(established().matches, context().loop.now()).has_value();
      advise_that(reported || !reported_now, "no connection reported because of a Terminate",
                  "an established event");
    });
}

namespace {

/// A listener of its own, to which the tester has connected.
struct Listening {
  iut::Handle handle;
  std::uint16_t port = 0;

  explicit Listening(Body& body) : handle(body.iut.new_handle()) {
    const base::Address own = body.iut_address();
    const iut::Reply reply = body.iut.call(
        iut::Listen{handle, own.host(), own.family == base::Family::ipv4 ? "ipv4" : "ipv6", 0},
        "listen once more");
    if (!reply.port) body.stop(Verdict::error, "a listener without a port");
    port = *reply.port;
  }
};

}  // namespace

CONFORMANCE_CASE(startup_outlives_another_listener,
                 rules("mpa.startup.responder-ready-for-fpdus")) {
  const auto goes_on = [&](const char* name, std::size_t sent_before, bool waits) {
    row(name, [&] {
      const Listening used(*this), other(*this);
      if (const auto done = peer.raw().connect(iut_address().with_port(used.port)); !done)
        stop(Verdict::inconclusive, done.error());
      const Octets request = mpa_request().encode();
      const std::size_t before = std::min(sent_before, request.size());
      peer.raw().send_octets(wire::Bytes(request).first(before));
      std::optional<iut::ConnectRequestEvent> arrived;
      if (waits) arrived = asked(*this);
      iut.call(iut::StopListening{other.handle}, "stop listening");
      peer.raw().send_octets(wire::Bytes(request).subspan(before));
      startup::accept(*this, arrived ? *arrived : asked(*this));
      expect(peer.raw(), accepting_reply());
      const Work receive = iut.post_receive(16);
      peer.send(send_message(payload(8)));
      expect(receive, completes().with_length(8));
    });
  };
  goes_on("a connection without octets", 0, false);
  goes_on("half a Request", 10, false);
  goes_on("a Request that waits for its consumer", 1000, true);
}

CONFORMANCE_CASE(connection_outlives_its_listener, rules("mpa.startup.responder-ready-for-fpdus"),
                 needs(capability::enhanced_startup, capability::peer_to_peer)) {
  const auto goes_on = [&](const char* name, const Words& words) {
    row(name, [&] {
      const Listening listening(*this);
      if (const auto done = peer.raw().connect(iut_address().with_port(listening.port)); !done)
        stop(Verdict::inconclusive, done.error());
      peer.raw().send(enhanced_request(words));
      startup::accept(*this, asked(*this));
      const Arrival reply = expect(peer.raw(), accepting_reply());
      iut.call(iut::StopListening{listening.handle}, "stop listening");
      if (const auto stated = words_of(*reply.as<ReceivedFrame>())) go_on_after(*this, *stated);
      const Work receive = iut.post_receive(16);
      peer.send(send_message(payload(8)));
      expect(receive, completes().with_length(8));
    });
  };
  goes_on("that awaits an RTR indication", offering(rtr_kinds().front()));
  goes_on("that awaits its first FPDU", client_server);
}

CASES_OF_FILE(mpa, responder_rtr)

}  // namespace suite::cases
