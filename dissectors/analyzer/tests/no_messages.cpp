// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The layer above framing, absent: the tests of framing judge framing alone.
#include "dissectors/analyzer/message_tracker.hpp"

namespace dissectors::analyzer {

struct MessageTracker::State {
  Negotiated settled;
};

MessageTracker::MessageTracker(Voice&) : state_(std::make_unique<State>()) {}
MessageTracker::MessageTracker(MessageTracker&&) noexcept = default;
MessageTracker& MessageTracker::operator=(MessageTracker&&) noexcept = default;
MessageTracker::~MessageTracker() = default;
const Negotiated& MessageTracker::startup(const MpaFrameSeen&) { return state_->settled; }
void MessageTracker::fpdu(const FpduSeen&) {}
void MessageTracker::hole(Direction, const Place&) {}
void MessageTracker::ended(Direction, Ending, const Place&) {}
void MessageTracker::finish() {}

}  // namespace dissectors::analyzer
