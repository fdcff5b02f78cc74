// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace plugfest {

namespace {

using nlohmann::json;
using Done = std::expected<void, std::string>;

std::unexpected<std::string> failed(const std::filesystem::path& file) {
  return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(errno)));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
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
                                                  const json& event) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return std::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
  Journal journal;
  journal.folder_ = folder;
  const auto file = folder / "cells.ndjson";
  constexpr mode_t readable = 0644;
  journal.file_ =
      base::FileDescriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, readable));
  if (!journal.file_) return failed(file);
  if (::flock(journal.file_.get(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(fmt::format("{} is in use by another run", file.string()));
  if (auto taken = journal.take_up(event); !taken) return std::unexpected(taken.error());
  return journal;
}

/// Whole lines are kept, what a kill has torn is cut off.
Done Journal::take_up(const json& event) {
  const auto file = folder_ / "cells.ndjson";
  const std::string text = read_file(file_.get());
  std::size_t start = 0;
  bool begun = false;
  for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(start),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    const auto fault = [&](std::string_view what) {
      return std::unexpected(fmt::format("{}: {}; give another --out", file.string(), what));
    };
    if (!begun) {
      if (!line.is_object() || !line.contains("event")) return fault("this is no plugfest journal");
      if (line["event"].value("digest", "") != event.value("digest", ""))
        return fault("these are results of another event, or the event file was changed since");
      begun = true;
      continue;
    }
    const auto cell = line.is_object() ? line.find("cell") : line.end();
    if (cell == line.end() || !cell->is_object() || !cell->contains("id") ||
        !(*cell)["id"].is_string())
      return fault(fmt::format("octet {} begins no record of a cell", start));
    remember(*cell);
  }
  if (start < text.size() && ::ftruncate(file_.get(), static_cast<off_t>(start)) != 0)
    return failed(file);
  return begun ? Done{} : append({{"event", event}});
}

Done Journal::append(const json& line) {
  if (!write_all(file_.get(), line_of(line)) || ::fdatasync(file_.get()) != 0)
    return failed(folder_ / "cells.ndjson");
  return {};
}

void Journal::remember(json record) {
  latest_[record["id"].get<std::string>()] = records_.size();
  records_.push_back(std::move(record));
}

int Journal::attempts(const std::string& cell) const {
  return has(cell) ? latest(cell).value("attempt", 1) : 0;
}

Done Journal::add(json record) {
  if (auto done = append({{"cell", record}}); !done) return done;
  remember(std::move(record));
  return {};
}

Done write_whole(const std::filesystem::path& file, const std::string& text) {
  const auto draft = std::filesystem::path(file).concat(".new");
  constexpr mode_t readable = 0644;
  const base::FileDescriptor fd(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable));
  if (!fd || !write_all(fd.get(), text) || ::fdatasync(fd.get()) != 0) return failed(draft);
  if (::rename(draft.c_str(), file.c_str()) != 0) return failed(file);
  return {};
}

}  // namespace plugfest
