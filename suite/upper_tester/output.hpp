// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines that an agent still has to write, sent without blocking.
#pragma once

#include <cstddef>
#include <string>

#include "suite/iut/messages.hpp"

namespace suite::upper_tester {

class Output {
 public:
  /// `fd` may be blocking and shared with others; it is not owned.
  explicit Output(int fd) : fd_(fd) {}

  void add(const iut::Event& event);
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool empty() const { return written_ == octets_.size(); }
  [[nodiscard]] std::size_t size() const { return octets_.size() - written_; }

  /// Writes a little; to be called when `fd` polls writable.
  /// False if the reader is gone.
  [[nodiscard]] bool write_some();
  /// Waits until all is written. False if the reader is gone.
  [[nodiscard]] bool flush();

 private:
  int fd_;
  std::string octets_;
  std::size_t written_ = 0;
};

}  // namespace suite::upper_tester
