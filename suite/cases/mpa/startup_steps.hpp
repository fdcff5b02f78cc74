// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The steps of MPA startup that the cases of this folder share.
#pragma once

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases::startup {

// ---- the IUT as Responder ----

/// Opens a new connection and sends `request` on it.
void send_request(Body& on, const StartupFrame& request, const Cut& cut = Cut::whole());
/// What the IUT's consumer learns of the Request; without an event the case is inconclusive.
[[nodiscard]] iut::ConnectRequestEvent asked(Body& on);
/// The consumer accepts; depths that are left out are small ones.
void accept(Body& on, const iut::ConnectRequestEvent& request,
            iut::ConnectParameters parameters = {});
/// All steps up to the Reply, which the case itself expects.
void ask(Body& on, const StartupFrame& request, const iut::ConnectParameters& parameters = {});
/// The Reply to a Request that the consumer accepts. No Reply makes the case inconclusive.
[[nodiscard]] ReceivedFrame reply_to(Body& on, const StartupFrame& request,
                                     const iut::ConnectParameters& parameters = {});
/// Peer-to-peer with every kind of RTR indication, and small depths.
constexpr Words any_rtr{.peer_to_peer = true,
                        .rtr_send = true,
                        .rtr_write = true,
                        .rtr_read = true,
                        .ird = 4,
                        .ord = 4};
/// Client-server, and small depths.
constexpr Words client_server{.ird = 4, .ord = 4};
[[nodiscard]] Words with_depths_of(Words words, std::uint16_t ird, std::uint16_t ord);
[[nodiscard]] bool any_rtr_flag(const Words& words);
/// An enhanced Request with these words.
[[nodiscard]] StartupFrame enhanced_request(const Words& words);

/// A Reply whose enhanced words satisfy the condition.
[[nodiscard]] Expected reply_words(const std::string& condition,
                                   const std::function<bool(const Words&)>& holds);

// ---- the IUT as Initiator ----

/// The Request that the IUT sends when its consumer connects; none makes the case inconclusive.
[[nodiscard]] ReceivedFrame request_of(Body& on, iut::ConnectParameters parameters = {});
/// The same, and the case continues only if it is enhanced.
[[nodiscard]] ReceivedFrame enhanced_request_of(Body& on, int ird = 4, int ord = 4);
/// The Reply that accepts the Request that arrived.
[[nodiscard]] StartupFrame accepting(const Body& on, const ReceivedFrame& request);
/// The same with changed words.
[[nodiscard]] StartupFrame accepting_with(const Body& on, const ReceivedFrame& request,
                                          const std::function<void(Words&)>& change);
inline const Configuration peer_to_peer_model{.peer_to_peer = true};
[[nodiscard]] Expected any_rtr_indication();
/// The end of a body that needs an IUT with other kinds of RTR indication.
[[nodiscard]] inline CaseStop lacking_rtr_kind(std::string reason) {
  return lacking({results::Lack::Kind::not_offered, iut::capability::configure_rtr},
                 std::move(reason));
}
/// A Read as RTR indication takes one of the peer's inbound Reads until it is answered.
void answer_rtr(Body& on, const Message& rtr);
/// After its Terminate the IUT ends the connection; it may wait for our FIN.
void expect_connection_ends(Body& test, RuleRef rule);
/// The IUT is in full operation: a small Send of its consumer arrives, after an RTR indication if
/// there is one.
void expect_to_speak(Body& on, RuleRef rule = {});

// ---- both ----

/// The depths that a frame states.
struct Depths {
  std::uint16_t ird = 0, ord = 0;
  [[nodiscard]] std::string text() const { return fmt::format("IRD {} and ORD {}", ird, ord); }
};
/// An API that reports the peer's depths reports these, as its consumer sees them: the peer's ORD is
/// the IRD that it needs. `Event`: any that has depths.
template <typename Event>
void expect_told(Body& on, const Event& event, const Depths& depths) {
  on.advise_that(event.ird && event.ord, "the depths with the event", "none reported");
  if (!event.ird || !event.ord) return;
  on.expect_that(*event.ird == depths.ord && *event.ord == depths.ird,
                 Depths{depths.ord, depths.ird}.text(),
                 fmt::format("IRD {} and ORD {}", *event.ird, *event.ord));
}
[[nodiscard]] iut::ConnectParameters with_private_data(const Octets& data);
[[nodiscard]] iut::ConnectParameters with_depths(int ird, int ord);
/// Octets of private data that the IUT's API is known to have room for, in both directions.
[[nodiscard]] std::size_t private_data_limit(Body& on);
/// The enhanced words of a frame, if it has any.
[[nodiscard]] std::optional<Words> words_of(const ReceivedFrame& frame);
/// The empty Write by which an Initiator lets a Responder send.
void let_responder_send(Body& on);
/// The Read Requests that arrive until the IUT is quiet: those that it has outstanding at once. A
/// Read of ours would not show more: an IUT whose send queue waits for a Response may serve it
/// later.
[[nodiscard]] std::vector<ReadRequestFields> reads_coming(Body& on);
/// If the peer stated an IRD of 1, the IUT holds back its next Read until one is answered.
void expect_one_read_at_a_time(Body& on);
/// As many Reads as the IUT's IRD allows (at most 64), sent together, are all answered in turn.
void expect_reads_served(Body& on, std::uint16_t ird);
/// Posts work of the consumer that the API may refuse; returns whether it was accepted.
[[nodiscard]] bool try_to_send(Body& on, const Octets& data);

}  // namespace suite::cases::startup
