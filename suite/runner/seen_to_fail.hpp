// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// By which deviations of the reference RNIC each case has been seen to fail at its own rule.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace suite::runner {

using SeenToFail =
    std::map<std::string,
             std::vector<std::string>>;  ///< deviations, or faults of DAT calls, by case id

/// What `rnic-self-test --out` or dat_self_test.py wrote; empty where there is no such file or it is not whole.
[[nodiscard]] SeenToFail load_seen_to_fail(const std::filesystem::path& file);

}  // namespace suite::runner
