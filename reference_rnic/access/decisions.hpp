// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decision points of the connection manager: where it asks how to go on. stream/decisions.hpp
// says how.
#pragma once

#include "reference_rnic/stream/decision_chain.hpp"

namespace rnic::access {

struct Decisions {
  Decisions() = default;
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;
  virtual ~Decisions() = default;
};

/// What decides for one connection manager. Default: it conforms.
class ConnectionDecisions : public stream::DecisionChain<Decisions> {};

}  // namespace rnic::access
