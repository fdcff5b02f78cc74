// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/channel_protocol.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

using namespace suite::lab::channel;

namespace {

std::vector<std::string> cut(LineCutter& cutter, std::string_view octets) {
  std::vector<std::string> lines;
  cutter.add(octets, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

/// Sends octets in pieces of `step` through wrap, cut and unwrap.
std::string through(std::string_view octets, std::size_t step) {
  LineCutter cutter;
  std::string received;
  for (std::size_t at = 0; at < octets.size(); at += step)
    cutter.add(wrap("T ", "out", octets.substr(at, step)), [&](std::string_view line) {
      BOOST_TEST(take_word(line) == "T");
      BOOST_TEST(unwrap(line, "out", received));
    });
  return received;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(channel_protocol)

BOOST_AUTO_TEST_CASE(lines_are_cut_wherever_the_octets_arrive) {
  LineCutter cutter;
  BOOST_TEST(cut(cutter, "ab").empty());
  BOOST_TEST(cut(cutter, "c\n\nd\ne") == (std::vector<std::string>{"abc", "", "d"}),
             boost::test_tools::per_element());
  cutter.clear();
  BOOST_TEST(cut(cutter, "f\n") == (std::vector<std::string>{"f"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_endless_line_is_handed_over_in_bounded_pieces) {
  LineCutter cutter(4);
  BOOST_TEST(cut(cutter, "abcdefghij\n") == (std::vector<std::string>{"abcd", "efgh", "ij"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(any_octets_come_out_as_they_went_in) {
  std::string octets("\0\r\n\n one\ntwo\n+ three", 21);
  octets += std::string(3 * longest_piece, 'x') + "\n" + std::string(longest_piece, 'y');
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, octets.size()})
    BOOST_TEST((through(octets, step) == octets));
}

BOOST_AUTO_TEST_CASE(the_lines_themselves) {
  BOOST_TEST(wrap("T ", "err", "a\nb") == "T err a\nT err+ b\n");
  BOOST_TEST(wrap("", "in", "\n") == "in \n");
  std::string text;
  BOOST_TEST(!unwrap("output x", "out", text));
  BOOST_TEST(!unwrap("out", "out", text));
  BOOST_TEST(!unwrap("", "out", text));
  BOOST_TEST(text.empty());
}

BOOST_AUTO_TEST_SUITE_END()
