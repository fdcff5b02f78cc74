// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Text from a capture or a command line, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dissectors::lint {

/// The text with every octet outside printable ASCII as `\x1b`: no control sequences for a
/// terminal, no line breaks, no right-to-left letters.
[[nodiscard]] std::string plain(std::string_view text);

}  // namespace dissectors::lint
