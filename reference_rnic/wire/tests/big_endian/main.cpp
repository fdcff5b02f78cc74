// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tests of wire without Boost.Test's library and ISA-L: this file replaces both.
#define BOOST_TEST_MODULE wire
#include <bit>
#include <boost/test/included/unit_test.hpp>

static_assert(std::endian::native == std::endian::big, "this build is there to run big-endian");

/// ISA-L's function by its definition, bit by bit: reflected polynomial of CRC32c, nothing preset
/// or complemented.
extern "C" unsigned int crc32_iscsi(unsigned char* buffer, int length, unsigned int state) {
  for (int i = 0; i < length; ++i) {
    state ^= buffer[i];
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1U) ? 0x82F63B78U : 0U);
  }
  return state;
}
