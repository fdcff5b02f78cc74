// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A network whose LLP numbers octets, and on which a host can choose the first number, so that the
// numbers wrap at the place in the stream that a test needs (RFC 5044 section 4.3).
#pragma once

#include <cstdint>
#include <optional>

namespace rnic::llp {

class SequenceNumbers {
 public:
  /// The first octet that this host sends on each connection that it makes from now on has this number;
  /// nothing: the LLP chooses. False: this host may not choose (over TCP that needs CAP_NET_ADMIN).
  [[nodiscard]] virtual bool begin_at(std::optional<std::uint32_t> number) = 0;

 protected:
  ~SequenceNumbers() = default;
};

}  // namespace rnic::llp
