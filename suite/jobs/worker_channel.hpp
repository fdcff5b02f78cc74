// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A worker's end of the pipe to its parent: messages come in on standard input, and go out where
// nothing else that the process prints can get between them.
#pragma once

#include <optional>

#include "base/file_descriptor.hpp"
#include "suite/jobs/message.hpp"

namespace suite::jobs {

class WorkerChannel {
 public:
  /// Takes standard output for messages to the parent; what else is printed goes to standard error.
  /// SIGINT, which reaches the whole process group, is ignored: the parent decides what becomes of
  /// its workers. To be called first in the process.
  WorkerChannel();

  /// The parent's next message; nothing when it has hung up.
  [[nodiscard]] std::optional<Message> next();
  /// A parent that is gone is noticed by next().
  void send(const Message& message);
  /// Where messages go, for a signal handler that sends the last one.
  [[nodiscard]] int output() const { return output_.get(); }

 private:
  base::FileDescriptor output_;
  MessageReader input_;
};

}  // namespace suite::jobs
