// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts between the names in the agent's messages and what libibverbs and librdmacm report.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <optional>
#include <string>

#include "suite/iut/messages.hpp"
#include "suite/upper_tester/common_replies.hpp"

namespace suite::upper_tester::verbs {

[[nodiscard]] const char* status_name(ibv_wc_status status);
/// Nothing for events of normal operation (a port went up,
/// a connection carried its first message).
[[nodiscard]] std::optional<const char*> asynchronous_name(ibv_event_type type);
/// Why a connection was not established, from an errno.
[[nodiscard]] const char* connect_failure_name(int error);
/// True for an errno of rdma_connect that is about the peer or the way to it, not about a wrong call.
[[nodiscard]] bool is_connect_failure(int error);

[[nodiscard]] int access_flags(const iut::Access& access);
[[nodiscard]] iut::Access access_named(unsigned flags);
/// The opcode that the operation's name stands for, if verbs have one.
[[nodiscard]] std::optional<ibv_wr_opcode> opcode(const std::string& operation);

[[nodiscard]] iut::Reply failed(const std::string& call, int error);

}  // namespace suite::upper_tester::verbs
