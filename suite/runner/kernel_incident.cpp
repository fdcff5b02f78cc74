// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/kernel_incident.hpp"

#include <fmt/format.h>

namespace suite::runner {

void Incidents::open(const std::string& excerpt, const std::vector<std::size_t>& cases) {
  auto incident = std::make_shared<Incident>();
  incident->excerpt = excerpt;
  for (const std::size_t one : cases) {
    if (by_case_.try_emplace(one, incident).second) incident->suspects.insert(one);
  }
}

std::optional<std::string> Incidents::suspected(std::size_t one) const {
  const auto found = by_case_.find(one);
  if (found == by_case_.end() || repeating_.contains(one)) return {};
  return found->second->excerpt;
}

void Incidents::will_repeat(std::size_t one) { repeating_.insert(one); }
bool Incidents::repeating(std::size_t one) const { return repeating_.contains(one); }

std::vector<results::CaseRecord> Incidents::settle(std::size_t one, results::CaseRecord record,
                                                   bool complaint, const IsKnown& is_known) {
  repeating_.erase(one);
  const auto incident = by_case_.extract(one).mapped();
  incident->suspects.erase(one);
  incident->reproduced |= complaint;
  incident->repeated.push_back(std::move(record));
  if (!incident->suspects.empty()) return {};
  if (incident->reproduced) return std::move(incident->repeated);
  const bool known = is_known(incident->excerpt);
  for (results::CaseRecord& held : incident->repeated) {
    held.kernel_log = incident->excerpt;
    if (known) continue;
    held.outcome.verdict = results::Verdict::error;
    held.outcome.reason = fmt::format(
        "the IUT's {} while this case ran together with others, and not when they ran alone",
        results::words_for_incident);
  }
  return std::move(incident->repeated);
}

}  // namespace suite::runner
