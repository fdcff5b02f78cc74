// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The verdict of an attempt at a case: decided here, from what the case saw and from what else the
// run knows. capture_judge.hpp adds what the capture shows.
#pragma once

#include <optional>
#include <string>

#include "suite/cases/framework/outcome.hpp"
#include "suite/results/record.hpp"

namespace suite::runner {

struct Ruling {
  cases::Verdict verdict = cases::Verdict::error;
  std::string reason;
  /// Of the expectation that decides the verdict; empty: something else does.
  std::string rule{};
};

/// What the log of the IUT's kernel has about an attempt.
struct KernelEvidence {
  enum class Kind : std::uint8_t {
    none,
    /// It complained while this case ran alone.
    alone,
    /// It complained while this case ran together with others: each of them runs again alone.
    beside_others,
  };
  Kind kind = Kind::none;
  std::string excerpt;
};

struct VerdictInputs {
  /// What the case saw, or the consequence of its worker's crash.
  Ruling seen;
  /// The ruling of an earlier attempt whose worker crashed. The present attempt ran alone, and its
  /// worker survived.
  std::optional<Ruling> earlier_death;
  KernelEvidence kernel;
};

struct Decision {
  Ruling ruling;
  results::DecidedBy by = results::DecidedBy::the_case;
};

/// The kernel's log overrules what the case saw; a crash overrules the result of the repetition.
[[nodiscard]] Decision decide(const VerdictInputs& inputs);

}  // namespace suite::runner
