// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 7.1.1 and 7.1.2: the Private Data of the startup frames.
#include <algorithm>
#include <set>

#include "suite/cases/mpa/startup_steps.hpp"

namespace suite::cases {

using namespace startup;  // NOLINT(google-build-using-namespace): the steps are the cases' words

namespace {

constexpr std::size_t enhanced_data_size = 4;
constexpr std::size_t most_beside_enhanced_data = wire::mpa_max_private_data - enhanced_data_size;

/// Octets of every value: MPA does not interpret what the ULP puts in.
Octets private_data(std::size_t length) { return payload(length, 0); }

/// Whether an event reports the Private Data: cut off where the API has no room for more, and
/// followed by zeros where the API's own field has a fixed length.
bool shows(const Octets& octets, const Octets& sent, std::size_t limit) {
  if (octets.size() < sent.size()) return sent.size() > limit;
  const auto rest = std::span(octets).subspan(sent.size());
  return std::ranges::equal(std::span(octets).first(sent.size()), sent) &&
         std::ranges::all_of(rest, [](std::byte octet) { return octet == std::byte{0}; });
}

/// The octets of the ULP that a Reply has room for.
std::size_t room_for_ulp(const ReceivedFrame& request) {
  return words_of(request) ? most_beside_enhanced_data : wire::mpa_max_private_data;
}

/// A startup frame with these octets of the consumer.
Expected carries(const Octets& data) {
  return mpa_frame(fmt::format("the consumer's {} octets", data.size()),
                   [data](const wire::MpaFrame& frame) {
                     return std::ranges::equal(frame.ulp_private_data(), data);
                   });
}

/// The Private Data of a Reply that accepts, and of one that rejects, are shown.
void expect_answers_told(Body& body, std::initializer_list<std::size_t> lengths) {
  const std::size_t limit = private_data_limit(body);
  for (const std::size_t length : lengths) {
    for (const bool accepts : {true, false}) {
      body.row(fmt::format("{} octets, {}", length, accepts ? "accepted" : "rejected"), [&] {
        const Octets data = private_data(length);
        const ReceivedFrame request = request_of(body);
        const StartupFrame reply = accepting(body, request).with_private_data(data);
        body.peer.raw().send(accepts ? reply : reply.with_reject());
        const iut::Event event =
            accepts ? body.expect(body.iut, established(),
                                  "mpa.startup.accepted-initiator-enters-full-operation")
                    : body.expect(body.iut, rejected());
        const Octets& seen = accepts ? std::get<iut::EstablishedEvent>(event).private_data
                                     : std::get<iut::RejectedEvent>(event).private_data;
        const std::string actual = fmt::format("{} octets", seen.size());
        if (length > 256)
          body.expect_that(shows(seen, data, limit),
                           "all that arrived, or what the API has room for", actual,
                           "mpa.private-data.buffer-large-enough");
        body.advise_that(shows(seen, data, limit), "the Private Data as sent", actual);
      });
    }
  }
}

}  // namespace

// ---------------------------------------------------------------- to the IUT

CONFORMANCE_CASE(request_may_have_up_to_512_octets, rules("mpa.private-data.accepts-up-to-512")) {
  for (const std::size_t length : {0, 1, 255, 256, 257, 508, 511, 512}) {
    row(fmt::format("{} octets", length), [&] {
      send_request(*this, mpa_request().with_private_data(private_data(length)));
      accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
      expect(peer.raw(), accepting_reply());
      expect_still_working();
    });
  }
}

CONFORMANCE_CASE(enhanced_request_may_have_508_octets_of_the_ulp,
                 rules("mpa.private-data.accepts-up-to-512"), needs(capability::enhanced_startup)) {
  send_request(*this, enhanced_request({.ird = 4, .ord = 4}).with_private_data(private_data(508)));
  accept(*this, std::get<iut::ConnectRequestEvent>(expect(iut, connect_request())));
  expect(peer.raw(), accepting_reply());
}

CONFORMANCE_CASE(reply_may_have_up_to_512_octets, rules("mpa.private-data.accepts-up-to-512"),
                 as_initiator) {
  for (const std::size_t length : {0, 1, 255, 256, 257, 512}) {
    row(fmt::format("{} octets", length), [&] {
      const ReceivedFrame request = request_of(*this);
      const std::size_t data = std::min(length, room_for_ulp(request));
      peer.raw().send(accepting(*this, request).with_private_data(private_data(data)));
      expect(iut, established());
      expect_to_speak(*this);
    });
  }
}

CONFORMANCE_CASE(private_data_of_the_request_reaches_the_consumer,
                 rules("mpa.private-data.passed-to-ulp", "mpa.private-data.buffer-large-enough")) {
  const std::size_t limit = private_data_limit(*this);
  for (const std::size_t length : {1, 16, 56, 200, 400, 512}) {
    row(fmt::format("{} octets", length), [&] {
      const Octets data = private_data(length);
      send_request(*this, mpa_request().with_private_data(data));
      const Octets seen = asked(*this).private_data;
      const std::string actual = fmt::format("{} octets", seen.size());
      if (length > 256)
        expect_that(shows(seen, data, limit), "all that arrived, or what the API has room for",
                    actual, "mpa.private-data.buffer-large-enough");
      advise_that(shows(seen, data, limit), "the Private Data as sent", actual);
    });
  }
}

CONFORMANCE_CASE(private_data_of_the_reply_reaches_the_consumer,
                 rules("mpa.private-data.passed-to-ulp", "mpa.private-data.buffer-large-enough",
                       "mpa.startup.accepted-initiator-enters-full-operation"),
                 as_initiator) {
  expect_answers_told(*this, {1, 16, 200, 255, 256, 400, 507, 508});
}

CONFORMANCE_CASE(private_data_of_a_plain_reply_reaches_the_consumer,
                 rules("mpa.private-data.passed-to-ulp", "mpa.private-data.buffer-large-enough",
                       "mpa.startup.accepted-initiator-enters-full-operation"),
                 as_initiator, configured({.revision = 1})) {
  expect_answers_told(*this, {1, 255, 256, 508, 511, 512});
}

CONFORMANCE_CASE(no_private_data_is_shown_where_none_came,
                 rules("mpa.private-data.zero-length-means-absent"), in_both_roles) {
  std::size_t shown = 0;
  if (iut_is_responder()) {
    send_request(*this, mpa_request());
    shown = asked(*this).private_data.size();
  } else {
    const ReceivedFrame request = request_of(*this);
    peer.raw().send(accepting(*this, request));
    const auto event = iut.take<iut::EstablishedEvent>(context().deadline);
    if (!event) stop(Verdict::inconclusive, "no established event; " + iut.untaken());
    shown = event->private_data.size();
  }
  expect_that(shown == 0, "no Private Data", fmt::format("{} octets", shown));
}

CONFORMANCE_CASE(enhanced_data_is_hidden_from_the_consumer,
                 rules("mpa.private-data.no-more-than-length-or-buffer"),
                 needs(capability::enhanced_startup)) {
  for (const std::size_t length : {0, 8}) {
    row(fmt::format("{} octets of the ULP", length), [&] {
      const Octets data = private_data(length);
      send_request(*this, enhanced_request({.ird = 4, .ord = 4}).with_private_data(data));
      const Octets seen = asked(*this).private_data;
      expect_that(shows(seen, data, private_data_limit(*this)), "the ULP's Private Data alone",
                  fmt::format("{} octets", seen.size()));
    });
  }
}

CONFORMANCE_CASE(plain_private_data_of_revision_two_is_the_ulps,
                 rules("mpa.enhanced.s-zero-means-plain-frame"),
                 needs(capability::enhanced_startup)) {
  const Octets data = private_data(8);
  send_request(*this, mpa_request().with_revision(2).with_private_data(data));
  const Octets seen = asked(*this).private_data;
  expect_that(shows(seen, data, private_data_limit(*this)), "all 8 octets",
              fmt::format("{} octets", seen.size()));
}

// ---------------------------------------------------------------- too much of it

CONFORMANCE_CASE(request_with_more_than_512_octets_is_refused,
                 rules("mpa.private-data.oversize-closes")) {
  for (const std::size_t length : {513, 516, 1024, 65535}) {
    row(fmt::format("{} octets", length), [&] {
      // An IUT need not read on after PD_Length.
      send_request(*this, mpa_request()
                              .with_private_data(private_data(std::min<std::size_t>(length, 1024)))
                              .with_pd_length(static_cast<std::uint16_t>(length)));
      expect(peer.raw(), torn_down());
      expect_none(connect_request());
    });
  }
}

CONFORMANCE_CASE(reply_with_more_than_512_octets_is_refused,
                 rules("mpa.private-data.oversize-closes", "mpa.private-data.oversize-reported"),
                 as_initiator) {
  const ReceivedFrame request = request_of(*this);
  const std::size_t too_much = room_for_ulp(request) + 1;
  peer.raw().send(accepting(*this, request).with_private_data(private_data(too_much)));
  expect(peer.raw(), torn_down());
  expect(iut, connect_failed() | rejected(), "mpa.private-data.oversize-reported");
}

// ---------------------------------------------------------------- from the IUT

CONFORMANCE_CASE(pd_length_counts_what_the_consumer_gave,
                 rules("mpa.private-data.length-field-matches",
                       "mpa.private-data.at-most-512-octets", "mpa.enhanced.ulp-data-at-most-508"),
                 in_both_roles) {
  const std::size_t limit = private_data_limit(*this);
  std::set<std::size_t> lengths{0, 1, 5, limit};
  for (const std::size_t each : {255, 256})
    if (each < limit) lengths.insert(each);
  for (const std::size_t length : lengths) {
    const Octets data = private_data(length);
    row(fmt::format("{} octets", length), [&] {
      if (iut_is_responder())
        ask(*this, mpa_request(), with_private_data(data));
      else
        let_iut_connect(with_private_data(data));
      expect(peer.raw(), carries(data));
      // Octets too many or too few show in what follows.
      if (iut_is_responder()) expect_still_working();
    });
    if (!iut_is_responder()) continue;
    row(fmt::format("{} octets, in a rejection", length), [&] {
      send_request(*this, mpa_request());
      iut.reject(asked(*this).request, data);
      expect(peer.raw(), carries(data));
    });
  }
}

// A plain frame has the room that an enhanced one has not; an API need not have it.
CONFORMANCE_CASE(plain_answer_has_room_for_512_octets,
                 rules("mpa.private-data.at-most-512-octets",
                       "mpa.private-data.length-field-matches")) {
  if (private_data_limit(*this) < most_beside_enhanced_data)
    throw lacking_limit("max_private_data",
                        "the API has no room for as many octets as an enhanced frame");
  for (const std::size_t length : {511, 512}) {
    const Octets data = private_data(length);
    for (const bool accepts : {true, false})
      row(fmt::format("{} octets, {}", length, accepts ? "in a Reply" : "in a rejection"), [&] {
        send_request(*this, mpa_request());
        const iut::Handle request = asked(*this).request;
        const iut::Reply answer =
            accepts ? iut.try_call(iut::Accept{request, iut.endpoint(), with_private_data(data)},
                                   "accept the connection")
                    : iut.try_call(iut::Reject{request, data}, "reject the connection");
        const bool taken = answer.outcome == iut::Outcome::ok;
        advise_that(taken, "taken", "refused: " + answer.error,
                    "mpa.private-data.at-most-512-octets");
        if (taken) expect(peer.raw(), carries(data), "mpa.private-data.length-field-matches");
      });
  }
  if (!iut.can(capability::enhanced_startup)) return;
  row("512 octets, in an enhanced Reply", [&] {
    send_request(*this, enhanced_request(client_server));
    const iut::ConnectParameters parameters{private_data(512), 4, 4};
    const iut::Accept command{asked(*this).request, iut.endpoint(), parameters};
    if (iut.try_call(command, "accept the connection").outcome != iut::Outcome::ok)
      return expect_that(true, "refused", "taken", "mpa.private-data.at-most-512-octets");
    const Arrival reply = expect(peer.raw(), mpa_frame() | torn_down());
    if (const auto* frame = reply.as<ReceivedFrame>())
      expect_that(frame->frame().private_data.size() <= 512, "at most 512 octets", reply.text(),
                  "mpa.private-data.at-most-512-octets");
  });
}

CASES_OF_FILE(mpa, private_data)

}  // namespace suite::cases
