// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A TCP connection on a socket that the consumer lends: until an RDMA connection is established on
// it, the socket is returned unchanged, however the connection ends.
#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "reference_rnic/dat/api.hpp"
#include "reference_rnic/llp/tcp_connection.hpp"

namespace rnic::dat {

/// What the lender and the borrower of a socket share.
struct BorrowedSocket {
  int socket = -1;             ///< the consumer's
  bool kept = false;           ///< an RDMA connection is established: the socket is ours
  std::function<void()> down;  ///< the peer has closed, or the connection broke, before
};

/// Checks that `socket` is a connected TCP socket of the IA, or returns why not. Its local address
/// must be the IA's.
[[nodiscard]] std::expected<base::Address, DAT_RETURN> lendable(int socket, const base::Address& ia,
                                                                int position);

/// Uses a descriptor of its own for the same connection.
[[nodiscard]] std::unique_ptr<llp::Connection> borrow(base::EpollLoop& loop,
                                                      std::shared_ptr<BorrowedSocket> borrowed);
[[nodiscard]] bool is_borrowed(const llp::Connection& connection);

}  // namespace rnic::dat
