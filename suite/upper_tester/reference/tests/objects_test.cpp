// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands of objects: handles of the test's choice,
// memory that outlives its registration, what is in use.
#include <boost/test/unit_test.hpp>

#include "suite/upper_tester/reference/tests/two_iuts.hpp"

using namespace suite;
using namespace suite::upper_tester::reference::test;

namespace {
struct One : TwoIuts {
  bool fails(iut::Command command) {
    return a.ask(std::move(command)).outcome == iut::Outcome::failed;
  }
  iut::RegisterMemory memory(iut::Handle handle, std::uint64_t length) {
    iut::RegisterMemory command;
    command.region = handle;
    command.length = length;
    command.access.local_write = true;
    return command;
  }
};
}  // namespace

BOOST_FIXTURE_TEST_SUITE(objects, One)

BOOST_AUTO_TEST_CASE(handles_are_unique_per_kind_and_never_zero) {
  iut::CreateDomain domain;
  BOOST_TEST(fails(domain));
  domain.domain = 1;
  a.must(domain);
  BOOST_TEST(fails(domain));
  BOOST_TEST(fails(memory(0, 8)));
  a.must(memory(1, 8));
  BOOST_TEST(fails(memory(1, 8)));
  iut::CreateEndpoint create;
  BOOST_TEST(fails(create));
  create.endpoint = 1;
  a.must(create);
  BOOST_TEST(fails(create));
}

BOOST_AUTO_TEST_CASE(what_was_never_made_cannot_be_used) {
  BOOST_TEST(fails(iut::DestroyDomain{}));
  BOOST_TEST(fails(iut::DeregisterMemory{3}));
  BOOST_TEST(fails(iut::ReadMemory{3, 0, 0}));
  BOOST_TEST(fails(iut::WriteMemory{3, 0, {}}));
  BOOST_TEST(fails(iut::FreeWindow{3}));
  BOOST_TEST(fails(iut::DestroySharedQueue{3}));
  BOOST_TEST(fails(iut::ArmSharedQueueLimit{3, 1}));
  BOOST_TEST(fails(iut::DestroyEndpoint{3}));
  BOOST_TEST(fails(iut::QueryEndpoint{3}));
  BOOST_TEST(fails(iut::SetEndpointAccess{3, {}}));
  BOOST_TEST(fails(iut::StopListening{3}));
  BOOST_TEST(fails(iut::Disconnect{3, false}));
  BOOST_TEST(fails(iut::Reject{3, {}}));
  iut::CreateEndpoint create;
  create.endpoint = 1;
  create.domain = 3;
  BOOST_TEST(fails(create));
  create.domain = 0;
  create.shared_queue = 3;
  BOOST_TEST(fails(create));
}

BOOST_AUTO_TEST_CASE(memory_stays_readable_after_its_registration) {
  auto command = memory(1, 16);
  command.fill = 0xAB;
  const auto reply = a.must(command);
  BOOST_TEST(reply.stag.value_or(0) != 0U);
  BOOST_TEST(reply.base.value_or(1) % 4096 == 0U);
  a.must(iut::DeregisterMemory{1});
  BOOST_TEST(fails(iut::DeregisterMemory{1}));
  a.must(iut::WriteMemory{1, 15, octets(7)});
  const auto read = a.must(iut::ReadMemory{1, 14, 2});
  BOOST_TEST((*read.octets == octets(0xAB, 7)));
  BOOST_TEST(fails(iut::ReadMemory{1, 15, 2}));
  BOOST_TEST(fails(iut::ReadMemory{1, ~std::uint64_t{0}, 2}));
  BOOST_TEST(fails(iut::WriteMemory{1, 16, octets(1)}));
  BOOST_TEST(fails(memory(1, 8)));  // the handle stays taken
  a.must(iut::Reset{});
  BOOST_TEST(fails(iut::ReadMemory{1, 0, 1}));
  a.must(memory(1, 8));
}

BOOST_AUTO_TEST_CASE(regions_can_be_empty_zero_based_or_too_large) {
  const auto empty = a.must(memory(1, 0));
  BOOST_TEST(empty.stag.value_or(0) != 0U);
  auto zero = memory(2, 8);
  zero.zero_based = true;
  BOOST_TEST(a.must(zero).base.value_or(1) == 0U);
  BOOST_TEST(fails(memory(3, std::uint64_t{1} << 60)));
}

BOOST_AUTO_TEST_CASE(memory_is_registered_with_the_rights_of_the_process_only) {
  iut::RegisterMemory reading = memory(1, 4096);
  reading.access = {};
  reading.access.remote_read = true;
  reading.fill = 7;
  reading.process_rights = "read";
  a.must(reading);
  BOOST_TEST((*a.must(iut::ReadMemory{1, 4095, 1}).octets == iut::Octets{std::byte{7}}));
  iut::RegisterMemory writing = reading;
  writing.region = 2;
  writing.access.remote_write = true;
  BOOST_TEST(fails(writing));
  reading.region = 3;
  reading.process_rights = "none";
  BOOST_TEST(fails(reading));
}

BOOST_AUTO_TEST_CASE(what_is_in_use_is_not_destroyed_but_reset_takes_all) {
  a.must(iut::CreateDomain{1});
  auto command = memory(1, 8);
  command.domain = 1;
  a.must(command);
  a.must(iut::CreateSharedQueue{1, 1, 8});
  iut::CreateEndpoint create;
  create.endpoint = 1;
  create.domain = 1;
  create.shared_queue = 1;
  a.must(create);
  a.must(iut::AllocateWindow{1, 1});
  BOOST_TEST(fails(iut::DestroyDomain{1}));
  BOOST_TEST(fails(iut::DestroySharedQueue{1}));
  a.must(iut::DestroyEndpoint{1});
  a.must(iut::DestroySharedQueue{1});
  a.must(iut::FreeWindow{1});
  a.must(iut::DeregisterMemory{1});
  a.must(iut::DestroyDomain{1});
  a.must(iut::CreateDomain{1});
  a.must(iut::CreateSharedQueue{1, 1, 8});
  a.must(create);
  a.must(iut::Reset{});
  BOOST_TEST(fails(iut::DestroyDomain{1}));
}

BOOST_AUTO_TEST_CASE(equal_commands_get_equal_stags_and_bases_after_a_reset) {
  TwoIuts other;
  const auto here = a.must(memory(1, 100)), there = other.a.must(memory(1, 100));
  BOOST_TEST(*here.stag == *there.stag);
  BOOST_TEST(*here.base == *there.base);
}

BOOST_AUTO_TEST_SUITE_END()
