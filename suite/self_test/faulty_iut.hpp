// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT whose API goes wrong at one place: what its consumer asks for, what it is answered, or what
// it is told. It stands between a case and the IUT.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "suite/iut/iut.hpp"

namespace suite::self_test {

/// One way in which an API is wrong: a function that alters a command, a reply or an event. It
/// returns false where there is nothing that this fault could alter.
struct ApiFault {
  std::string_view name;
  bool (*command)(iut::Command&) = nullptr;
  bool (*reply)(iut::Reply&) = nullptr;
  bool (*event)(iut::Event&) = nullptr;
  /// What becomes of that command or event besides.
  enum class Fate { goes_on, is_lost, comes_twice, comes_after_the_next } fate = Fate::goes_on;
};

[[nodiscard]] std::span<const ApiFault> api_faults();

class FaultyIut final : public iut::Iut {
 public:
  /// `nth`: which of the things that the fault could alter; 0: each.
  FaultyIut(iut::Iut& right, const ApiFault& fault, unsigned nth)
      : right_(right), fault_(fault), nth_(nth) {}

  /// Whether the fault has struck.
  [[nodiscard]] bool has_struck() const { return struck_; }

  [[nodiscard]] const iut::Hello& hello() const override { return right_.hello(); }
  std::uint64_t post(iut::Command command) override;
  [[nodiscard]] std::optional<iut::Event> next_event(base::TimePoint deadline) override;
  [[nodiscard]] bool is_gone() const override { return events_.empty() && right_.is_gone(); }

 private:
  template <typename Thing>
  bool strikes(bool (*alter)(Thing&), Thing& thing);
  void take(iut::Event event);

  iut::Iut& right_;
  const ApiFault& fault_;
  unsigned nth_, count_ = 0;
  bool struck_ = false;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::uint64_t> numbers_;  ///< the case's, by the IUT's
  std::deque<iut::Event> events_;                   ///< for the case
  std::optional<iut::Event> late_;
};

}  // namespace suite::self_test
