// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/outage_detector.hpp"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace suite::runner {

void OutageDetector::answered(const std::string& id, bool good, WallTime now) {
  unanswered_ = 0;
  last_answer_ = now;
  if (good) last_good_ = id;
  // What began before the doubt may still be answered: only the sentinel decides.
  if (state_ == State::unmet) state_ = State::standing;
}

void OutageDetector::unanswered(const std::string& why) {
  why_ = why.substr(0, why.find('\n'));
  if (state_ == State::standing && ++unanswered_ >= most_unanswered) state_ = State::doubted;
}

void OutageDetector::doubt() {
  if (state_ == State::standing) state_ = State::doubted;
}

void OutageDetector::restored(WallTime now) {
  state_ = State::standing;
  unanswered_ = 0;
  last_answer_ = now;
}

bool OutageDetector::asked_in_vain(base::TimePoint now) {
  if (state_ == State::lost) return false;
  state_ = State::lost;
  lost_since_ = now;
  return true;
}

std::string OutageDetector::text() const {
  const auto since = fmt::localtime(std::chrono::system_clock::to_time_t(last_answer_));
  return fmt::format("the IUT has not answered since {:%H:%M:%S}{}", since,
                     why_.empty() ? "" : " (" + why_ + ")");
}

}  // namespace suite::runner
