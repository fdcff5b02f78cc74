// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/child_words.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace suite::iut {

void tell(const ChildProcess& child, std::string_view text) {
  pollfd ready{.fd = child.channel(), .events = POLLOUT, .revents = 0};
  while (!text.empty()) {
    const ssize_t count = ::send(child.channel(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count > 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (errno == EAGAIN)
      (void)::poll(&ready, 1, -1);
    else if (errno != EINTR)
      return;
  }
}

}  // namespace suite::iut
