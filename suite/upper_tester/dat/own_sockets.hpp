// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// TCP sockets of the agent's own, of which no call waits for the peer.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::upper_tester::dat {

class OwnSockets {
 public:
  /// Where there are sockets, `also` is watched as well. An error in one line, or nothing.
  [[nodiscard]] std::string start(int also);
  /// Polls readable while a socket is ready(), or `also` is readable.
  [[nodiscard]] int fd() const { return watched_.get(); }

  /// Each returns a socket, or -1 and errno. Port 0: any.
  [[nodiscard]] int listen(const sockaddr& own, std::uint16_t& port);
  /// It is ready() once it is connected or has failed.
  [[nodiscard]] int connect(const sockaddr& own, const sockaddr_storage& remote);
  [[nodiscard]] int accept(int listener);

  /// The listening sockets with a connection, and those that are connected or have failed.
  [[nodiscard]] std::vector<int> ready() const;
  /// It is watched no longer, and blocks: another owner uses it, until close() or close_all().
  void hand_over(int socket);
  void close(int socket);
  void close_all() { open_.clear(); }

 private:
  int add(base::FileDescriptor socket, unsigned events);

  base::FileDescriptor watched_;  ///< an epoll descriptor
  int also_ = -1;
  std::map<int, base::FileDescriptor> open_;
};

}  // namespace suite::upper_tester::dat
