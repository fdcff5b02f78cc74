// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Passes connection requests from one process to another: the socket and the octets that were read
// from it, over a local socket that is named after the port. Both processes must have the same user
// and network namespace.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "reference_rnic/llp/tcp_connection.hpp"

namespace rnic::dat {

/// Where a service point receives requests that other processes pass to it.
class HandoffListener {
 public:
  /// Called from the loop, for each connection whose request is passed on: the octets of the
  /// startup frame can be read from it again.
  using Taker = std::function<void(std::unique_ptr<llp::Connection>)>;

  /// Null: not possible, since another process has the name.
  [[nodiscard]] static std::unique_ptr<HandoffListener> open(base::EpollLoop& loop,
                                                             const base::Address& listening,
                                                             Taker taker);
  ~HandoffListener();
  HandoffListener(const HandoffListener&) = delete;
  HandoffListener& operator=(const HandoffListener&) = delete;

 private:
  HandoffListener(base::EpollLoop& loop, base::FileDescriptor listener,
                  const base::Address& listening, Taker taker);
  void connected();
  void read(int sender);

  base::EpollLoop& loop_;
  base::FileDescriptor listener_;
  base::Address address_;
  Taker taker_;
  std::vector<base::FileDescriptor> senders_;  ///< that have sent nothing yet
};

/// Passes a connection to the process that listens at this address. False: no process does, and
/// nothing has changed.
[[nodiscard]] bool hand_over(const base::Address& to, const llp::Connection& connection,
                             wire::Bytes startup_frame);
/// Leaves a connection that was handed over to its new owner.
void let_go(std::unique_ptr<llp::Connection> connection);

}  // namespace rnic::dat
