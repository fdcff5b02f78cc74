// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The MPA startup behaviour that a case needs of the IUT (the command `Configure`).
#pragma once

#include <string>
#include <vector>

namespace suite::cases {

/// Cases with the same configuration can run one after another.
struct Configuration {
  int revision = 2;
  bool crc = true;
  /// The IUT asks the tester for Markers.
  bool markers = false;
  /// As initiator: flag A.
  bool peer_to_peer = false;
  /// All three: those that the IUT supports.
  std::vector<std::string> rtr{"send", "write", "read"};

  bool operator==(const Configuration&) const = default;
  /// `revision 2, crc, rtr send+write+read`
  [[nodiscard]] std::string text() const;
};

}  // namespace suite::cases
