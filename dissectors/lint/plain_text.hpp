// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Text from a capture or a command line, made harmless for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dissectors::lint {

/// The text with every octet outside printable ASCII as `\x1b`: no control sequence of a terminal
/// comes through, no line break, no letters that run backwards.
[[nodiscard]] std::string plain(std::string_view text);

}  // namespace dissectors::lint
