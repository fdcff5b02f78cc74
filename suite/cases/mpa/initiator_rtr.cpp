// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 6581 section 9.2: connection models and RTR indications with the IUT as Initiator.
#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

struct RtrKind {
  const char* name;
  bool Words::* flag;
  Opcode opcode;
};
constexpr RtrKind rtr_kinds[] = {{"send", &Words::rtr_send, Opcode::send},
                                 {"write", &Words::rtr_write, Opcode::rdma_write},
                                 {"read", &Words::rtr_read, Opcode::read_request}};

/// The Reply that states only this kind; the row is not applicable if the IUT did not offer it.
StartupFrame taking_only(const Body& on, const ReceivedFrame& request, const RtrKind& kind) {
  if (!(*words_of(request).*kind.flag))
    throw lacking_rtr_kind("the IUT does not offer this RTR kind");
  return accepting_with(on, request, [&](Words& words) {
    words.rtr_send = words.rtr_write = words.rtr_read = false;
    words.*kind.flag = true;
  });
}

ExpectedEvent any_completion() {
  return {"a completion", [](const iut::Event& event) {
            return std::holds_alternative<iut::CompletionEvent>(event);
          }};
}

bool is_zero_length(const Message& rtr) {
  if (rtr.opcode() != Opcode::read_request) return rtr.payload.empty();
  const auto read = rtr.read_request();
  return read && read->length == 0;
}

}  // namespace

