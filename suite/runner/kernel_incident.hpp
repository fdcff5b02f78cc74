// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A complaint of the IUT's kernel while several cases ran: each runs again alone, to find the one
// that provokes it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/results/record.hpp"

namespace suite::runner {

/// Only keeps the records; the owner runs the cases again.
/// Cases are identified by their number in the schedule.
class Incidents {
 public:
  using IsKnown = std::function<bool(const std::string& excerpt)>;
  /// The kernel complained while these ran together (at least two).
  void open(const std::string& excerpt, const std::vector<std::size_t>& cases);
  /// Whether the attempt that just ended must run again alone; the excerpt of its incident, if so.
  [[nodiscard]] std::optional<std::string> suspected(std::size_t one) const;
  /// The first attempt of a suspect has ended: its next one will run alone.
  void will_repeat(std::size_t one);
  /// A repetition ended with this record; `complaint`: the kernel complained again. Returns the
  /// records that this settles: the last repetition of the incident settles all of them. If nothing
  /// was reproduced, all of them are errors, unless the complaint is a known one: then the results
  /// of the repetitions count.
  [[nodiscard]] std::vector<results::CaseRecord> settle(std::size_t one, results::CaseRecord record,
                                                        bool complaint, const IsKnown& is_known);
  /// Whether this case is being repeated for an incident.
  [[nodiscard]] bool repeating(std::size_t one) const;

 private:
  struct Incident {
    std::string excerpt;
    std::set<std::size_t> suspects;  ///< not run again yet
    std::vector<results::CaseRecord> repeated;
    bool reproduced = false;
  };
  std::map<std::size_t, std::shared_ptr<Incident>> by_case_;
  std::set<std::size_t> repeating_;
};

}  // namespace suite::runner
