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
#include "suite/cases/framework/configuration.hpp"
#include "suite/iut/iut.hpp"

namespace suite::cases {

/// How the cases of the DAT API reach the provider.
struct DatAccess {
  /// argv that runs rnic-dat-cases where the provider is.
  std::vector<std::string> program;
  /// Name in that host's dat.conf.
  std::string ia;
  /// Where the IA is reached; empty: what the IA says of itself.
  std::string address;
};

/// What a run tries once, before its cases, and many of them rest on. Each says in one line why it does
/// not work; empty if it works or was not tried.
struct Controls {
  /// A lone RDMA Read of the tester's: where none is answered, a Read that is rejected shows nothing,
  /// and no Read shows that all sent before has been taken.
  std::string read;
  /// A lone RDMA Read of the IUT's.
  std::string iut_read;
  /// A connection that the IUT opens.
  std::string initiator;
};

struct Environment {
  base::EventLoop& loop;
  rnic::llp::Network& tester;
  iut::Iut& iut;
  /// Where the IUT listens and connects from; ports ignored.
  base::Address iut_ipv4, iut_ipv6;

  /// PIXIT: deadlines are multiplied by it.
  double deadline_scale = 1.0;
  /// PIXIT: how long "nothing comes" is watched.
  std::chrono::nanoseconds quiet_window = std::chrono::milliseconds(100);
  /// What the vendor says of capabilities; what is absent follows from the hello.
  std::map<std::string, bool> pics{};
  /// Advisories fail.
  bool strict = false;

  /// If the IUT is a DAT provider.
  std::optional<DatAccess> dat{};

  Controls controls{};

  /// How the IUT is configured now; kept up by the executor, so that cases of one configuration
  /// need no command. Empty: not known.
  std::optional<Configuration> current_configuration{};
};

}  // namespace suite::cases
