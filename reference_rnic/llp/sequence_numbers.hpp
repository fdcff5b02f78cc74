// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A network whose LLP numbers octets, and on which a host can choose where the numbers begin: so that
// they wrap at a place of the stream that a test wants (RFC 5044 section 4.3).
#pragma once

#include <cstdint>
#include <optional>

namespace rnic::llp {

class SequenceNumbers {
 public:
  /// The first octet that this host sends on what it connects from now on has this number; nothing: the
  /// LLP's own choice. False: this host may not choose (over TCP it takes CAP_NET_ADMIN).
  [[nodiscard]] virtual bool begin_at(std::optional<std::uint32_t> number) = 0;

 protected:
  ~SequenceNumbers() = default;
};

}  // namespace rnic::llp
