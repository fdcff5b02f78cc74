// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/memory.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::model;

namespace {

constexpr std::size_t sizes[] = {0, 1, 4095, 4096, 4097, 10000};

Octets counted(std::size_t size) {
  Octets octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>(i * 7 + i / 4096);
  return octets;
}

}  // namespace

BOOST_AUTO_TEST_CASE(contents_are_what_was_given_whatever_the_pages) {
  for (const std::size_t size : sizes) {
    const Octets octets = counted(size);
    const Contents contents(octets);
    BOOST_TEST(contents.size() == size);
    BOOST_TEST(contents.are(octets));
    BOOST_TEST((contents.all() == octets));
  }
}

BOOST_AUTO_TEST_CASE(a_write_across_pages_changes_its_octets_alone) {
  Octets octets = counted(10000);
  Contents contents(octets);
  const Octets written(4200, std::byte{0x5A});
  contents.write(4000, written);
  std::ranges::copy(written, octets.begin() + 4000);
  BOOST_TEST(contents.are(octets));
  BOOST_TEST((contents.part(3999, 4202) == Octets(octets.begin() + 3999, octets.begin() + 8201)));
}

BOOST_AUTO_TEST_CASE(a_write_leaves_copies_as_they_were) {
  const Octets octets = counted(10000);
  const Contents before(octets);
  Contents after = before;
  BOOST_TEST((after == before));
  const std::byte other = octets[9999] ^ std::byte{1};
  after.write(9999, {&other, 1});
  BOOST_TEST(before.are(octets));
  BOOST_TEST((after != before));
  BOOST_TEST(after.digest() != before.digest());
  after.write(9999, {&octets[9999], 1});
  BOOST_TEST((after == before));
  BOOST_TEST(after.digest() == before.digest());
}

BOOST_AUTO_TEST_CASE(contents_of_other_sizes_differ) {
  BOOST_TEST((Contents(Octets(5)) != Contents(Octets(6))));
  BOOST_TEST((Contents() == Contents(Octets())));
}
