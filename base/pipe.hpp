// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A pipe whose ends are closed on exec. C++17, for the agent's own build.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/file_descriptor.hpp"

namespace base {

struct Pipe {
  FileDescriptor read_end, write_end;
};

/// Nothing if it cannot be made; errno says why.
[[nodiscard]] inline std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace base
