// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the user of rnic-run asks for.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace suite::verbs_run {

struct Options {
  bool list = false;
  bool crc = true;
  bool peer_to_peer = true;
  bool rsocket = false;  ///< plain sockets of the program become rsockets
  std::string device = "rnic0";
  std::vector<std::string> deviations, lawful;
  std::string capture;           ///< file; empty: none
  std::string interface = "lo";  ///< that is captured
  std::vector<std::string> program;
};

/// Why nothing is run.
struct Stop {
  int code = 0;
  std::string text;
};

[[nodiscard]] std::expected<Options, Stop> parse_options(int count, const char* const* words);

}  // namespace suite::verbs_run
