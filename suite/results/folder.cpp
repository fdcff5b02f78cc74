// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/line_file.hpp"
#include "base/record/json_writer.hpp"
#include "suite/results/kept_session.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::results {

namespace fs = std::filesystem;
using base::record::to_json;

Result<Folder> Folder::open(const fs::path& path) {
  auto folder = RunFolder::open(path);
  if (!folder) return std::unexpected(folder.error());
  return Folder(std::move(*folder));
}

Result<void> Folder::begin(const RunRecord& run) {
  return folder_.begin(to_json(JournalLine{.run = run, .attempt = {}, .end = {}}));
}

Result<void> Folder::go_on(const Journal& earlier, const RunRecord& run) {
  if (auto ready = folder_.go_on(earlier.whole); !ready) return ready;
  if (auto written = append({.run = run, .attempt = {}, .end = {}}); !written) return written;
  return sync();
}

Result<void> Folder::append(const JournalLine& line) {
  const auto place = folder_.append(to_json(line));
  return place ? Result<void>() : std::unexpected(place.error());
}

Result<void> Folder::add(const CaseRecord& record) {
  return append({.run = {}, .attempt = record, .end = {}});
}

Result<void> Folder::keep_session(CaseRecord& record) const {
  const auto says = std::ranges::find_if(record.outcome.exchange, [](const Step& step) {
    return step.text.starts_with(session_prefix);
  });
  if (says == record.outcome.exchange.end()) return {};
  const fs::path file = session_name(record.id, record.attempt);
  std::error_code error;
  fs::create_directory((path() / file).parent_path(), error);
  const std::string_view text = std::string_view(says->text).substr(session_prefix.size());
  const int fault = error ? error.value() : base::replace_file(path() / file, text);
  if (fault != 0)
    return std::unexpected(fmt::format("cannot write {}: {}", (path() / file).string(),
                                       std::generic_category().message(fault)));
  says->text = "to be played again: " + file.string();
  return {};
}

Result<void> Folder::sync() { return folder_.sync(); }

Result<void> Folder::end(const Document& document) {
  auto ended = append(
      {.run = {},
       .attempt = {},
       .end = JournalLine::End{document.run, document.summary.stale_entries, document.findings}});
  if (ended) ended = sync();
  if (ended) ended = folder_.write_document(to_json(document));
  return ended;
}

std::string Folder::pcap_name(const std::string& id, std::uint32_t attempt) {
  return fmt::format("pcap/{}.{}.pcap", id, attempt);
}

std::string Folder::session_name(const std::string& id, std::uint32_t attempt) {
  return fmt::format("sessions/{}.{}.json", id, attempt);
}

Result<Document> Folder::so_far() const {
  auto journal = read_journal(folder_.journal());
  if (!journal) return std::unexpected(journal.error());
  return std::move(journal->document);
}

Result<Document> collect(const fs::path& path) {
  if (std::error_code error; !fs::is_directory(path, error))
    return std::unexpected(fmt::format("cannot open folder {}: {}", path.string(),
                                       std::generic_category().message(ENOENT)));
  const auto folder = RunFolder::open(path);
  if (!folder) return std::unexpected(folder.error());
  auto journal = read_journal(folder->journal());
  if (!journal) return std::unexpected(journal.error());
  if (const auto written = folder->write_document(to_json(journal->document)); !written)
    return std::unexpected(written.error());
  return std::move(journal->document);
}

}  // namespace suite::results
