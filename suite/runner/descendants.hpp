// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All processes below this one: none of them is left when the program ends.
#pragma once

namespace suite::runner {

/// While it lives, orphans below this process become its children (an agent whose worker died, what
/// an agent started). At its end it waits for those that end by themselves, and kills the rest.
/// A process with a session of its own, such as a daemon of ssh, is left alone.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
};

}  // namespace suite::runner
