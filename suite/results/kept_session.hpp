// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is left of a session that found something, on its way from the case to a file of the run's
// folder: a line of the exchange.
#pragma once

#include <string_view>

namespace suite::results {

/// Before the text of the file. Folder::keep_session() puts the name of the file in its place.
inline constexpr std::string_view session_prefix = "session: ";

}  // namespace suite::results
