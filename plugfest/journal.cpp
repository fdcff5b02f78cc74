// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "plugfest/record_tables.hpp"

namespace plugfest {

namespace {

using Done = std::expected<void, std::string>;

std::unexpected<std::string> failed(const std::filesystem::path& file, int fault = errno) {
  return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(fault)));
}

/// Additions of a later version of the format are ignored. Nothing: it is not a line of a journal.
std::optional<JournalLine> line_of(std::string_view text) {
  const auto json = base::record::Json::parse(text, nullptr, false);
  JournalLine line;
  const bool bad = json.is_discarded() ||
                   base::record::from_json(json, line, {.refuse_unknown = false}).has_value();
  return bad || (!line.event && !line.cell) ? std::nullopt : std::optional(std::move(line));
}

std::string read_file(int fd) {
  std::string text;
  std::array<char, 65536> part;
  ssize_t count = 0;
  while ((count = ::read(fd, part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

std::expected<Journal, std::string> Journal::open(const std::filesystem::path& folder,
                                                  const EventRecord& event) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return std::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
  Journal journal;
  journal.folder_ = folder;
  const auto path = folder / "cells.ndjson";
  constexpr mode_t readable = 0644;
  base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, readable));
  if (!file) return failed(path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(fmt::format("{} is in use by another run", path.string()));
  if (auto taken = journal.take_up(std::move(file), event); !taken)
    return std::unexpected(taken.error());
  return journal;
}

/// Complete lines are kept; a line that a kill has torn is cut off.
Done Journal::take_up(base::FileDescriptor descriptor, const EventRecord& event) {
  const auto file = folder_ / "cells.ndjson";
  const std::string text = read_file(descriptor.get());
  std::size_t start = 0;
  bool begun = false;
  for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    auto line = line_of(std::string_view(text).substr(start, end - start));
    const auto fault = [&](std::string_view what) {
      return std::unexpected(fmt::format("{}: {}; give another --out", file.string(), what));
    };
    if (!begun) {
      if (!line || !line->event) return fault("this is not a plugfest journal");
      if (line->event->digest != event.digest)
        return fault("these are results of another event, or the event file has changed since");
      begun = true;
      continue;
    }
    if (!line || !line->cell)
      return fault(fmt::format("octet {} does not begin a record of a cell", start));
    remember(std::move(*line->cell));
  }
  file_ = base::LineFile(std::move(descriptor), start);
  if (const int fault = file_.begin(); fault != 0) return failed(file, fault);
  return begun ? Done{} : append({.event = event});
}

Done Journal::append(const JournalLine& line) {
  int fault = file_.append(base::record::one_line(base::record::to_json(line)));
  if (fault == 0) fault = file_.sync();
  return fault == 0 ? Done{} : failed(folder_ / "cells.ndjson", fault);
}

void Journal::remember(CellRecord record) {
  latest_[record.id] = records_.size();
  records_.push_back(std::move(record));
}

int Journal::attempts(const std::string& cell) const {
  return has(cell) ? latest(cell).attempt : 0;
}

Done Journal::add(CellRecord record) {
  if (auto done = append({.cell = record}); !done) return done;
  remember(std::move(record));
  return {};
}

Done write_whole(const std::filesystem::path& file, const std::string& text) {
  const int fault = base::replace_file(file, text);
  return fault == 0 ? Done{} : failed(file, fault);
}

}  // namespace plugfest
