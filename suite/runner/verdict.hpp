// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The verdict of an attempt at a case: decided here, from what the case saw and from what the run
// knows besides. What the capture shows is added by capture_judge.hpp.
#pragma once

#include <optional>
#include <string>

#include "suite/cases/framework/outcome.hpp"
#include "suite/results/record.hpp"

namespace suite::runner {

struct Ruling {
  cases::Verdict verdict = cases::Verdict::error;
  std::string reason;
};

/// What the log of the IUT's kernel holds of an attempt.
struct KernelEvidence {
  enum class Kind : std::uint8_t {
    none,
    /// It complained while this case ran alone.
    alone,
    /// It complained while this case ran beside others: each of them runs again alone.
    beside_others,
  };
  Kind kind = Kind::none;
  std::string excerpt;
};

struct VerdictInputs {
  /// What the case saw, or what its worker's death makes of it.
  Ruling seen;
  /// What an earlier attempt came to whose worker died. This one ran again alone, and its worker
  /// survived it.
  std::optional<Ruling> earlier_death;
  KernelEvidence kernel;
};

struct Decision {
  Ruling ruling;
  results::DecidedBy by = results::DecidedBy::the_case;
};

/// The kernel's log overrules what the case saw, and a death what came of the repetition.
[[nodiscard]] Decision decide(const VerdictInputs& inputs);

}  // namespace suite::runner
