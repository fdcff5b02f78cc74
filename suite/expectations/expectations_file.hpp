// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The file of known issues of an IUT: what was observed in place of a pass, and why it breaks the
// rule.
//
//   entries:
//     - case: ddp.tagged_validation.write_beyond_bounds    # exact id, with its @variant
//       verdict: fail                                      # fail or inconclusive
//       rule: ddp.tagged.base-or-bounds                    # the rule that is broken
//       observed: "closed without a Terminate*"            # shell pattern or a list of them, see
//                                                          # Entry
//       also: [rdmap.terminate.header-format]              # optional: rules broken along with it
//       intermittent: true                                 # optional: it may pass as well
//       tries: 6                                           # optional: so many attempts until it
//                                                          # fails; it may pass in all of them
//       hangs: true                                        # optional: a call of the API does not
//                                                          # return, or may not; the wait for it
//                                                          # is then shorter
//       iut: siw-vm                                        # kind of IUT, or shell pattern for its
//                                                          # implementation
//       versions: kernel >= 6.1, kernel < 6.13             # or any
//       reason: sentence for the reader of the report, with RFC section, bytes seen and demanded
//       harm: kernel                                       # optional, in place of `reason`: it
//                                                          # stops the kernel; see below
//       date: 2026-01-31                                   # when it was last confirmed
//       link: https://...                                  # optional: the public report
//   kernel_messages:                                       # optional: of the IUT's kernel, in any
//                                                          # case
//     - observed: "*WARNING*some_function*"                # shell pattern for the log's excerpt
//       iut, versions, harm, reason, date, link            # as above
//   random_crashes:                                        # optional: crashes in any case
//     - observed: "*was ended by SIGSEGV in *"             # shell pattern or a list of them
//       iut, versions, harm, reason, date, link            # as above
//   findings:                                              # optional: what the judge finds in cases
//                                                          # that are about something else
//     - rule: rdmap.terminate.reserved-zero                # the rule that is broken ...
//       observed: "Terminate*"                             # ... and how, shell pattern or a list
//       case: rdmap.terminate.bad_opcode                   # a case that shows it
//       intermittent: true                                 # optional: it may not show in a run
//       iut, versions, harm, reason, date, link            # as above
//   isolated:                                              # optional
//     - case: mpa.startup_responder.half_a_request         # exact id
//       iut, versions, harm, reason, date, link            # as above
//   includes:                                              # optional: files of another IUT that
//     - file: siw-vm.yaml                                  # has the same faults, in this folder
//       iut: kverbs-siw-vm                                 # the IUT that they hold for here
//       except: [mpa.startup_responder.half_a_request]     # optional: cases whose entries there
//                                                          # do not hold here
//   private: true                                          # optional: not to be published
//
// An issue that stops a `kernel`, ends or blocks a `process`, keeps a `listener` from serving
// others, or is a `disclosure` of memory has a `harm`, from which the loader makes the reason:
// without a `link` to a public report, only private files describe the mechanism
// (docs/SECURITY.md). Kernel messages, random crashes, and entries whose outcome is a crash must
// have one.
//
// An isolated case runs alone, after all others or on a copy of the IUT of its own: the IUT's host
// may crash, or serve no other case in the meantime. The order of cases is determined before the
// IUT has sent its hello, so this holds for every version; `iut` and `versions` say where the harm
// was seen. A case without an entry in which a listed kernel message appears runs again, alone, and
// fails for the message only if it appears each time; otherwise the verdict of the repetition
// counts. The same holds for a case that a listed random crash ends, if no entry of its own covers
// it; a crash in every attempt is a new failure. A finding is one item of the run: it
// is known if every wording of it is listed, and an entry is stale if its case was judged and the run
// holds nothing that the entry describes.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "suite/expectations/version_range.hpp"
#include "suite/results/record.hpp"

namespace suite::expectations {

struct Entry {
  std::string place;  ///< file:line
  std::string case_id;
  results::Verdict verdict = results::Verdict::fail;
  /// Patterns, of which one fits the `actual` of an expectation
  /// of `rule` that was not met, or the case's reason.
  std::vector<std::string> observed;
  std::string rule;
  std::vector<std::string> also;  ///< further rules that may fail in the same case
  bool intermittent = false;
  /// The number of attempts in which a race may show, so that each run finds what another found.
  std::uint32_t tries = 1;
  bool hangs = false;
  std::string iut;
  std::string versions_text;
  VersionRange versions;
  std::string reason, date, link;
};

/// A message that the IUT's kernel is known to write, or a crash that is known to end any case, now
/// and then.
struct KnownIncident {
  std::string place;  ///< file:line
  std::vector<std::string> observed;
  std::string iut;
  VersionRange versions;
  std::string reason, date, link;
};

/// A rule that is broken in cases that are about something else (results::FindingRecord).
struct KnownFinding {
  std::string place;  ///< file:line
  std::string rule;
  std::vector<std::string> observed;
  std::string case_id;  ///< a case that shows it
  bool intermittent = false;
  std::string iut;
  VersionRange versions;
  std::string reason, date, link;
};

/// A case that harms those that run at the same time.
struct Isolation {
  std::string case_id, iut;
  VersionRange versions;
  std::string reason, date, link;
};

struct KnownIssues {
  std::vector<Entry> entries;
  std::vector<KnownIncident> kernel_messages, random_crashes;
  std::vector<KnownFinding> findings;
  std::vector<Isolation> isolated;
  bool is_private = false;  ///< may have details that are not public yet
  /// Notices for the author of the file: one line each, beginning with file:line.
  std::vector<std::string> notices;
};

/// What the loader needs from the rest of the suite to find entries that can never apply.
struct Known {
  std::function<bool(const std::string& case_id)> is_case;
  std::function<bool(const std::string& rule_id)> is_rule;
  /// The present id of a case that may have been renamed; without this function ids are not
  /// translated.
  std::function<std::string(const std::string& case_id)> current_id{};
};

/// One line for people, beginning with file:line.
using Fault = std::string;

/// The contents of a file, or every fault in it.
[[nodiscard]] std::expected<KnownIssues, std::vector<Fault>> load(const std::filesystem::path& file,
                                                                  const Known& known);

}  // namespace suite::expectations
