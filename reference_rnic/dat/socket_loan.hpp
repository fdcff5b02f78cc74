// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A TCP connection on a socket that the consumer lends: until an RDMA connection stands on it, every
// end of it gives the socket back as it was.
#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "reference_rnic/dat/api.hpp"
#include "reference_rnic/llp/tcp_connection.hpp"

namespace rnic::dat {

/// What lender and borrower know of one another.
struct Loan {
  int socket = -1;             ///< the consumer's
  bool kept = false;           ///< an RDMA connection stands: the socket is ours
  std::function<void()> down;  ///< the peer has closed, or the connection broke, before
};

/// The connected TCP socket of the IA that `socket` is, or why it is none. Its local address must
/// be the IA's.
[[nodiscard]] std::expected<base::Address, DAT_RETURN> lendable(int socket, const base::Address& ia,
                                                                int position);

/// Uses a descriptor of its own for the same connection.
[[nodiscard]] std::unique_ptr<llp::Connection> borrow(base::EpollLoop& loop,
                                                      std::shared_ptr<Loan> loan);

}  // namespace rnic::dat
