// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Regions that work requests register.
#include <array>
#include <boost/test/unit_test.hpp>
#include <span>
#include <vector>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

namespace {

struct Fixture {
  Fixture() { two.connect(); }

  TwoRnics two;
  Side& a = two.a;
  RegionInfo region = *a.rnic->allocate_region(a.domain, 1);
  std::vector<std::byte> octets = std::vector<std::byte>(2 * region_page);

  [[nodiscard]] SendRequest registration(std::size_t length, std::uint8_t key,
                                         std::uint64_t base = 0x5000) {
    return {.id = key,
            .operation = Operation::register_region,
            .registration = {.region = region.region,
                             .memory = std::span(octets).first(length),
                             .access = all_access,
                             .base = base,
                             .key = key}};
  }
  [[nodiscard]] std::expected<void, PostError> post(const SendRequest& request) const {
    return a.rnic->post_send(a.pair, std::span(&request, 1));
  }
  [[nodiscard]] RegionInfo now() const { return *a.rnic->query_region(region.region); }
  [[nodiscard]] Status last_status() {
    two.settle();
    const auto completions = a.completions();
    BOOST_REQUIRE(!completions.empty());
    return completions.back().status;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fast_registration, Fixture)

BOOST_AUTO_TEST_CASE(a_region_is_invalid_until_it_is_registered_under_a_key_of_the_consumer) {
  BOOST_TEST(!now().valid);
  a.send(registration(100, 0x42));
  BOOST_TEST((last_status() == Status::success));
  BOOST_TEST(now().valid);
  BOOST_TEST(now().stag == ((region.stag & ~0xFFU) | 0x42U));
  BOOST_TEST(now().base == 0x5000U);
  BOOST_TEST(now().length == 100U);
}

BOOST_AUTO_TEST_CASE(a_valid_region_is_not_registered_again) {
  a.send(registration(100, 1));
  a.send(registration(100, 2));
  BOOST_TEST((last_status() == Status::bind));
}

BOOST_AUTO_TEST_CASE(an_invalidated_region_is_registered_again) {
  a.send(registration(100, 1));
  two.settle();
  a.send({.id = 9, .operation = Operation::local_invalidate, .invalidate_stag = now().stag});
  a.send(registration(64, 2));
  BOOST_TEST((last_status() == Status::success));
  BOOST_TEST(now().length == 64U);
  BOOST_TEST((now().stag & 0xFFU) == 2U);
}

BOOST_AUTO_TEST_CASE(pages_are_counted_from_the_first_octet_s_place_in_its_page) {
  BOOST_TEST(post(registration(region_page, 1)).has_value());
  for (const SendRequest& wrong :
       {registration(region_page + 1, 2), registration(region_page, 2, 0x5001), registration(0, 2),
        registration(64, 2, ~std::uint64_t{0} - 3)}) {
    const auto posted = post(wrong);
    BOOST_REQUIRE(!posted.has_value());
    BOOST_TEST((posted.error().error == Error::invalid_parameter));
  }
}

BOOST_AUTO_TEST_CASE(only_an_allocated_region_of_the_same_domain_is_registered) {
  SendRequest request = registration(8, 1);
  request.registration.region = a.region.region;  // made registered
  BOOST_TEST((post(request).error().error == Error::invalid_parameter));
  request.registration.region = {};
  BOOST_TEST((post(request).error().error == Error::invalid_handle));
  request.registration.region = a.rnic->allocate_region(*a.rnic->create_domain(), 1)->region;
  BOOST_TEST((post(request).error().error == Error::wrong_domain));
}

BOOST_AUTO_TEST_CASE(a_region_that_is_gone_when_its_turn_comes_is_not_registered) {
  a.send({.id = 5,
          .operation = Operation::read,
          .pieces = {a.piece(0, 8)},
          .remote_stag = two.b.region.stag,
          .remote_offset = two.b.region.base});
  SendRequest fenced = registration(8, 1);
  fenced.fence = true;
  a.send(fenced);
  BOOST_REQUIRE(a.rnic->deregister(region.region).has_value());
  BOOST_TEST((last_status() == Status::bind));
}

BOOST_AUTO_TEST_CASE(a_list_has_some_pages_and_not_too_many) {
  for (const std::uint32_t pages : {0U, a.rnic->attributes().max_pages + 1})
    BOOST_TEST((a.rnic->allocate_region(a.domain, pages).error() == Error::invalid_parameter));
  BOOST_TEST((a.rnic->allocate_region({}, 1).error() == Error::invalid_handle));
}

BOOST_AUTO_TEST_SUITE_END()
