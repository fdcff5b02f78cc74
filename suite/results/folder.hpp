// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output folder of a run: the journal that grows verdict by verdict, and the document made of
// it at the end.
//
// results.ndjson is the only thing written while the run goes on, one synced line at a time;
// results.json is always derived from it, so that a killed run loses nothing that was judged.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "suite/results/record.hpp"

namespace suite::results {

/// One line for people: what could not be done with which file, and why.
using Problem = std::string;
template <typename Value>
using Result = std::expected<Value, Problem>;

class Folder {
 public:
  /// Creates the folder if need be and locks it against a second run. Nothing in it is touched yet.
  [[nodiscard]] static Result<Folder> open(const std::filesystem::path& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  /// Starts the journal. What an earlier run left here is removed first, once the new journal is
  /// known to be writable.
  [[nodiscard]] Result<void> begin(const RunRecord& run);
  /// Appends one attempt. A line that does not fit on the disk is taken back whole.
  [[nodiscard]] Result<void> add(const CaseRecord& record);
  /// Replaces what is known of the run.
  [[nodiscard]] Result<void> update(const RunRecord& run);
  /// Returns when all that was added is on the disk.
  [[nodiscard]] Result<void> sync();
  /// Ends the journal and writes results.json, under another name first.
  [[nodiscard]] Result<Document> end(const RunRecord& run,
                                     const std::vector<std::string>& stale_entries);

  /// Where the pcap of an attempt belongs, relative to the folder;
  /// its directory exists after begin().
  [[nodiscard]] static std::string pcap_name(const std::string& id, std::uint32_t attempt);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  Folder(std::filesystem::path path, std::filesystem::path topmost);
  [[nodiscard]] Result<void> append(const Json& line);

  std::filesystem::path path_;
  std::filesystem::path
      created_;    ///< topmost folder that we created, ours to take back while empty; or empty
  int lock_ = -1;  ///< the folder itself, held with flock
  int journal_ = -1;
  std::uint64_t good_ = 0;  ///< octets of whole lines in the journal
};

/// What is in a folder: results.json, or else the journal of a run that was killed (a torn last
/// line is left out).
[[nodiscard]] Result<Document> read(const std::filesystem::path& folder);
/// The document that a journal makes; `ending` becomes killed where the journal has no end.
[[nodiscard]] Result<Document> read_journal(const std::filesystem::path& journal);
/// Makes results.json of the journal of a killed run.
[[nodiscard]] Result<Document> collect(const std::filesystem::path& folder);

}  // namespace suite::results
