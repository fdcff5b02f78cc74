// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What deviants do with an FPDU that has arrived.
#pragma once

#include <utility>

#include "reference_rnic/stream/framing_decisions.hpp"

namespace rnic::deviants {

[[nodiscard]] inline bool failed_with(const stream::ArrivedFpdu& arrived, wire::FpduError error) {
  return !arrived.parsed && arrived.parsed.error() == error;
}

[[nodiscard]] inline wire::Bytes octets_of(const stream::ArrivedFpdu& arrived) {
  return arrived.octets.first(arrived.wire_size);
}

inline void take(stream::FpduOutcome& outcome, wire::Bytes ulpdu, std::size_t consumed) {
  outcome.ulpdus.assign(1, ulpdu);
  outcome.fault.reset();
  outcome.consumed = consumed;
}

inline void refuse(stream::FpduOutcome& outcome, stream::Fault fault) {
  outcome.ulpdus.clear();
  outcome.fault = std::move(fault);
  outcome.consumed = 0;
}

inline void drop(stream::FpduOutcome& outcome, std::size_t consumed) {
  outcome.ulpdus.clear();
  outcome.fault.reset();
  outcome.consumed = consumed;
}

}  // namespace rnic::deviants
