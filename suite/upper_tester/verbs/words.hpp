// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The agent's words for what libibverbs and librdmacm say, and the other way round.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "suite/iut/messages.hpp"

namespace suite::upper_tester::verbs {

[[nodiscard]] const char* status_word(ibv_wc_status status);
/// Nothing for events that tell of ordinary life (a port went up,
/// a connection carried its first message).
[[nodiscard]] std::optional<const char*> asynchronous_word(ibv_event_type type);
/// Why a connection did not come up, from an errno.
[[nodiscard]] const char* connect_failure_word(int error);
/// True for an errno of rdma_connect that tells of the peer or the way to it, not of a wrong call.
[[nodiscard]] bool is_connect_failure(int error);

[[nodiscard]] int access_flags(const iut::Access& access);
/// The opcode that the operation's name stands for, if verbs have one.
[[nodiscard]] std::optional<ibv_wr_opcode> opcode(const std::string& operation);

[[nodiscard]] iut::Reply failed(const std::string& call, int error);
[[nodiscard]] iut::Reply refused(const std::string& why, int code);
[[nodiscard]] iut::Reply unsupported(const std::string& why);
[[nodiscard]] iut::Reply no_such(const char* kind, iut::Handle handle);
[[nodiscard]] iut::Reply exists(const char* kind, iut::Handle handle);

/// A literal with a port as a socket address, and back. Nothing if it is no literal.
[[nodiscard]] std::optional<sockaddr_storage> socket_address(const std::string& literal,
                                                             std::uint16_t port);
[[nodiscard]] std::string host_text(const sockaddr* address);

}  // namespace suite::upper_tester::verbs
