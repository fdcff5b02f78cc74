// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the IUT may send: a list of admissible outcomes, each with its judgement. Anything that is
// not in it fails.
//
//   terminate(cause::ddp_tagged_invalid_stag)            one outcome
//   message(Opcode::send) | advisory(fin())              several, the first that matches decides
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "suite/lower_tester/arrival.hpp"

namespace suite::lower_tester {

struct Alternative {
  std::string text;
  Judgement judgement = Judgement::pass;
  std::function<bool(const Arrival&)> matches;
};

class Expected {
 public:
  Expected(std::string text, std::function<bool(const Arrival&)> matches)
      : alternatives_{{std::move(text), Judgement::pass, std::move(matches)}} {}

  /// The judgement of an arrival: that of the first alternative that matches, else fail.
  [[nodiscard]] Judgement judge(const Arrival& arrival) const;
  [[nodiscard]] std::vector<std::string> admissible() const;
  /// Whether the absence of any arrival is enough, so that one need not wait longer than a quiet
  /// window.
  [[nodiscard]] bool accepts_silence() const;

  /// The same with this judgement for every lawful outcome.
  [[nodiscard]] Expected judged(Judgement judgement) const;
  [[nodiscard]] friend Expected operator|(Expected first, const Expected& second) {
    first.alternatives_.insert(first.alternatives_.end(), second.alternatives_.begin(),
                               second.alternatives_.end());
    return first;
  }

 private:
  std::vector<Alternative> alternatives_;
};

/// Lawful, but worth reporting; with `--strict` a failure.
[[nodiscard]] inline Expected advisory(const Expected& expected) {
  return expected.judged(Judgement::advisory);
}
/// It proves neither pass nor fail.
[[nodiscard]] inline Expected inconclusive(const Expected& expected) {
  return expected.judged(Judgement::inconclusive);
}

// -- messages --
[[nodiscard]] Expected message(wire::Opcode opcode);
[[nodiscard]] Expected message(wire::Opcode opcode, Octets payload);
[[nodiscard]] Expected message(wire::Opcode opcode, std::string condition,
                               std::function<bool(const Message&)> holds);
/// The tagged message that answers or writes to this place.
[[nodiscard]] Expected tagged_message(wire::Opcode opcode, std::uint32_t stag, std::uint64_t offset,
                                      Octets payload);

// -- startup frames --
[[nodiscard]] Expected mpa_frame();
[[nodiscard]] Expected mpa_frame(std::string condition,
                                 std::function<bool(const wire::MpaFrame&)> holds);
/// A Reply that accepts (R clear), or one that rejects.
[[nodiscard]] Expected accepting_reply();
[[nodiscard]] Expected rejecting_reply();

// -- Terminates and endings --
/// A Terminate with one of these causes. That the stream is torn down without one is an advisory
/// (docs/disputes.md D7).
[[nodiscard]] Expected terminate(wire::TerminateCause cause);
[[nodiscard]] Expected terminate(std::initializer_list<wire::TerminateCause> causes);
/// A Terminate with one of these causes and nothing else.
[[nodiscard]] Expected only_terminate(std::initializer_list<wire::TerminateCause> causes);
[[nodiscard]] Expected any_terminate();
[[nodiscard]] Expected fin();
[[nodiscard]] Expected connection_reset();
/// FIN or reset.
[[nodiscard]] Expected torn_down();
/// Nothing arrives within the quiet window.
[[nodiscard]] Expected silence();

}  // namespace suite::lower_tester
