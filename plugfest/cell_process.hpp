// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One cell at work in a process of its own, so that whatever hangs or dies in it costs this cell
// only.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/process.hpp"

namespace plugfest {

class CellProcess {
 public:
  /// Forks; the child calls `work`, hands over what it returns and ends. It is killed when this
  /// process ends, or its owner goes. To be called while the process has one thread.
  [[nodiscard]] static std::expected<CellProcess, std::string> start(
      const std::function<std::string()>& work);

  /// Readable when there are words to take.
  [[nodiscard]] int fd() const { return words_.get(); }
  /// Takes what has come; true when the last of it has.
  [[nodiscard]] bool take();
  void kill() { process_.kill(); }
  /// What it said, once take() was true; the error says how it died.
  [[nodiscard]] std::expected<std::string, std::string> result();

 private:
  CellProcess(base::Process process, base::FileDescriptor words)
      : process_(std::move(process)), words_(std::move(words)) {}

  base::Process process_;
  base::FileDescriptor words_;
  std::string text_;
};

}  // namespace plugfest
