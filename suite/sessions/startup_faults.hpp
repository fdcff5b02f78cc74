// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What must happen to a stream whose startup is odd, or wrong in one way (RFC 5044 section 7.1, RFC
// 6581 sections 6, 9 and 10).
#pragma once

#include <string>
#include <vector>

#include "suite/sessions/session.hpp"

namespace suite::sessions {

enum class StartupEnd : std::uint8_t {
  /// The stream comes up.
  up,
  /// There is no connection, and the IUT closes.
  closed,
  /// The same, but no text forbids a receiver to continue (docs/disputes.md D11, D61, and timeouts,
  /// which RFC 5044 section 7.1.2 recommends).
  closed_or_advisory,
  /// One side rejects, is gone, or reports an error of its own.
  refused,
};

struct StartupFaultInfo {
  StartupFault fault;
  StartupEnd end;
  /// With the IUT as Responder, and as Initiator; none: the fault does not exist there.
  std::vector<std::string> as_responder, as_initiator;
};

[[nodiscard]] const StartupFaultInfo& info_of(StartupFault fault);
/// The rules that an IUT in this role breaks if it does not do as `end` says.
[[nodiscard]] const std::vector<std::string>& rules_of(StartupFault fault, bool iut_initiates);
/// The fault exists in this role.
[[nodiscard]] bool exists(StartupFault fault, bool iut_initiates);

}  // namespace suite::sessions
