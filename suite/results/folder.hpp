// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output folder of a run: the journal that grows verdict by verdict, and the document made from
// it at the end.
//
// results.ndjson is the only thing written while the run goes on, one synced line at a time;
// results.json is always derived from it, so that a killed run loses nothing that was judged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/line_file.hpp"
#include "suite/results/journal.hpp"

namespace suite::results {

class Folder {
 public:
  /// Creates the folder if necessary and locks it against a second run. Nothing in it is changed
  /// yet; a folder that was created and stays empty is removed again.
  [[nodiscard]] static Result<Folder> open(const std::filesystem::path& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  /// Starts the journal of a new run. A run that is already in the folder is an error: nothing of
  /// it is ever removed.
  [[nodiscard]] Result<void> begin(const RunRecord& run);
  /// Continues the journal of the run in the folder, as it was read while this object held the
  /// lock. A torn line at its end is removed.
  [[nodiscard]] Result<void> go_on(const Journal& earlier, const RunRecord& run);
  /// Appends one attempt. A line that does not fit on the disk is removed again.
  [[nodiscard]] Result<void> add(const CaseRecord& record);
  /// Returns when everything that was added is on the disk.
  [[nodiscard]] Result<void> sync();
  /// The document of the journal so far.
  [[nodiscard]] Result<Document> so_far() const;
  /// Ends the journal and writes results.json, under another name first.
  [[nodiscard]] Result<void> end(const Document& document);

  /// Where the pcap of an attempt belongs, relative to the folder;
  /// its directory exists after begin().
  [[nodiscard]] static std::string pcap_name(const std::string& id, std::uint32_t attempt);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  Folder(std::filesystem::path path, std::filesystem::path topmost);
  [[nodiscard]] Result<void> append(const JournalLine& line);

  std::filesystem::path path_;
  /// The topmost folder that this object created, to be removed again while it is empty; or empty.
  std::filesystem::path created_;
  /// The folder itself, held with flock.
  base::FileDescriptor lock_;
  base::LineFile journal_;
};

/// Makes results.json of the journal of a run, however that ended.
[[nodiscard]] Result<Document> collect(const std::filesystem::path& folder);

}  // namespace suite::results
