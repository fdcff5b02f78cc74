// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/journal.hpp"

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
  bool same_event = false;
  const auto take = [&](JournalLine line) -> std::optional<std::string> {
    if (line.run) same_event = line.run->digest == event.digest;
    if (line.attempt) remember(std::move(*line.attempt));
    return std::nullopt;
  };
  const auto whole = results::read_records<JournalLine>(folder_.journal(), take);
  if (!whole) return std::unexpected(whole.error());
  if (!same_event)
    return std::unexpected(
        fmt::format("{}: these are results of another event, or the event file was changed since",
                    folder_.journal().string()));
  return folder_.go_on(*whole);
}

Done Journal::append(const JournalLine& line) {
  auto done = folder_.append(to_json(line));
  return done ? folder_.sync() : done;
}

void Journal::remember(CellRecord record) {
  latest_[record.id] = records_.size();
  records_.push_back(std::move(record));
}

int Journal::attempts(const std::string& cell) const {
  return has(cell) ? latest(cell).attempt : 0;
}

Done Journal::add(CellRecord record) {
  if (auto done = append({.attempt = record}); !done) return done;
  remember(std::move(record));
  return {};
}

Done Journal::end(const Document& document) {
  if (auto done = append({.end = document.summary}); !done) return done;
  return folder_.write_document(to_json(document));
}

}  // namespace plugfest
