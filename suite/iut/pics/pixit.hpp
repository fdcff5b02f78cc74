// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// PIXIT: what a test run must know to reach an implementation (ISO/IEC 9646): addresses, deadlines,
// the agent's command line.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace suite::iut {

struct Pixit {
  std::string ipv4, ipv6;                  ///< the IUT's addresses, with zone; empty: not used
  std::string further_ipv4, further_ipv6;  ///< of the IUT's host, besides these; empty: none
  std::string tester_ipv4, tester_ipv6;    ///< the tester's; empty: chosen by the route
  std::string tester_spare;       ///< a block of further IPv4 addresses of the tester; empty: none
  std::string capture_interface;  ///< the tester's; empty: the one the tester's address is on
  double deadline_scale = 1.0;    ///< of all deadlines of cases
  std::chrono::milliseconds quiet_window{100};
  std::chrono::milliseconds hello_deadline{20000};  ///< from the agent's start to its hello
  std::chrono::milliseconds reply_deadline{
      30000};  ///< from a command to its reply, a configure script's work included
  /// How long a run waits for an IUT that does not answer any more.
  std::chrono::milliseconds outage_wait{60000};
  std::string configure_script;  ///< on the IUT's host
  /// Argv of commands on the tester's host. The first prints the log of the IUT's kernel as it is
  /// written (empty: through --host); the second resets the IUT's host.
  std::vector<std::string> kernel_log, reset_command;
  std::vector<std::string>
      agent;  ///< argv that gives the agent's stdio; empty: from --iut and --host
};

/// Each fault is one line `file:line: what is wrong`; all faults of the file are reported at once.
[[nodiscard]] std::expected<Pixit, std::vector<std::string>> parse_pixit(const std::string& text,
                                                                         const std::string& name);
[[nodiscard]] std::expected<Pixit, std::vector<std::string>> load_pixit(
    const std::filesystem::path& file);

}  // namespace suite::iut
