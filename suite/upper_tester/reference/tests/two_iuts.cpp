// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands and waiting.
#include "suite/upper_tester/reference/tests/two_iuts.hpp"

#include <boost/test/unit_test.hpp>

namespace suite::upper_tester::reference::test {

namespace {
base::Address parse(const std::string& literal) { return *base::Address::parse(literal); }
}  // namespace

Side::Side(base::EventLoop& loop, std::unique_ptr<rnic::llp::Network> network,
           std::vector<rnic::deviants::Deviation> deviations)
    : loop_(loop),
      network_(std::move(network)),
      iut_(make_reference_iut(loop, *network_, {.deviations = std::move(deviations)})) {}

iut::Reply Side::ask(iut::Command command) {
  const std::uint64_t number = iut_->post(std::move(command));
  const auto reply = take<iut::Reply>(
      [&](const iut::Reply& item) { return item.command == number; }, std::chrono::seconds(5));
  BOOST_REQUIRE(reply.has_value());
  return *reply;
}

iut::Reply Side::must(iut::Command command) {
  iut::Reply reply = ask(std::move(command));
  BOOST_REQUIRE_MESSAGE(reply.outcome == iut::Outcome::ok, reply.error);
  return reply;
}

bool Side::quiet(std::chrono::milliseconds window) {
  const auto deadline = loop_.now() + window;
  while (auto next = iut_->next_event(deadline)) waiting_.push_back(std::move(*next));
  return waiting_.empty();
}

std::vector<std::string> Side::kinds_waiting() {
  static_cast<void>(quiet());
  std::vector<std::string> kinds;
  for (const iut::Event& item : waiting_) {
    if (const auto* completion = std::get_if<iut::CompletionEvent>(&item)) {
      kinds.push_back(completion->operation + " " + completion->status);
    } else if (std::holds_alternative<iut::DisconnectedEvent>(item)) {
      kinds.push_back("disconnected");
    } else if (std::holds_alternative<iut::EstablishedEvent>(item)) {
      kinds.push_back("established");
    } else {
      kinds.push_back("other");
    }
  }
  return kinds;
}

TwoIuts::TwoIuts(std::vector<rnic::deviants::Deviation> of_b)
    : a(loop, fabric.add_host(parse("10.77.0.1"), parse("fd77::1"))),
      b(loop, fabric.add_host(parse("10.77.0.2"), parse("fd77::2")), std::move(of_b)) {}

void TwoIuts::make_objects(Side& side, iut::Reply& registered) {
  iut::RegisterMemory command;
  command.region = region;
  command.length = 4096;
  command.access = {true, true, true, true, true};
  registered = side.must(command);
  iut::CreateEndpoint create;
  create.endpoint = endpoint;
  side.must(create);
}

void TwoIuts::start_connecting(const iut::ConnectParameters& parameters) {
  make_objects(a, region_a);
  make_objects(b, region_b);
  iut::Listen listen;
  listen.listener = listener;
  const iut::Reply where = b.must(listen);
  iut::Connect connect;
  connect.endpoint = endpoint;
  connect.address = *where.address;
  connect.port = *where.port;
  connect.parameters = parameters;
  a.must(connect);
}

void TwoIuts::connect(const iut::ConnectParameters& parameters) {
  start_connecting(parameters);
  const auto request = b.event<iut::ConnectRequestEvent>();
  BOOST_REQUIRE(request.has_value());
  iut::Accept accept;
  accept.request = request->request;
  accept.endpoint = endpoint;
  b.must(accept);
  BOOST_REQUIRE(a.event<iut::EstablishedEvent>().has_value());
  BOOST_REQUIRE(b.event<iut::EstablishedEvent>().has_value());
}

}  // namespace suite::upper_tester::reference::test
