// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes sure that no process below this one is left when the program ends.
#pragma once

namespace suite::runner {

/// While it lives, orphans below this process become its children (an agent whose worker crashed, a
/// process that an agent started). Its destructor waits for those that end by themselves, and kills
/// the rest. A process with its own session, such as a daemon of ssh, is left alone.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
};

}  // namespace suite::runner
