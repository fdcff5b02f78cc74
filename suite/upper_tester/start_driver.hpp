// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the agent's program starts one kind of driver: options in, a driver with its loop out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "suite/upper_tester/agent_session.hpp"
#include "suite/upper_tester/driver.hpp"

namespace suite::upper_tester {

struct DriverOptions {
  std::string device;  ///< empty: the only one there is; of dat: the IA's name
  std::vector<std::string>
      addresses;                    ///< literals of the IUT's own addresses, at most one per family
  std::vector<std::string> claims;  ///< capabilities that the API cannot report but the user claims
  std::vector<std::string>
      configure_capabilities;           ///< configure.* capabilities of the configure script
  std::vector<std::string> deviations;  ///< reference only
  std::vector<std::string> lawful;      ///< lawful variants, reference only
  bool sockets = false;                 ///< dat only: connections over sockets of the agent's own
  bool any_transport = false;           ///< kverbs only: the device need not speak iWARP
  int startup_timeout = 0;              ///< seconds, reference only; 0: its own
};

struct Started {
  std::function<void(AgentSession&)>
      talk;  ///< runs the session until it ends; owns the environment of the driver
  std::unique_ptr<Driver> driver;  ///< null: `error` says why in one line, and what to do
  std::string error;
  bool wrong_usage = false;  ///< an option is wrong
};

#ifdef RNIC_AGENT_VERBS
[[nodiscard]] Started start_verbs(const DriverOptions& options, Sink sink);
[[nodiscard]] Started start_kverbs(const DriverOptions& options, Sink sink);
#endif
#ifdef RNIC_AGENT_DAT
[[nodiscard]] Started start_dat(const DriverOptions& options, Sink sink);
[[nodiscard]] Started start_kdat(const DriverOptions& options, Sink sink);
#endif
#ifdef RNIC_AGENT_REFERENCE
[[nodiscard]] Started start_reference(const DriverOptions& options, Sink sink);
#endif

}  // namespace suite::upper_tester
