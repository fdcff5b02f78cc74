// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the workers of the tests do in the place of a cell: the test program is its own worker.
#pragma once

#include <nlohmann/json.hpp>

namespace plugfest {

[[nodiscard]] nlohmann::json play_synthetic(const nlohmann::json& order);

}  // namespace plugfest
