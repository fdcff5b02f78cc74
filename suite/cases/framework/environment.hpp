// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a case runs in: the event loop, the tester's network, the IUT, and the PICS and PIXIT values
// that it needs.
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
  /// The address of the IA; empty: the one that the IA reports.
  std::string address;
};

/// Why a positive control did not pass.
struct FailedControl {
  std::string reason;  ///< one line
  std::string rule;    ///< of the expectation that it ended at; empty: of none
};

/// What a run tries once before its cases, since many of them depend on it. Nothing: it works, or
/// was not tried.
struct Controls {
  /// A lone RDMA Read of the tester: if it is not answered, a Read that is rejected shows nothing,
  /// and no Read shows that everything sent before has been processed.
  std::optional<FailedControl> read{};
  /// A lone RDMA Read of the IUT.
  std::optional<FailedControl> iut_read{};
  /// A connection that the IUT opens.
  std::optional<FailedControl> initiator{};
  /// RDMA Reads of the IUT connected with itself, behind Sends.
  std::optional<FailedControl> loopback_read{};
};

struct Environment {
  base::EventLoop& loop;
  rnic::llp::Network& tester;
  iut::Iut& iut;
  /// The addresses at which the IUT listens and from which it connects; ports ignored.
  base::Address iut_ipv4, iut_ipv6;
  /// Further addresses of its host.
  std::vector<base::Address> iut_further{};

  /// PIXIT: deadlines are multiplied by it.
  double deadline_scale = 1.0;
  /// PIXIT: how long the upper tester may take to reset and configure the IUT.
  std::chrono::nanoseconds reply_deadline = std::chrono::seconds(30);
  /// PIXIT: how long to watch that nothing arrives.
  std::chrono::nanoseconds quiet_window = std::chrono::milliseconds(100);
  /// What the vendor says about capabilities; what is absent follows from the hello.
  std::map<std::string, bool> pics{};
  /// Advisories fail.
  bool strict = false;

  /// If the IUT is a DAT provider.
  std::optional<DatAccess> dat{};

  Controls controls{};

  /// The current configuration of the IUT, kept by the executor, so that cases of one configuration
  /// need no command. Empty: not known.
  std::optional<Configuration> current_configuration{};
};

}  // namespace suite::cases