CONFORMANCE_CASE(initiator_sends_the_rtr_that_was_agreed,
                 rules("mpa.enhanced.rtr-sent-after-accept", "mpa.enhanced.rtr-of-negotiated-kind",
                       "mpa.enhanced.rtr-is-zero-length"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  for (const RtrKind& kind : rtr_kinds) {
    row(kind.name, [&] {
      const ReceivedFrame request = enhanced_request_of(*this);
      peer.raw().send(taking_only(*this, request, kind));
      const Arrival arrival = expect(peer.raw(), any_rtr_indication());
      const Message& rtr = *arrival.as<Message>();
      expect_that(rtr.opcode() == kind.opcode, wire::name(kind.opcode), arrival.text(),
                  "mpa.enhanced.rtr-of-negotiated-kind");
      expect_that(is_zero_length(rtr), "no octets transferred", arrival.text(),
                  "mpa.enhanced.rtr-is-zero-length");
      answer_rtr(*this, rtr);
      expect(iut, established());
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(reads_continue_after_an_rtr_that_is_a_read,
                 rules("rdmap.resources.outbound-limit-kept"), needs(capability::enhanced_startup),
                 as_initiator, configured(peer_to_peer_model)) {
  const ReceivedFrame request = enhanced_request_of(*this);
  static_cast<void>(taking_only(*this, request, rtr_kinds[2]));  // the IUT must offer it
  peer.raw().send(accepting_with(*this, request, [](Words& words) {
    words.rtr_send = words.rtr_write = false;
    words.ird = 1;
  }));
  const Arrival rtr = expect(peer.raw(), message(Opcode::read_request));
  // The RTR takes up our IRD of one. Some IUTs report the connection to their consumer only after
  // the RTR has been answered.
  const auto deadline = context().loop.now() + environment().quiet_window;
  const bool up = iut.take(established().matches, deadline).has_value();
  std::optional<Work> early;
  if (up) {
    early = iut.post_read(8, 0x77, 0x1000);
    expect(peer, silence());
  }
  answer_rtr(*this, *rtr.as<Message>());
  if (!up) expect(iut, established());
  if (early) {
    const auto asked = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(asked->sink_stag, asked->sink_offset, payload(8)));
    expect(*early, completes());
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const Work read = iut.post_read(8, 0x77, 0x1000);
    const auto asked = expect_message(Opcode::read_request).read_request();
    peer.send(read_response(asked->sink_stag, asked->sink_offset, payload(8)));
    expect(read, completes());
  }
}

CONFORMANCE_CASE(rtr_indication_gives_no_completion,
                 rules("mpa.enhanced.startup-gives-no-completion"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  for (const RtrKind& kind : rtr_kinds) {
    row(kind.name, [&] {
      const ReceivedFrame request = enhanced_request_of(*this);
      peer.raw().send(taking_only(*this, request, kind));
      const Arrival arrival = expect(peer.raw(), any_rtr_indication());
      answer_rtr(*this, *arrival.as<Message>());
      expect_none(any_completion());
    });
  }
}

CONFORMANCE_CASE(work_is_flushed_while_the_rtr_indication_is_unanswered,
                 rules("mpa.enhanced.startup-gives-no-completion",
                       "ddp.close.outstanding-requests-fail"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  const ReceivedFrame request = enhanced_request_of(*this);
  const Work receive = iut.post_receive(16);
  peer.raw().send(taking_only(*this, request, rtr_kinds[2]));  // a Read, which has to be answered
  expect(peer.raw(), any_rtr_indication());
  peer.raw().reset();
  expect(receive, flushed(), "ddp.close.outstanding-requests-fail");
  expect_none(any_completion(), "mpa.enhanced.startup-gives-no-completion");
}

CONFORMANCE_CASE(rtr_indication_comes_before_the_ulps_messages,
                 rules("mpa.enhanced.rtr-before-other-fpdus"), needs(capability::enhanced_startup),
                 as_initiator, configured(peer_to_peer_model)) {
  const ReceivedFrame request = enhanced_request_of(*this);
  const bool early = try_to_send(*this, octets("early"));
  peer.raw().send(accepting(*this, request));
  const Arrival first = expect(peer.raw(), any_rtr_indication());
  expect_that(is_zero_length(*first.as<Message>()), "an RTR indication", first.text());
  answer_rtr(*this, *first.as<Message>());
  if (early) expect(peer.raw(), message(Opcode::send, octets("early")));
}

CONFORMANCE_CASE(rtr_kinds_that_were_not_offered_are_harmless,
                 rules("mpa.enhanced.extra-rtr-flags-allowed"), needs(capability::enhanced_startup),
                 as_initiator, configured({.peer_to_peer = true, .rtr = {"write"}})) {
  const ReceivedFrame request = enhanced_request_of(*this);
  peer.raw().send(accepting_with(*this, request, [](Words& words) {
    words.rtr_send = words.rtr_write = words.rtr_read = true;
  }));
  const Arrival rtr = expect(peer.raw(), any_rtr_indication());
  expect_that(is_zero_length(*rtr.as<Message>()), "an RTR indication", rtr.text());
  answer_rtr(*this, *rtr.as<Message>());
  expect(iut, established());
}

CONFORMANCE_CASE(missing_rtr_match_is_reported_by_a_terminate,
                 rules("mpa.enhanced.no-rtr-match-sends-term",
                       "mpa.enhanced.no-rtr-match-code-seven",
                       "mpa.enhanced.no-rtr-match-ends-connection",
                       "mpa.enhanced.error-layer-two-type-zero",
                       "mpa.enhanced.initiator-local-error-code-five"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured({.peer_to_peer = true, .rtr = {"write"}})) {
  const ReceivedFrame request = enhanced_request_of(*this);
  peer.raw().send(accepting_with(*this, request, [](Words& words) {
    words.rtr_send = words.rtr_write = false;
    words.rtr_read = true;
  }));
  const Arrival end = expect(peer.raw(), any_terminate() | advisory(torn_down()));
  if (!end.is_end()) {
    const auto terminate = end.terminate();
    expect_that(terminate && terminate->cause == cause::mpa_no_rtr, "the triplet 2/0/07",
                end.text(), "mpa.enhanced.no-rtr-match-code-seven");
    expect_connection_ends(*this, "mpa.enhanced.no-rtr-match-ends-connection");
  }
}

CONFORMANCE_CASE(peer_to_peer_reply_without_an_rtr_kind_is_reported_by_a_terminate,
                 rules("mpa.enhanced.no-rtr-match-sends-term",
                       "mpa.enhanced.no-rtr-match-code-seven"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  const ReceivedFrame request = enhanced_request_of(*this);
  peer.raw().send(accepting_with(*this, request, [](Words& words) {
    words.rtr_send = words.rtr_write = words.rtr_read = false;
  }));
  const Arrival end = expect(peer.raw(), any_terminate() | advisory(torn_down()));
  if (end.is_end()) return;
  const auto terminate = end.terminate();
  expect_that(terminate && terminate->cause == cause::mpa_no_rtr, "the triplet 2/0/07", end.text(),
              "mpa.enhanced.no-rtr-match-code-seven");
}

CONFORMANCE_CASE(client_server_reply_to_a_peer_to_peer_request_brings_no_rtr,
                 rules("mpa.enhanced.rtr-flags-ignored-without-a"),
                 needs(capability::enhanced_startup), as_initiator,
                 configured(peer_to_peer_model)) {
  for (const bool kinds : {false, true}) {
    row(kinds ? "B, C and D set" : "B, C and D clear", [&] {
      const ReceivedFrame request = enhanced_request_of(*this);
      if (!words_of(request)->peer_to_peer)
        stop(Verdict::not_applicable, "the IUT does not ask for the peer-to-peer model");
      peer.raw().send(accepting_with(*this, request, [=](Words& words) {
        words.peer_to_peer = false;
        words.rtr_send = words.rtr_write = words.rtr_read = kinds;
      }));
      // Whether the Initiator continues is left open (docs/disputes.md D63).
      const Expected given_up = terminate({cause::mpa_no_rtr, cause::mpa_local_catastrophic});
      const Arrival answer = expect(peer.raw(), given_up | torn_down() | silence());
      if (answer.as<Nothing>() == nullptr) return;
      expect(iut, established());
      expect_to_speak(*this);
    });
  }
}

CONFORMANCE_CASE(rtr_flags_of_a_client_server_reply_have_no_effect,
                 rules("mpa.enhanced.rtr-flags-ignored-without-a"),
                 needs(capability::enhanced_startup, capability::configure_rtr), as_initiator) {
  const ReceivedFrame request = enhanced_request_of(*this);
  peer.raw().send(accepting_with(*this, request, [](Words& words) {
    words.rtr_send = words.rtr_write = words.rtr_read = true;
  }));
  expect(iut, established());
  expect(peer.raw(), silence());  // no RTR
  expect_to_speak(*this);
}

CASES_OF_FILE(mpa, initiator_rtr)

}  // namespace suite::cases
