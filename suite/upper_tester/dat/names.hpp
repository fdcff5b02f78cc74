// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts between the names in the agent's messages and what a DAT provider reports.
#pragma once

#include <string>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/dat/dat_api.hpp"

namespace suite::upper_tester::dat {

[[nodiscard]] const char* status_name(DAT_DTO_COMPLETION_STATUS status);
[[nodiscard]] const char* state_name(DAT_EP_STATE state);
/// Why a connection was not established.
[[nodiscard]] const char* connect_failure_name(DAT_EVENT_NUMBER number);
[[nodiscard]] DAT_MEM_PRIV_FLAGS privileges(const iut::Access& access);

/// `dat_pz_free: DAT_INVALID_STATE DAT_INVALID_STATE_PZ_IN_USE`
[[nodiscard]] std::string return_text(const std::string& call, DAT_RETURN code);
[[nodiscard]] iut::Reply failed(const std::string& call, DAT_RETURN code);

}  // namespace suite::upper_tester::dat
