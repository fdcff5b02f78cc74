// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One of the places at which the frames of a cell are captured.
#pragma once

#include <string>

namespace plugfest {

struct CapturePlace {
  std::string interface;
  std::string host{};               ///< as ssh takes it; empty: this host
  std::string network_namespace{};  ///< of this host: path; empty: ours

  /// As people name it.
  [[nodiscard]] std::string text() const {
    return host.empty() ? interface : host + ":" + interface;
  }
};

}  // namespace plugfest
