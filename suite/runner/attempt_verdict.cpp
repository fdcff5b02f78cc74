// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/attempt_verdict.hpp"

#include <fmt/format.h>

namespace suite::runner {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Decision decide(const VerdictInputs& inputs) {
  using results::DecidedBy;
  switch (inputs.kernel.kind) {
    case KernelEvidence::Kind::alone:
      return {.ruling = {.verdict = cases::Verdict::fail,
                         .reason = fmt::format("the IUT's {}: {}", results::words_for_incident,
                                               first_line(inputs.kernel.excerpt))},
              .by = DecidedBy::kernel_log};
    case KernelEvidence::Kind::beside_others:
      return {.ruling =
                  {.verdict = cases::Verdict::error,
                   .reason = fmt::format(
                       "the IUT's {} while this case ran together with others; it runs again alone",
                       results::words_for_incident)},
              .by = DecidedBy::the_case};
    case KernelEvidence::Kind::none:
      break;
  }
  if (!inputs.earlier_death) return {.ruling = inputs.seen, .by = DecidedBy::the_case};
  return {.ruling = {.verdict = inputs.earlier_death->verdict,
                     .reason = inputs.earlier_death->reason + "; not when it ran again alone"},
          .by = DecidedBy::the_case};
}

}  // namespace suite::runner
