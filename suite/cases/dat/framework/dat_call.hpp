// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The call into DAT that a thread of a case is in, so that a crash or a hang is attributed to it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::cases::dat {

/// Marks the calling thread as being inside this call as long as it lives. The name is a literal.
class InCall {
 public:
  explicit InCall(const char* call);
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  ~InCall();

 private:
  const char* before_;
};

/// Keeps what a call returned, for call_that_returned().
void keep_return(const char* call, DAT_RETURN code);
/// The call that returned this: the latest one that has not been asked for. Empty if it was not
/// made by CALL, or by a name that DAT does not have.
[[nodiscard]] std::string call_that_returned(DAT_RETURN code);

template <typename Function>
auto called(const char* name, Function function) {
  const InCall mark(name);
  auto result = function();
  if constexpr (std::is_same_v<decltype(result), DAT_RETURN>) keep_return(name, result);
  return result;
}
/// Makes a call into DAT: CALL(dat_pz_free, pz).
#define CALL(function, ...) \
  ::suite::cases::dat::called(#function, [&] { return function(__VA_ARGS__); })

/// From now on a fatal signal, or the deadline, ends the process with a last line on `fd`, which
/// has `died` or `hung` (dat_line.hpp).
void report_endings(int fd, std::chrono::milliseconds deadline);

}  // namespace suite::cases::dat
