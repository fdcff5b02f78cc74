// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contact with an IUT on a host of its own: several attempts in a row without an answer, over all
// workers, put it in doubt; a sentinel without an answer makes it lost, until a sentinel passes or
// the time to wait is over.
#pragma once

#include <chrono>
#include <string>

#include "base/event_loop.hpp"

namespace suite::runner {

class OutageDetector {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  enum class State : std::uint8_t {
    unmet,     ///< nothing has been answered yet: no contact that could be lost
    standing,  ///< the last attempt was answered, or too few since were not
    doubted,   ///< the sentinel must run
    lost,      ///< the sentinel was not answered, and runs again
  };
  /// This many attempts and agent starts in a row without an answer are no coincidence.
  static constexpr unsigned most_unanswered = 3;

  [[nodiscard]] State state() const { return state_; }
  /// Whether only the sentinel may run.
  [[nodiscard]] bool in_question() const {
    return state_ == State::doubted || state_ == State::lost;
  }
  /// An attempt was answered, whatever its verdict; `good`: this case passed.
  void answered(const std::string& id, bool good, WallTime now);
  /// An attempt, or the start of an agent, was not: `why` in one line.
  void unanswered(const std::string& why);
  /// Only the sentinel can show whether the IUT still answers.
  void doubt();
  /// The sentinel passed.
  void restored(WallTime now);
  /// The sentinel was not answered either. True: it is the first time since the last answer.
  bool asked_in_vain(base::TimePoint now);

  /// Since when contact is known to be lost.
  [[nodiscard]] base::TimePoint lost_since() const { return lost_since_; }
  /// `the IUT has not answered since 12:34:56 (why)`, in the tester's local time.
  [[nodiscard]] std::string text() const;
  /// The last case that passed; empty: none.
  [[nodiscard]] const std::string& last_good() const { return last_good_; }

 private:
  State state_ = State::unmet;
  unsigned unanswered_ = 0;  ///< in a row
  std::string why_, last_good_;
  WallTime last_answer_{};
  base::TimePoint lost_since_{};
};

}  // namespace suite::runner
