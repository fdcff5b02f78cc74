// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a case runs in: the event loop, the tester's network, the IUT, and the PICS and PIXIT values that
// bear on it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "suite/iut/iut.hpp"

namespace suite::cases {

/// The MPA startup behaviour that a case wants of the IUT (the command `Configure`). Cases that
/// want the same can run in a row.
struct Configuration {
  int revision = 2;
  bool crc = true;
  bool markers = false;                                   ///< the IUT asks the tester for Markers
  bool peer_to_peer = false;                              ///< as initiator: flag A
  std::vector<std::string> rtr{"send", "write", "read"};  ///< all three: those that the IUT has

  bool operator==(const Configuration&) const = default;
  /// `revision 2, crc, rtr send+write+read`
  [[nodiscard]] std::string text() const;
};

/// How the cases of the DAT API reach the provider.
struct DatAccess {
  std::vector<std::string> program;  ///< argv that runs rnic-dat-cases where the provider is
  std::string ia;                    ///< name in that host's dat.conf
  std::string address;               ///< where the IA is reached; empty: what the IA says of itself
};

struct Environment {
  base::EventLoop& loop;
  rnic::llp::Network& tester;
  iut::Iut& iut;
  base::Address iut_ipv4,
      iut_ipv6;  ///< where the IUT listens and connects from; ports ignored

  double deadline_scale = 1.0;  ///< PIXIT: deadlines are multiplied by it
  std::chrono::nanoseconds quiet_window =
      std::chrono::milliseconds(100);  ///< PIXIT: how long "nothing comes" is watched
  std::map<std::string, bool>
      pics{};  ///< what the vendor says of capabilities; what is absent follows from the hello
  bool strict = false;  ///< advisories fail

  std::optional<DatAccess> dat{};  ///< if the IUT is a DAT provider

  /// How the IUT is configured now; kept up by the executor, so that cases of one configuration
  /// need no command. Empty: not known.
  std::optional<Configuration> current_configuration{};
};

}  // namespace suite::cases
