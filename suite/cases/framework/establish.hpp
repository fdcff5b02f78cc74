// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a connection of a case comes up: what the tester's side sends, and what the IUT's consumer
// asks for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "suite/cases/framework/case_names.hpp"
#include "suite/cases/framework/rule_ref.hpp"

namespace suite::cases {

/// How a connection is to come up.
struct Establish {
  /// The tester's, as MPA initiator; by default revision 1 with the configured C.
  std::optional<StartupFrame> request{};
  /// The tester's, as responder; by default mpa_reply_to().
  std::function<StartupFrame(const rnic::wire::MpaFrame&)> reply{};
  /// The IUT's side.
  iut::ConnectParameters parameters{};
  /// 0: the default one.
  iut::Handle endpoint = 0;
  /// The side that must send the first FPDU (the MPA initiator) does so: the IUT by a small Send,
  /// the tester by an empty Write.
  bool opening = false;
  /// The rule that is broken if the connection does not come up; without one the case is then
  /// inconclusive.
  RuleRef judged_by{};
};

/// The properties of a peer that acts by itself. By default it conforms, asks for CRCs as the IUT
/// is configured, asks for no Markers, and uses revision 1 as MPA initiator.
struct Partner {
  /// In which ways it is wrong from the start.
  std::vector<Deviation> deviations{};
  /// As MPA initiator; as responder it speaks both.
  std::uint8_t revision = 1;
  /// It asks the IUT for Markers.
  bool markers = false;
  /// It asks for CRCs.
  std::optional<bool> crc{};
  /// As MPA initiator: it asks for that model.
  std::optional<rnic::stream::RtrKinds> peer_to_peer{};
  /// Of the IUT; 0: the default one.
  iut::Handle endpoint = 0;
  /// The rule that is broken if the connection does not come up; without one the case is then
  /// inconclusive.
  RuleRef judged_by{};
};

}  // namespace suite::cases
