// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/journal.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "plugfest/condense.hpp"
#include "plugfest/record_tables.hpp"

namespace plugfest {

namespace {

namespace results = suite::results;
using base::record::Json;
using base::record::to_json;
using Done = std::expected<void, std::string>;

/// Of a version that kept its journal under another name.
constexpr const char* earlier_journal = "cells.ndjson";

const ParticipantRecord* find(const EventRecord& event, const std::string& name) {
  const auto found = std::ranges::find(event.participants, name, &ParticipantRecord::name);
  return found == event.participants.end() ? nullptr : &*found;
}

/// Whether results of a participant still hold: another participant may have joined since, and its
/// vendor may have a new name. One that is not in the event is in no cell of it.
bool is_the_same(const EventRecord& before, const EventRecord& now, const std::string& name) {
  const ParticipantRecord *was = find(before, name), *is = find(now, name);
  if (was == nullptr || is == nullptr) return true;
  // A journal of an earlier version knows only whether the whole file is the same.
  if (was->digest.empty()) return before.digest == now.digest;
  return was->digest == is->digest;
}

}  // namespace

CellOutline outline_of(const CellRecord& record) {
  return {.id = record.id,
          .attempt = record.attempt,
          .verdict = record.outcome.verdict,
          .advisory = record.outcome.advisory,
          .absent = record.outcome.absent,
          .reason = record.outcome.reason,
          .place = {}};
}

std::expected<Journal, std::string> Journal::open(const std::filesystem::path& path,
                                                  const EventRecord& event) {
  auto folder = results::RunFolder::open(path);
  if (!folder) return std::unexpected(folder.error());
  Journal journal(std::move(*folder));
  std::error_code error;
  Done done;
  if (std::filesystem::exists(journal.folder() / earlier_journal, error))
    done = std::unexpected(fmt::format("{} holds results of an earlier version of this program",
                                       journal.folder().string()));
  else if (results::holds_a_run(journal.folder()))
    done = journal.take_up(event);
  else
    done = journal.folder_.begin(to_json(JournalLine{.run = event}));
  if (!done) return std::unexpected(done.error() + "; give another --out");
  return journal;
}

Done Journal::take_up(const EventRecord& event) {
  EventRecord before;
  const auto take = [&](JournalLine line,
                        const results::LinePlace& place) -> std::optional<std::string> {
    if (line.run) before = std::move(*line.run);
    if (line.attempt) {
      const bool holds = is_the_same(before, event, line.attempt->initiator) &&
                         is_the_same(before, event, line.attempt->responder);
      remember(*line.attempt, place, holds);
    }
    return std::nullopt;
  };
  const auto whole = results::read_records<JournalLine>(folder_.journal(), take);
  if (!whole) return std::unexpected(whole.error());
  if (before.name != event.name)
    return std::unexpected(fmt::format("{}: these are results of another event, \"{}\"",
                                       folder_.journal().string(), before.name));
  if (auto done = folder_.go_on(*whole); !done) return done;
  if (before.digest == event.digest) return {};
  const auto appended = append({.run = event});
  return appended ? Done() : std::unexpected(appended.error());
}

results::Result<results::LinePlace> Journal::append(const JournalLine& line) {
  auto place = folder_.append(to_json(line));
  if (!place) return place;
  if (auto synced = folder_.sync(); !synced) return std::unexpected(synced.error());
  return place;
}

void Journal::remember(const CellRecord& record, const results::LinePlace& place, bool holds) {
  int& attempts = counts_[record.id];
  attempts = std::max(attempts, record.attempt);
  if (holds)
    latest_[record.id] = attempts_.size();
  else
    latest_.erase(record.id);
  attempts_.push_back(outline_of(record));
  attempts_.back().place = place;
  for (const HostFacts& host : record.outcome.hosts) {
    std::string& last = met_[host.side == Side::initiator ? record.initiator : record.responder];
    last = std::max(last, record.outcome.start);
  }
}

int Journal::attempts(const std::string& cell) const {
  const auto found = counts_.find(cell);
  return found == counts_.end() ? 0 : found->second;
}

std::set<std::string> Journal::met_since(const std::string& then) const {
  std::set<std::string> names;
  for (const auto& [name, last] : met_)
    if (last >= then) names.insert(name);
  return names;
}

Done Journal::add(CellRecord record) {
  condense(record.outcome);
  const auto place = append({.attempt = record});
  if (!place) return std::unexpected(place.error());
  remember(record, *place, true);
  return {};
}

Done Journal::end(const Document& document,
                  const std::function<ListedCell(CellRecord, const CellOutline&)>& listed) {
  if (const auto place = append({.end = document.summary}); !place)
    return std::unexpected(place.error());
  std::ifstream journal(folder_.journal(), std::ios::binary);
  auto next = [&, at = attempts_.begin()]() mutable -> results::Result<std::optional<Json>> {
    if (at == attempts_.end()) return std::nullopt;
    const CellOutline& outline = *at++;
    const auto json = results::read_line(journal, outline.place);
    if (!json) return std::unexpected(json.error());
    JournalLine line;
    if (const auto fault = base::record::from_json(*json, line, {.refuse_unknown = false}))
      return std::unexpected(fault->text);
    if (!line.attempt) return std::unexpected(results::no_journal_line);
    condense(line.attempt->outcome);  // an earlier version has written all of it
    return to_json(listed(std::move(*line.attempt), outline));
  };
  return folder_.write_document(to_json(document), cells_name, std::move(next));
}

}  // namespace plugfest
