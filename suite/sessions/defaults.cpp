// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/defaults.hpp"

#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

namespace {

/// Whether records of this kind have such a member.
template <class Record>
bool set_in_all(std::vector<Record>& records, std::string_view name) {
  bool exists = false;
  const auto set = [&](const auto& member) {
    if (member.name != name || member.presence != base::record::Presence::defaulted) return;
    exists = true;
    for (Record& record : records) record.*member.place = Record{}.*member.place;
  };
  std::apply([&](const auto&... members) { (set(members), ...); },
             base::record::table_for<Record>().members);
  return exists;
}

}  // namespace

bool set_to_default(Session& session, std::string_view member) {
  const bool of_stream = set_in_all(session.streams, member);
  return set_in_all(session.steps, member) || of_stream;
}

}  // namespace suite::sessions
