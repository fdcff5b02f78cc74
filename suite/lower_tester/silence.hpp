// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the reason of a case begins to which nobody answered: not the IUT's own failure, as far as one
// can see from this case alone.
#pragma once

#include <string_view>

namespace suite::lower_tester {

inline constexpr std::string_view upper_tester_gone = "the upper tester is gone";
inline constexpr std::string_view no_reply = "no reply of the upper tester";
inline constexpr std::string_view cannot_connect = "cannot connect to the IUT";

}  // namespace suite::lower_tester
