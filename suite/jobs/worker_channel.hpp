// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A worker's end of the pipe to its parent: messages come in on standard input, and go out on a
// descriptor that no other output of the process can reach.
#pragma once

#include <optional>

#include "base/file_descriptor.hpp"
#include "suite/jobs/message.hpp"

namespace suite::jobs {

class WorkerChannel {
 public:
  /// Takes standard output for messages to the parent; other output goes to standard error. SIGINT,
  /// which reaches the whole process group, is ignored: the parent decides when its workers end. To
  /// be called first in the process.
  WorkerChannel();

  /// The parent's next message; nothing when it has hung up.
  [[nodiscard]] std::optional<Message> next();
  /// next() notices when the parent is gone.
  void send(const Message& message);
  /// Where messages go, for a signal handler that sends the last one.
  [[nodiscard]] int output() const { return output_.get(); }

 private:
  base::FileDescriptor output_;
  MessageReader input_;
};

}  // namespace suite::jobs
