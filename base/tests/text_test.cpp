// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "base/did_you_mean.hpp"
#include "base/glob.hpp"
#include "base/hex.hpp"

using base::Octets;

namespace {

Octets octets(std::initializer_list<unsigned> values) {
  Octets made;
  for (const unsigned value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(hex_is_written_in_lower_case) {
  BOOST_TEST(base::to_hex(octets({0x00, 0x1f, 0xc0})) == "001fc0");
  BOOST_TEST(base::to_hex(octets({0x00, 0x1f, 0xc0}), " ") == "00 1f c0");
  BOOST_TEST(base::to_hex(Octets{}, " ").empty());
}

BOOST_AUTO_TEST_CASE(hex_is_read_up_to_what_is_none) {
  BOOST_TEST((base::leading_hex("00ffA5x1") == octets({0, 0xFF, 0xA5})));
  BOOST_TEST(base::leading_hex("0").empty());
}

BOOST_AUTO_TEST_CASE(hex_written_by_hand_may_have_blanks_between_octets) {
  BOOST_TEST((base::from_hex(" 41 43 00fF\n") == octets({0x41, 0x43, 0, 0xFF})));
  BOOST_TEST((base::from_hex("") == Octets{}));
  for (const char* wrong : {"4", "41 4", "4 1", "4g", "0x41"})
    BOOST_TEST(!base::from_hex(wrong).has_value(), wrong);
}

BOOST_AUTO_TEST_CASE(every_octet_survives_hex) {
  Octets all;
  for (unsigned value = 0; value < 256; ++value) all.push_back(static_cast<std::byte>(value));
  BOOST_TEST((base::from_hex(base::to_hex(all)) == all));
  BOOST_TEST((base::leading_hex(base::to_hex(all)) == all));
}

BOOST_AUTO_TEST_CASE(a_glob_goes_over_slashes) {
  BOOST_TEST(base::matches_glob("mpa.*", "mpa.startup/request"));
  BOOST_TEST(base::matches_glob("?pa.[a-s]*", "mpa.startup"));
  BOOST_TEST(!base::matches_glob("mpa", "mpa.startup"));
  BOOST_TEST(!base::matches_glob("mpa.?", "mpa."));
}

BOOST_AUTO_TEST_CASE(the_nearest_known_word_is_offered) {
  constexpr std::array<std::string_view, 2> known{"startup", "terminate"};
  BOOST_TEST(base::did_you_mean("startpu", known) == " (did you mean 'startup'?)");
  BOOST_TEST(base::did_you_mean("private", known).empty());
  BOOST_TEST(base::edit_distance("rnu", "run") == 1U);  // two that were exchanged
  BOOST_TEST(base::edit_distance("", "run") == 3U);
  BOOST_TEST(base::edit_distance("sitting", "kitten") == 3U);
}
