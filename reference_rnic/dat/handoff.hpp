// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connection requests that go from one process to another: the socket and the octets that were read
// from it, over a local socket that is named after the port. Only processes of one user, in one
// network namespace, deal with one another.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "reference_rnic/llp/tcp_connection.hpp"

namespace rnic::dat {

/// Where a service point receives requests that other processes pass to it.
class HandoffListener {
 public:
  /// Called from the loop, for each connection whose request is handed over: it yields the octets
  /// of the startup frame once more.
  using Taker = std::function<void(std::unique_ptr<llp::Connection>)>;

  /// Null: there can be none, as another process has it.
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

/// Passes a connection to the process that listens at this address. False: none does,
/// and nothing has happened.
[[nodiscard]] bool hand_over(const base::Address& to, const llp::Connection& connection,
                             wire::Bytes startup_frame);
/// Leaves a connection that was handed over to its new owner.
void let_go(std::unique_ptr<llp::Connection> connection);

}  // namespace rnic::dat
