// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an RNIC offers its consumer under lawful variants that limit it. Each of these limits is
// stated in the hello of the upper tester's driver.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "reference_rnic/access/startup_options.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::lawful {

struct Offer {
  verbs::SoftRnicOptions rnic{};
  access::StartupOptions startup{};
  std::size_t max_private_data = 508;
  /// MPA revision 2.
  bool enhanced_startup = true;
  bool crc_configurable = true;
  bool markers_configurable = true;
  bool peer_to_peer_configurable = true;
  /// Bound of the EMSS, if the path has one.
  std::optional<std::size_t> emss{};
  /// RFC 7306.
  bool extensions = true;
  /// How long a completion is kept back from its consumer.
  std::chrono::milliseconds completion_delay{0};
};

[[nodiscard]] Offer offer_of(std::span<const Lawful> chosen);

}  // namespace rnic::lawful
