// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 section 7.1: MPA startup with the IUT as Responder.
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

CONFORMANCE_CASE(reserved_flags_of_the_request_are_ignored,
                 rules("mpa.startup.reserved-bits-ignored")) {
  for (const std::uint8_t bit : std::initializer_list<std::uint8_t>{0x01, 0x02, 0x04, 0x08}) {
    row(fmt::format("flag {:#04x}", bit), [&] {
      establish({.request = mpa_request().with_flag(bit)});
      expect_still_working();
    });
  }
}

CASES_OF_FILE(mpa, startup_responder)

}  // namespace suite::cases
