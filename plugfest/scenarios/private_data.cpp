// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

/// RFC 5044 7.1.1: up to 512 octets, of which revision 2 takes four.
void private_data(Stage& stage) {
  constexpr std::size_t lengths[] = {0, 1, 56, 196, 255};
  for (const std::size_t length : lengths) {
    const ConnectOptions options{.request = {.private_data = content(length, length + 5)},
                                 .reply = {.private_data = content(length / 2, length + 6)}};
    const Link link = connect(stage, options);
    send(stage, link, Side::initiator, 1);
    close(stage, link);
  }
}

void reject(Stage& stage, bool with_private_data) {
  constexpr std::size_t length = 100;
  const Octets why = with_private_data ? content(length, 8) : Octets{};
  const Octets wish = with_private_data ? content(length, 7) : Octets{};
  const std::uint16_t port = stage.responder.listen();
  const Handle endpoint = stage.initiator.endpoint();
  stage.initiator.connect(endpoint, stage.responder, port, {.private_data = wish});
  const auto request = stage.responder.request_from(stage.initiator, endpoint);
  stage.record.expect(Side::responder, "private data of the request", count_of(wish),
                      count_of(request.private_data));
  stage.responder.call(iut::Reject{request.request, why}, "reject");
  const iut::Event end = stage.initiator.startup_of(endpoint);
  stage.record.require(Side::initiator, "startup", "rejected", word_of(end));
  stage.record.expect(Side::initiator, "private data of the rejection", count_of(why),
                      count_of(std::get<iut::RejectedEvent>(end).private_data));
  // A rejection harms nobody who asks again.
  const Link link = open(stage);
  close(stage, link);
}

}  // namespace plugfest::plays
