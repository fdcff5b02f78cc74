// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.hpp"
#include "base/time_text.hpp"

BOOST_AUTO_TEST_CASE(sha256_of_known_texts) {
  const auto digest = [](std::string_view text) {
    return base::sha256(std::as_bytes(std::span(text)));
  };
  BOOST_TEST(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  BOOST_TEST(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  BOOST_TEST(digest(std::string(1000000, 'a')) ==
             "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

BOOST_AUTO_TEST_CASE(sha256_does_not_depend_on_how_the_octets_are_cut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  const auto octets = std::as_bytes(std::span(text));
  for (std::size_t length = 0; length <= octets.size(); ++length) {
    const std::string whole = base::sha256(octets.first(length));
    base::Sha256 cut;
    cut.update(octets.first(length / 3));
    cut.update(octets.subspan(length / 3, length - length / 3));
    BOOST_TEST(cut.finish() == whole);
  }
}

BOOST_AUTO_TEST_CASE(time_is_utc_with_microseconds) {
  using namespace std::chrono;
  BOOST_TEST(base::time_text(base::WallTime(seconds(951782400) + microseconds(42))) ==
             "2000-02-29T00:00:00.000042Z");
}
