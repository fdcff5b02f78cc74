// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DAT's numbers in words: return codes, endpoint states, events, DTO statuses.
#pragma once

#include <string>

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::cases::dat {

/// `DAT_INVALID_HANDLE`, with its subtype if it has one; `0x...` for a value that no header
/// defines.
[[nodiscard]] std::string return_text(DAT_RETURN code);
[[nodiscard]] std::string type_text(DAT_RETURN type);
[[nodiscard]] std::string state_text(DAT_EP_STATE state);
[[nodiscard]] std::string event_text(DAT_EVENT_NUMBER number);
[[nodiscard]] std::string status_text(DAT_DTO_COMPLETION_STATUS status);

}  // namespace suite::cases::dat
