// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The steps of MPA startup that the cases of this folder are put together from.
#pragma once

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases::startup {

// ---- the IUT as Responder ----

/// A new connection, and `request` on it. What follows is up to the case.
void send_request(Body& on, const StartupFrame& request, const Cut& cut = Cut::whole());
/// What the IUT's consumer learns of the Request; without it the case is inconclusive.
[[nodiscard]] iut::ConnectRequestEvent asked(Body& on);
/// The consumer accepts; depths that are left out are those of any small connection.
void accept(Body& on, const iut::ConnectRequestEvent& request,
            iut::ConnectParameters parameters = {});
/// All of it, up to the Reply, which is the case's to expect.
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

/// A Reply whose enhanced words are such.
[[nodiscard]] Expected reply_words(const std::string& condition,
                                   const std::function<bool(const Words&)>& holds);

// ---- the IUT as Initiator ----

/// The Request that the IUT sends when its consumer connects; none makes the case inconclusive.
[[nodiscard]] ReceivedFrame request_of(Body& on, iut::ConnectParameters parameters = {});
/// The Reply that accepts the Request that came.
[[nodiscard]] StartupFrame accepting(const Body& on, const ReceivedFrame& request);
/// The IUT is in full operation: a small Send of its consumer comes out.
/// An RTR indication goes before it.
void expect_to_speak(Body& on, RuleRef rule = {});

// ---- both ----

[[nodiscard]] iut::ConnectParameters with_private_data(const Octets& data);
[[nodiscard]] iut::ConnectParameters with_depths(int ird, int ord);
/// Octets of private data that the IUT's API is known to have room for, in both directions.
[[nodiscard]] std::size_t private_data_limit(Body& on);
/// The enhanced words of a frame; none where it has none.
[[nodiscard]] std::optional<Words> words_of(const ReceivedFrame& frame);
/// The empty Write by which an Initiator lets a Responder send.
void let_responder_send(Body& on);
/// The Read Requests that come until the IUT is quiet: what it has outstanding at once. A Read of
/// ours would not show more: one whose send queue waits for a response may serve it later.
[[nodiscard]] std::vector<ReadRequestFields> reads_coming(Body& on);
/// An IUT whose peer stated an IRD of 1 holds the next of its Reads back until one is answered.
void expect_one_read_at_a_time(Body& on);
/// As many Reads as the IUT's IRD allows (at most 64), sent together, are all answered in turn.
void expect_reads_served(Body& on, std::uint16_t ird);
/// Work of the consumer that need not be taken: whether it was.
[[nodiscard]] bool try_to_send(Body& on, const Octets& data);

}  // namespace suite::cases::startup
