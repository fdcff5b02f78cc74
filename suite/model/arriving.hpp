// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What arrives at the IUT, and each state that it may lead to.
#pragma once

#include "suite/model/coverage.hpp"
#include "suite/model/state.hpp"

namespace suite::model {

/// Adds to `after` each state that may follow when `stream` receives what was sent to it.
void arrive(const State& before, std::size_t stream, const Sent& sent, Coverage& coverage,
            States& after);

// -- its parts, by kind of segment --
struct Taking {
  const State& before;
  std::size_t stream;
  Coverage& coverage;
  States& after;
};
void arrive_untagged(const Taking& taking, const wire::Segment& segment);
void arrive_tagged(const Taking& taking, const wire::Segment& segment);
/// Adds what may follow of the first octets of an FPDU without a CRC, beside nothing.
void place_early(const Taking& taking, const wire::Segment& segment);
/// The states in which the stream's next message has a receive of the shared queue. Which of those
/// that wait is the IUT's choice.
[[nodiscard]] States with_shared_receive(const State& before, std::size_t stream);
/// A Response may come after later messages (RFC 5040 section 5.5 rule 18, RFC 7306 section 5.4), and after
/// what the consumer does: a Request whose source has been closed since may be refused then.
void refuse_closed_sources(const State& state, Coverage& coverage, States& after);
/// The stream has used what the STag opens, as it may.
void note_use(const Taking& taking, State& state, const Grant& grant);
/// An error: the stream ends, or the LLP drops what arrived, where it may.
void refuse(const Taking& taking, State state, const Fault& fault, const Sent& sent);

}  // namespace suite::model
