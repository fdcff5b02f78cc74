// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The release and the commit of the suite from which a program was built.
#pragma once

#include <string>
#include <string_view>

namespace base {

/// The release, e.g. "0.1.0".
[[nodiscard]] std::string_view version();

/// 40 hexadecimal digits, with "-dirty" if the sources were changed; "unknown" without git.
[[nodiscard]] std::string_view commit();

/// What `--version` prints: "rnic-lint 0.1.0 (commit ...)".
[[nodiscard]] std::string version_text(std::string_view program);

}  // namespace base
