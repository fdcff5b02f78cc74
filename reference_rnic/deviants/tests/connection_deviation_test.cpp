// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of connections: each makes a difference that a consumer sees in the events.
#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "reference_rnic/access/tests/two_hosts.hpp"
#include "reference_rnic/deviants/rnic_decisions.hpp"

using namespace rnic::access;
using namespace rnic::access::test;
using rnic::deviants::Deviation;
namespace llp = rnic::llp;
namespace verbs = rnic::verbs;

namespace {

using Two = TwoHosts<Memory>;

HostDecisions decisions(Deviation deviation) {
  return {.rnic = rnic::deviants::rnic_decisions(std::array{deviation}),
          .connections = rnic::deviants::connection_decisions(std::array{deviation})};
}

std::string depths_of(const auto& event) {
  if (!event.depths) return "";
  return " depths " + std::to_string(event.depths->ird) + " " + std::to_string(event.depths->ord);
}
std::string seen(Two& two) {
  std::string text;
  for (Host* host : {&two.a, &two.b})
    for (const ConnectionEvent& event : host->events) {
      text += std::to_string(event.index());
      if (const auto* request = std::get_if<ConnectionRequest>(&event))
        text += " " + std::to_string(request->private_data.size()) + depths_of(*request);
      if (const auto* up = std::get_if<ConnectionEstablished>(&event))
        text += " " + std::to_string(up->private_data.size()) + depths_of(*up);
      if (const auto* no = std::get_if<ConnectionRejected>(&event))
        text += " " + std::to_string(no->private_data.size()) + depths_of(*no);
      text += "\n";
    }
  return text;
}
void up_and_down(Two& two, const ConnectParameters& parameters,
                 const StartupOptions& options = {}) {
  const base::Address address = two.listen();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, options, parameters).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionRequest>() != nullptr; }));
  BOOST_REQUIRE(
      two.b.manager->accept(two.b.find<ConnectionRequest>()->connection, two.b.pair, parameters)
          .has_value());
  two.settle();
  static_cast<void>(two.a.manager->disconnect(two.a.pair, false));
  two.settle();
}
void without_depth(Two& two) { up_and_down(two, {.ird = 0, .ord = 3}); }
void peer_to_peer(Two& two) { up_and_down(two, {.ird = 2, .ord = 3}, {.peer_to_peer = true}); }
void reject(Two& two, const StartupOptions& options, std::size_t private_data) {
  const base::Address address = two.listen();
  BOOST_REQUIRE(two.a.manager->connect(two.a.pair, address, options, {.ord = 0}).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionRequest>() != nullptr; }));
  static_cast<void>(two.b.manager->reject(two.b.find<ConnectionRequest>()->connection,
                                          std::vector<std::byte>(private_data)));
  two.settle();
}
void rejected(Two& two) { reject(two, {}, 0); }
void plain_rejection(Two& two) { reject(two, {.revision = 1}, 512); }
void bad_write(Two& two) {
  BOOST_REQUIRE(two.connect());
  const verbs::SendRequest write{.operation = verbs::Operation::write,
                                 .pieces = {two.a.piece(0, 8)},
                                 .remote_stag = two.b.region.stag ^ 1};
  BOOST_REQUIRE(two.a.rnic->post_send(two.a.pair, std::span(&write, 1)).has_value());
  two.settle();
}
void refused(Two& two) {
  BOOST_REQUIRE(
      two.a.manager
          ->connect(two.a.pair, two.b.network->address(base::Family::ipv4).with_port(9), {}, {})
          .has_value());
  two.settle();
}
/// A connect of a queue pair that is connected is refused; then it disconnects.
void connected_again(Two& two) {
  BOOST_REQUIRE(two.connect());
  const base::Address address = two.a.network->address(base::Family::ipv4).with_port(9);
  BOOST_REQUIRE(!two.a.manager->connect(two.a.pair, address, {}, {}).has_value());
  static_cast<void>(two.a.manager->disconnect(two.a.pair, false));
  two.settle();
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_deviation_of_connections_is_seen) {
  struct Row {
    Deviation deviation;
    std::function<void(Two&)> scenario;
  };
  const auto with = [](std::size_t octets) {
    return
        [octets](Two& two) { up_and_down(two, {.private_data = std::vector<std::byte>(octets)}); };
  };
  const std::vector<Row> rows{{Deviation::established_before_reply, rejected},
                              {Deviation::established_never, with(8)},
                              {Deviation::private_data_lost, with(8)},
                              {Deviation::private_data_cut_for_consumer, with(300)},
                              {Deviation::private_data_made_up, with(0)},
                              {Deviation::plain_rejection_loses_private_data, plain_rejection},
                              {Deviation::plain_answer_leaves_room, plain_rejection},
                              {Deviation::requested_depth_of_zero_shown_as_one, without_depth},
                              {Deviation::replied_depth_of_zero_shown_as_one, without_depth},
                              {Deviation::peer_to_peer_request_depths_unswapped, peer_to_peer},
                              {Deviation::peer_to_peer_reply_depths_unswapped, peer_to_peer},
                              {Deviation::rejection_not_told, rejected},
                              {Deviation::startup_failure_not_told, refused},
                              {Deviation::stream_fault_not_reported, bad_write},
                              {Deviation::refused_connect_remembered, connected_again},
                              {Deviation::disconnection_not_told, with(0)}};
  for (const Row& row : rows) {
    Two right, wrong(decisions(row.deviation), decisions(row.deviation));
    row.scenario(right);
    row.scenario(wrong);
    BOOST_TEST(seen(right) != seen(wrong), info(row.deviation).name << " makes a difference");
  }
}
