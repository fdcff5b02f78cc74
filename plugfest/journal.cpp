// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/journal.hpp"

#include <algorithm>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/record/json_writer.hpp"
#include "plugfest/record_tables.hpp"

namespace plugfest {

namespace {

namespace results = suite::results;
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
  const auto take = [&](JournalLine line) -> std::optional<std::string> {
    if (line.run) before = std::move(*line.run);
    if (line.attempt) {
      const bool holds = is_the_same(before, event, line.attempt->initiator) &&
                         is_the_same(before, event, line.attempt->responder);
      remember(std::move(*line.attempt), holds);
    }
    return std::nullopt;
  };
  const auto whole = results::read_records<JournalLine>(folder_.journal(), take);
  if (!whole) return std::unexpected(whole.error());
  if (before.name != event.name)
    return std::unexpected(fmt::format("{}: these are results of another event, \"{}\"",
                                       folder_.journal().string(), before.name));
  if (auto done = folder_.go_on(*whole); !done) return done;
  return before.digest == event.digest ? Done() : append({.run = event});
}

Done Journal::append(const JournalLine& line) {
  auto done = folder_.append(to_json(line));
  return done ? folder_.sync() : done;
}

void Journal::remember(CellRecord record, bool holds) {
  int& attempts = attempts_[record.id];
  attempts = std::max(attempts, record.attempt);
  if (holds)
    latest_[record.id] = records_.size();
  else
    latest_.erase(record.id);
  records_.push_back(std::move(record));
}

int Journal::attempts(const std::string& cell) const {
  const auto found = attempts_.find(cell);
  return found == attempts_.end() ? 0 : found->second;
}

Done Journal::add(CellRecord record) {
  if (auto done = append({.attempt = record}); !done) return done;
  remember(std::move(record), true);
  return {};
}

Done Journal::end(const Document& document) {
  if (auto done = append({.end = document.summary}); !done) return done;
  return folder_.write_document(to_json(document));
}

}  // namespace plugfest
