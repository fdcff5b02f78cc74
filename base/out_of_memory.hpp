// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a program says when it has no more memory. A program that uses this says it also where no handler of its own can: before
// main(), and in what must not throw. Then it is one line, and the exit status is 3.
#pragma once

#include <exception>
#include <string>

namespace base {

/// For the one line in which a program ends: `what()`, or `out of memory`.
[[nodiscard]] std::string words_of(const std::exception& fault);

}  // namespace base
