// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two reference IUTs transfer data by commands: every operation, and the events of their consumers.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "suite/upper_tester/reference/tests/two_iuts.hpp"

using namespace suite;
using namespace suite::upper_tester::reference::test;
namespace operation = suite::iut::operation;

namespace {

iut::PostReceive receive(iut::WorkId work, std::uint64_t offset, std::uint32_t length) {
  iut::PostReceive command;
  command.endpoint = endpoint;
  command.work = work;
  command.pieces = {{region, offset, length}};
  return command;
}
iut::PostWork work(iut::WorkId id, const char* what, std::uint64_t offset = 0,
                   std::uint32_t length = 0) {
  iut::PostWork command;
  command.endpoint = endpoint;
  command.work = id;
  command.operation = what;
  if (length != 0) command.pieces = {{region, offset, length}};
  return command;
}
struct Connected : TwoIuts {
  Connected() { connect(); }
  iut::PostWork towards_b(iut::PostWork command, std::uint64_t offset = 0) const {
    command.remote_stag = *region_b.stag;
    command.remote_offset = *region_b.base + offset;
    return command;
  }
  void write_memory(Side& side, std::uint64_t offset, iut::Octets octets) {
    iut::WriteMemory command;
    command.region = region;
    command.offset = offset;
    command.octets = std::move(octets);
    side.must(command);
  }
  iut::Octets read_memory(Side& side, std::uint64_t offset, std::uint64_t length) {
    iut::ReadMemory command;
    command.region = region;
    command.offset = offset;
    command.length = length;
    return *side.must(command).octets;
  }
  iut::CompletionEvent completion(Side& side) {
    const auto event = side.event<iut::CompletionEvent>();
    BOOST_REQUIRE(event.has_value());
    BOOST_TEST(event->endpoint == endpoint);
    return *event;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transfer, Connected)

BOOST_AUTO_TEST_CASE(a_send_arrives_with_its_length) {
  write_memory(a, 0, octets(1, 2, 3, 4, 5));
  b.must(receive(7, 100, 64));
  a.must(work(1, operation::send_solicited, 0, 5));
  const auto sent = completion(a), received = completion(b);
  BOOST_TEST(sent.work == 1U);
  BOOST_TEST(sent.operation == "send_solicited");
  BOOST_TEST(sent.status == "success");
  BOOST_TEST(received.work == 7U);
  BOOST_TEST(received.operation == "receive");
  BOOST_TEST(received.length == 5U);
  BOOST_TEST(received.solicited.value_or(false));
  BOOST_TEST((read_memory(b, 100, 6) == octets(1, 2, 3, 4, 5, 0)));
}

BOOST_AUTO_TEST_CASE(write_then_read_back) {
  write_memory(a, 0, octets(9, 8, 7));
  a.must(towards_b(work(1, operation::write, 0, 3), 4000));
  a.must(towards_b(work(2, operation::read, 50, 3), 4000));
  BOOST_TEST(completion(a).status == "success");
  const auto read = completion(a);
  BOOST_TEST(read.operation == "read");
  BOOST_TEST(read.length == 3U);
  BOOST_TEST((read_memory(b, 4000, 3) == octets(9, 8, 7)));
  BOOST_TEST((read_memory(a, 50, 3) == octets(9, 8, 7)));
  BOOST_TEST(b.quiet());
}

BOOST_AUTO_TEST_CASE(atomics_bring_the_original) {
  write_memory(b, 8, octets(5, 0, 0, 0, 0, 0, 0, 0));
  auto add = towards_b(work(1, operation::fetch_add, 16, 8), 8);
  add.add_or_swap = 3;
  add.add_or_swap_mask = 0;  // one 64-bit sum
  a.must(add);
  BOOST_TEST(completion(a).status == "success");
  auto swap = towards_b(work(2, operation::compare_swap, 24, 8), 8);
  swap.compare = 8;
  swap.add_or_swap = 1;
  a.must(swap);
  BOOST_TEST(completion(a).status == "success");
  BOOST_TEST((read_memory(a, 16, 1) == octets(5)));
  BOOST_TEST((read_memory(a, 24, 1) == octets(8)));
  BOOST_TEST((read_memory(b, 8, 1) == octets(1)));
}

BOOST_AUTO_TEST_CASE(immediate_data_and_invalidation_are_told) {
  b.must(receive(7, 0, 8));
  b.must(receive(8, 8, 8));
  auto immediate = work(1, operation::immediate);
  std::ranges::copy(octets(1, 2, 3, 4, 5, 6, 7, 8), immediate.immediate.begin());
  a.must(immediate);
  const auto first = completion(b);
  BOOST_REQUIRE(first.immediate.has_value());
  BOOST_TEST((*first.immediate == immediate.immediate));
  auto invalidate = work(2, operation::send_invalidate);
  invalidate.invalidate_stag = *region_b.stag;
  a.must(invalidate);
  const auto second = completion(b);
  BOOST_REQUIRE(second.invalidated_stag.has_value());
  BOOST_TEST(*second.invalidated_stag == *region_b.stag);
}

BOOST_AUTO_TEST_CASE(a_window_is_bound_used_and_unbound) {
  iut::AllocateWindow allocate;
  allocate.window = 3;
  const auto window = b.must(allocate);
  // The responder may send once it has received from the initiator.
  a.must(towards_b(work(1, operation::write)));
  completion(a);
  auto bind = work(2, operation::bind_window, 64, 32);
  bind.window = 3;
  bind.window_access.remote_write = true;
  b.must(bind);
  BOOST_TEST(completion(b).status == "success");
  write_memory(a, 0, octets(42));
  auto write = work(3, operation::write, 0, 1);
  write.remote_stag = *window.stag;
  write.remote_offset = *region_b.base + 64;
  a.must(write);
  BOOST_TEST(completion(a).status == "success");
  static_cast<void>(a.quiet());
  BOOST_TEST((read_memory(b, 64, 1) == octets(42)));
  auto unbind = work(4, operation::bind_window);
  unbind.window = 3;
  b.must(unbind);
  BOOST_TEST(completion(b).status == "success");
  a.must(write);
  BOOST_REQUIRE(a.event<iut::DisconnectedEvent>().has_value());
  const auto async = b.event<iut::AsynchronousEvent>();
  BOOST_REQUIRE(async.has_value());
  BOOST_TEST(async->kind == "qp_access_error");
  BOOST_TEST(async->endpoint == endpoint);
}

BOOST_AUTO_TEST_CASE(an_allocated_region_is_registered_and_used) {
  iut::AllocateRegion allocate;
  allocate.region = 3;
  allocate.length = 8192;
  allocate.pages = 1;
  const auto allocated = b.must(allocate);
  // The responder may send once it has received from the initiator.
  a.must(towards_b(work(1, operation::write)));
  completion(a);
  auto registration = work(2, operation::register_region);
  registration.pieces = {{3, 4096, 100}};
  registration.registration = iut::Registration{0x42, {}};
  registration.registration->access.remote_write = true;
  const auto registered = b.must(registration);
  BOOST_TEST(completion(b).status == "success");
  BOOST_TEST(*registered.stag == ((*allocated.stag & ~0xFFU) | 0x42U));
  write_memory(a, 0, octets(42));
  auto write = work(3, operation::write, 0, 1);
  write.remote_stag = *registered.stag;
  write.remote_offset = *registered.base + 99;
  a.must(write);
  BOOST_TEST(completion(a).status == "success");
  static_cast<void>(a.quiet());
  const auto memory = b.must(iut::ReadMemory{3, 4096 + 99, 1});
  BOOST_TEST((*memory.octets == octets(42)));
}

BOOST_AUTO_TEST_CASE(reset_takes_bound_windows_and_the_regions_under_them) {
  iut::AllocateWindow allocate;
  allocate.window = 3;
  a.must(allocate);
  iut::RegisterMemory later;
  later.region = 8;
  later.length = 64;
  later.access = {true, true, true, true, true};
  a.must(later);
  auto bind = work(2, operation::bind_window);
  bind.pieces = {{8, 0, 32}};
  bind.window = 3;
  bind.window_access.remote_write = true;
  a.must(bind);
  BOOST_TEST(completion(a).status == "success");
  BOOST_TEST((a.ask(iut::DeregisterMemory{8}).outcome == iut::Outcome::failed));
  a.must(iut::Reset{});
  a.must(later);
}

BOOST_AUTO_TEST_CASE(a_refused_read_completes_and_both_are_disconnected) {
  auto bad = towards_b(work(1, operation::read, 0, 8));
  bad.remote_stag ^= 1;
  bad.signaled = false;
  a.must(bad);
  BOOST_TEST(completion(a).status == "remote_access");
  BOOST_TEST(a.event<iut::DisconnectedEvent>().has_value());
  BOOST_TEST(b.event<iut::DisconnectedEvent>().has_value());
  iut::QueryEndpoint query;
  query.endpoint = endpoint;
  BOOST_TEST(*b.must(query).state == "error");
}

BOOST_AUTO_TEST_CASE(a_graceful_disconnect_flushes_before_it_is_told) {
  a.must(receive(7, 0, 8));
  a.must(receive(8, 8, 8));
  b.must(receive(9, 0, 8));
  a.must(work(1, operation::send));
  iut::Disconnect disconnect;
  disconnect.endpoint = endpoint;
  a.must(disconnect);
  const std::vector<std::string> at_a{"send success", "receive flushed", "receive flushed",
                                      "disconnected"};
  const std::vector<std::string> at_b{"receive success", "disconnected"};
  const auto seen_a = a.kinds_waiting(), seen_b = b.kinds_waiting();
  BOOST_TEST(seen_a == at_a, boost::test_tools::per_element());
  BOOST_TEST(seen_b == at_b, boost::test_tools::per_element());
  BOOST_TEST((a.ask(disconnect).outcome == iut::Outcome::failed));
}

BOOST_AUTO_TEST_CASE(an_abortive_disconnect_is_told_to_both) {
  a.must(towards_b(work(1, operation::write)));
  completion(a);
  iut::Disconnect disconnect;
  disconnect.endpoint = endpoint;
  disconnect.abortive = true;
  a.must(disconnect);
  BOOST_TEST(a.event<iut::DisconnectedEvent>().has_value());
  BOOST_TEST(b.event<iut::DisconnectedEvent>().has_value());
  const auto async = b.event<iut::AsynchronousEvent>();
  BOOST_REQUIRE(async.has_value());
  BOOST_TEST(async->kind == "qp_fatal");
}

BOOST_AUTO_TEST_CASE(reset_ends_live_connections_and_nothing_of_them_follows) {
  a.must(receive(7, 0, 8));
  a.must(work(1, operation::write));
  a.must(iut::Reset{});
  BOOST_TEST(b.event<iut::DisconnectedEvent>().has_value());
  static_cast<void>(a.event<iut::CompletionEvent>(std::chrono::milliseconds(0)));
  BOOST_TEST(a.quiet());
  iut::QueryEndpoint query;
  query.endpoint = endpoint;
  BOOST_TEST((a.ask(query).outcome == iut::Outcome::failed));
  make_objects(a, region_a);  // the handles are free again
  BOOST_TEST(*a.must(query).state == "idle");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_shared_queue_serves_endpoints_and_tells_its_limit) {
  TwoIuts two;
  iut::CreateSharedQueue shared;
  shared.queue = 5;
  two.b.must(shared);
  iut::RegisterMemory memory;
  memory.region = 9;
  memory.length = 64;
  memory.access.local_write = true;
  two.b.must(memory);
  for (iut::WorkId id = 1; id <= 2; ++id) {
    iut::PostReceive post;
    post.shared_queue = 5;
    post.work = id;
    post.pieces = {{9, 0, 64}};
    two.b.must(post);
  }
  iut::ArmSharedQueueLimit arm;
  arm.queue = 5;
  arm.limit = 2;
  two.b.must(arm);
  two.start_connecting();
  const auto request = two.b.event<iut::ConnectRequestEvent>();
  BOOST_REQUIRE(request.has_value());
  iut::CreateEndpoint create;
  create.endpoint = 2;
  create.shared_queue = 5;
  two.b.must(create);
  iut::Accept accept;
  accept.request = request->request;
  accept.endpoint = 2;
  two.b.must(accept);
  BOOST_REQUIRE(two.a.event<iut::EstablishedEvent>().has_value());
  two.a.must(work(1, operation::send));
  const auto received = two.b.event<iut::CompletionEvent>();
  BOOST_REQUIRE(received.has_value());
  BOOST_TEST(received->endpoint == 2U);
  BOOST_TEST(received->work == 1U);
  const auto async = two.b.event<iut::AsynchronousEvent>();
  BOOST_REQUIRE(async.has_value());
  BOOST_TEST(async->kind == "srq_limit");
}

BOOST_AUTO_TEST_CASE(a_deviating_iut_says_so_and_deviates) {
  using rnic::deviants::Deviation;
  TwoIuts two({Deviation::remote_write_right_unchecked});
  BOOST_TEST(two.b.iut().hello().implementation.find("remote_write_right_unchecked") !=
             std::string::npos);
  two.connect();
  iut::RegisterMemory memory;
  memory.region = 9;
  memory.length = 8;
  memory.access.remote_read = true;
  const auto fixed = two.b.must(memory);
  auto write = work(1, operation::write, 0, 8);
  write.remote_stag = *fixed.stag;
  write.remote_offset = *fixed.base;
  two.a.must(write);
  const auto done = two.a.event<iut::CompletionEvent>();
  BOOST_TEST(done->status == "success");
  BOOST_TEST(two.b.quiet());
}
