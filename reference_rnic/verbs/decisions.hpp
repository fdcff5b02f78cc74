// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decision points of an RNIC: where it asks how to go on. stream/decisions.hpp says how.
#pragma once

#include <functional>

#include "reference_rnic/stream/decisions.hpp"

namespace rnic::verbs {

struct Decisions {
  Decisions() = default;
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;
  virtual ~Decisions() = default;
};

/// What decides for one RNIC, and for each of its streams. Default: it conforms.
class RnicDecisions : public stream::DecisionChain<Decisions> {
 public:
  /// Makes the chain of a new stream; empty: it conforms.
  std::function<stream::StreamDecisions()> of_stream;
  [[nodiscard]] stream::StreamDecisions for_stream() const {
    return of_stream ? of_stream() : stream::StreamDecisions{};
  }
};

}  // namespace rnic::verbs
