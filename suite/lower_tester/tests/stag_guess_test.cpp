// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What counts as a way to guess STags.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "suite/lower_tester/stag_guess.hpp"

using namespace suite::lower_tester;

namespace {

constexpr std::size_t sample = 64;

/// STags that `next` makes from 32 random bits each.
std::vector<std::uint32_t> made(const std::function<std::uint32_t(std::uint32_t)>& next) {
  std::mt19937 random;
  std::vector<std::uint32_t> stags;
  for (std::size_t i = 0; i < sample; ++i)
    stags.push_back(next(static_cast<std::uint32_t>(random())));
  return stags;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stag_guess)

BOOST_AUTO_TEST_CASE(random_stags_cannot_be_guessed) {
  const auto stags = made([](std::uint32_t drawn) { return drawn; });
  BOOST_TEST(guess_by_step(stags).hits <= sample / 4);
  BOOST_TEST(guess_key_by_index(stags).hits <= sample / 4);
}

BOOST_AUTO_TEST_CASE(a_counter_is_guessed) {
  std::uint32_t last = 0x12345600;
  const auto stags = made([&](std::uint32_t) { return last += 0x100; });
  BOOST_TEST(guess_by_step(stags).hits == sample - 1);
  BOOST_TEST(guess_by_step(stags).difference == 0x100U);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_an_octet_of_the_index_is_guessed) {
  for (const unsigned shift : {8U, 16U, 24U}) {
    const auto stags = made([&](std::uint32_t drawn) {
      return (drawn & ~std::uint32_t{0xFF}) | (((drawn >> shift) + 3) & 0xFF);
    });
    BOOST_TEST(guess_by_step(stags).hits <= sample / 4);
    BOOST_TEST(guess_key_by_index(stags).hits == sample);
    BOOST_TEST(guess_key_by_index(stags).difference == 3U);
  }
}

BOOST_AUTO_TEST_CASE(a_constant_key_says_nothing_of_the_index) {
  // The top octet is constant as well, so their difference is too.
  const auto stags = made([](std::uint32_t drawn) { return drawn & 0x00FFFF00; });
  BOOST_TEST(guess_key_by_index(stags).hits == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
