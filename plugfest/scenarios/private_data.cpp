// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/scenarios/scenario_table.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::scenario_table {

/// RFC 5044 7.1.1: up to 512 octets, of which revision 2 takes four.
void private_data(ScenarioRun& run) {
  constexpr std::size_t lengths[] = {0, 1, 56, 196, 255};
  for (const std::size_t length : lengths) {
    const ConnectOptions options{.request = {.private_data = content(length, length + 5)},
                                 .reply = {.private_data = content(length / 2, length + 6)}};
    const Link link = connect(run, options);
    send(run, link, Side::initiator, 1);
    close(run, link);
  }
}

void reject(ScenarioRun& run, bool with_private_data) {
  constexpr std::size_t length = 100;
  const Octets why = with_private_data ? content(length, 8) : Octets{};
  const Octets expectation = with_private_data ? content(length, 7) : Octets{};
  const std::uint16_t port = run.responder.listen();
  const Handle endpoint = run.initiator.create_endpoint();
  run.initiator.connect(endpoint, run.responder, port, {.private_data = expectation});
  const auto request = run.responder.request_from(run.initiator, endpoint);
  run.record.expect(Side::responder, "private data of the request", count_of(expectation),
                    count_of(request.private_data));
  run.responder.reject(request.request, why);
  const iut::Event end = run.initiator.startup_of(endpoint);
  run.record.require(Side::initiator, "startup", "rejected", word_of(end));
  run.record.expect(Side::initiator, "private data of the rejection", count_of(why),
                    count_of(std::get<iut::RejectedEvent>(end).private_data));
  // A rejection does not affect a later request.
  const Link link = open(run);
  close(run, link);
}

}  // namespace plugfest::scenario_table
