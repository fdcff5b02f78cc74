// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The folder of a run, of cases or of the cells of a plugfest: the journal that grows with each
// attempt, and the document made of it at the end.
//
// results.ndjson is the only thing written while the run continues, one line at a time:
// {"run": ...}, then {"case": ...} for each attempt that has ended, and {"end": ...}. results.json
// is always derived from it, so that a killed run loses nothing that was judged.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <type_traits>

#include "base/line_file.hpp"
#include "base/record/json_reader.hpp"

namespace suite::results {

using base::record::Json;

/// One line for people: what could not be done with which file, and why.
using Problem = std::string;
template <typename Value>
using Result = std::expected<Value, Problem>;

inline constexpr const char* journal_name = "results.ndjson";
inline constexpr const char* document_name = "results.json";

/// Of a line in the journal, in octets; its newline is not counted.
struct LinePlace {
  std::uint64_t at = 0, length = 0;
};

class RunFolder {
 public:
  /// Creates the folder if necessary and locks it against a second run. Nothing in it is changed yet;
  /// one that was created and stays empty is removed again.
  [[nodiscard]] static Result<RunFolder> open(const std::filesystem::path& path);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  /// Starts the journal of a new run with this line, and makes the folder of pcaps. A run that is
  /// in the folder already is an error: nothing of it is ever removed.
  [[nodiscard]] Result<void> begin(const Json& line);
  /// Continues the journal of the run that is in the folder. Its first `whole` octets are whole lines,
  /// as read while this object held the lock; a torn end after them is removed.
  [[nodiscard]] Result<void> go_on(std::uint64_t whole);
  /// Appends a line, and returns its place. One that does not fit on the disk is removed whole.
  [[nodiscard]] Result<LinePlace> append(const Json& line);
  /// Returns when all that was appended is on the disk.
  [[nodiscard]] Result<void> sync();
  /// Writes results.json, under another name first.
  [[nodiscard]] Result<void> write_document(const Json& document) const;
  /// The same with a list of which no more than one element is in memory: `next` is asked for them
  /// until it has none. The document has the list too, empty.
  [[nodiscard]] Result<void> write_document(
      const Json& document, const std::string& list,
      const std::function<Result<std::optional<Json>>()>& next) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path journal() const { return path_ / journal_name; }

 private:
  RunFolder(std::filesystem::path path, std::filesystem::path topmost);

  std::filesystem::path path_;
  /// The topmost folder that this object created, to be removed again while it is empty; or empty.
  std::filesystem::path created_;
  /// The folder itself, held with flock. Where a file system locks files alone, such as NFS, the
  /// journal is held.
  base::FileDescriptor lock_;
  base::LineFile journal_;
};

/// Whether a run of ours is in this folder.
[[nodiscard]] bool holds_a_run(const std::filesystem::path& folder);
/// Whether another run has this folder open at the moment.
[[nodiscard]] bool is_in_use(const std::filesystem::path& folder);

inline constexpr const char* no_journal_line = "this line is not what a run writes";

/// The text of a line of an open journal.
[[nodiscard]] Result<Json> read_line(std::istream& journal, const LinePlace& place);

/// Passes the lines of a journal to `take`, which returns what is wrong with one. Returns how many
/// octets are whole lines: a torn end, as a power failure leaves it, is not counted. A line that is
/// not taken is an error if one that is taken follows, or if none is taken.
[[nodiscard]] Result<std::uint64_t> read_lines(
    const std::filesystem::path& file,
    const std::function<std::optional<std::string>(const Json& line, const LinePlace& place)>&
        take);

/// The same for records, which `take` gets with their places or without. `Line` has an optional `run`,
/// `attempt` and `end`; each line has one of them, and the first line has a `run`. What a later
/// version adds to the format is ignored.
template <class Line, class Take>
[[nodiscard]] Result<std::uint64_t> read_records(const std::filesystem::path& file, Take take) {
  return read_lines(
      file,
      [&, begun = false](const Json& json,
                         const LinePlace& place) mutable -> std::optional<std::string> {
        Line line;
        if (const auto fault = base::record::from_json(json, line, {.refuse_unknown = false}))
          return fault->text;
        if (!line.run && (!begun || (!line.attempt && !line.end))) return no_journal_line;
        begun = true;
        if constexpr (std::is_invocable_v<Take&, Line&&, const LinePlace&>)
          return take(std::move(line), place);
        else
          return take(std::move(line));
      });
}

}  // namespace suite::results
