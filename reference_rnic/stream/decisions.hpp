// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decision points of a stream: where it asks how to continue.
//
// The stream computes what the RFC demands and passes it to each point by reference. No member need
// answer: `stream/` is complete without any implementation of these members.
#pragma once

#include "reference_rnic/stream/decision_chain.hpp"
#include "reference_rnic/stream/ending_decisions.hpp"
#include "reference_rnic/stream/framing_decisions.hpp"
#include "reference_rnic/stream/receiving_decisions.hpp"
#include "reference_rnic/stream/sending_decisions.hpp"
#include "reference_rnic/stream/startup_decisions.hpp"
#include "reference_rnic/stream/work_decisions.hpp"

namespace rnic::stream {

struct Decisions : StartupDecisions,
                   FramingDecisions,
                   SendingDecisions,
                   ReceivingDecisions,
                   EndingDecisions,
                   WorkDecisions {
  Decisions() = default;
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;
  virtual ~Decisions() = default;
};

/// The members of one stream's chain.
class StreamDecisions : public DecisionChain<Decisions> {};

}  // namespace rnic::stream
