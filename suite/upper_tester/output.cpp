// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "suite/iut/message_lines.hpp"

namespace suite::upper_tester {
namespace {

/// A pipe or socket that polls writable takes this much without blocking, so that the descriptor,
/// which others may share, need not be made non-blocking.
constexpr std::size_t portion = 4096;

/// A reply with more octets than a line may have could never be read;
/// that is reported to the client instead.
std::string line_of(const iut::Event& event) {
  std::string line = iut::format(event);
  if (line.size() <= iut::max_line) return line;
  const auto* reply = std::get_if<iut::Reply>(&event);
  if (reply == nullptr) return {};
  iut::Reply instead;
  instead.command = reply->command;
  instead.outcome = iut::Outcome::failed;
  instead.error = "the reply would be longer than a line may be; ask for less at a time";
  instead.code = EMSGSIZE;
  return iut::format(instead);
}

}  // namespace

void Output::add(const iut::Event& event) {
  if (empty()) {
    octets_.clear();
    written_ = 0;
  }
  octets_ += line_of(event);
  octets_ += '\n';
}

bool Output::write_some() {
  if (empty()) return true;
  const ssize_t count = ::write(fd_, octets_.data() + written_, std::min(portion, size()));
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  written_ += static_cast<std::size_t>(count);
  return true;
}

bool Output::flush() {
  while (!empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return false;
    if ((ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
    if ((ready.revents & POLLOUT) != 0 && !write_some()) return false;
  }
  return true;
}

}  // namespace suite::upper_tester
