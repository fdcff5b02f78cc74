// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output folder of a run of cases (run_folder.hpp): its records as they are written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "suite/results/journal.hpp"

namespace suite::results {

class Folder {
 public:
  /// Creates the folder if necessary and locks it against a second run. Nothing in it is changed
  /// yet; a folder that was created and stays empty is removed again.
  [[nodiscard]] static Result<Folder> open(const std::filesystem::path& path);

  /// Starts the journal of a new run. A run that is already in the folder is an error: nothing of
  /// it is ever removed.
  [[nodiscard]] Result<void> begin(const RunRecord& run);
  /// Continues the journal of the run in the folder, as it was read while this object held the
  /// lock. A torn line at its end is removed.
  [[nodiscard]] Result<void> go_on(const Journal& earlier, const RunRecord& run);
  /// Appends one attempt. A line that does not fit on the disk is removed again.
  [[nodiscard]] Result<void> add(const CaseRecord& record);
  /// Writes what is left of a session that found something beside the document (kept_session.hpp), so
  /// that the exchange only names the file.
  [[nodiscard]] Result<void> keep_session(CaseRecord& record) const;
  /// Returns when everything that was added is on the disk.
  [[nodiscard]] Result<void> sync();
  /// The document of the journal so far.
  [[nodiscard]] Result<Document> so_far() const;
  /// Ends the journal and writes results.json, under another name first.
  [[nodiscard]] Result<void> end(const Document& document);

  /// Where the pcap of an attempt belongs, relative to the folder;
  /// its directory exists after begin().
  [[nodiscard]] static std::string pcap_name(const std::string& id, std::uint32_t attempt);
  /// Where keep_session() writes, relative to the folder; its directory exists once it has.
  [[nodiscard]] static std::string session_name(const std::string& id, std::uint32_t attempt);
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  explicit Folder(RunFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Result<void> append(const JournalLine& line);

  RunFolder folder_;
};

/// Makes results.json of the journal of a run, however that ended.
[[nodiscard]] Result<Document> collect(const std::filesystem::path& folder);

}  // namespace suite::results
