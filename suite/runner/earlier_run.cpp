// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/earlier_run.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "suite/runner/selection.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

namespace fs = std::filesystem;
using results::CaseRecord;
using results::Ending;
using results::Json;

std::unexpected<Refusal> refuse(ExitCode code, std::string why) {
  return std::unexpected(Refusal{code, std::move(why)});
}

// The options that decide verdicts: all except those that choose cases and those that concern only
// the tester.
Json deciding(const Json& options) {
  Json left = options;
  for (const char* name : {"select", "rules", "rfc", "sections", "rerun_failed", "long", "shard",
                           "jobs", "capture", "pics", "pixit"})
    left.erase(name);
  return left;
}

// The options of this run, with those that chose its cases.
Options choosing(const Options& options, const CaseRequest& asked) {
  Options chosen = options;
  chosen.select = asked.select;
  chosen.rules = asked.rules;
  chosen.rfc = asked.rfc;
  chosen.sections = asked.sections;
  chosen.long_run = asked.long_run;
  chosen.rerun_failed = asked.rerun_failed;
  chosen.shard = Shard::parse(asked.shard).value_or(Shard());
  return chosen;
}

bool is_of_everything(const Options& options) {
  return options.select.empty() && options.rules.empty() && !options.rfc;
}

bool counts(const CaseRecord& record) {
  return record.gate.result != results::GateResult::superseded;
}

bool is_good(const CaseRecord& record) {
  return record.outcome.verdict == results::Verdict::pass ||
         record.outcome.verdict == results::Verdict::not_applicable;
}

std::vector<std::string> not_passed(const std::vector<CaseRecord>& records) {
  std::vector<std::string> ids;
  for (const CaseRecord& record : records)
    if (counts(record) && !is_good(record)) ids.push_back(record.id);
  return ids;
}

// The first of the run's last sessions that all had the same request and did not finish it: the next
// session with that request continues them.
std::size_t first_of_unfinished(const results::RunRecord& run, const Json& asked) {
  std::size_t first = run.sessions.size();
  while (first > 0 && run.sessions[first - 1].ending != Ending::finished &&
         run.sessions[first - 1].asked == asked)
    --first;
  return first;
}

// What was judged in these sessions.
std::set<std::string> judged_since(const results::Journal& earlier, std::size_t first) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < earlier.sessions.size(); ++i) {
    const CaseRecord& record = earlier.document.cases[i];
    if (earlier.sessions[i] >= first && counts(record)) ids.insert(record.id);
  }
  return ids;
}

// The records as they stood before a session.
std::vector<CaseRecord> records_before(const results::Journal& earlier, std::size_t session) {
  std::vector<CaseRecord> records;
  for (std::size_t i = 0; i < earlier.sessions.size(); ++i)
    if (earlier.sessions[i] < session) records.push_back(earlier.document.cases[i]);
  // Which attempts count has to be determined again, since later ones are left out.
  for (CaseRecord& record : records)
    if (!counts(record)) record.gate.result = results::GateResult::as_expected;
  static_cast<void>(results::summarise(records));
  return records;
}

}  // namespace

constexpr auto table_of(const CaseRequest*) {
  using base::record::defaulted;
  using Request = CaseRequest;
  return base::record::table(
      "request", defaulted("select", &Request::select), defaulted("rules", &Request::rules),
      base::record::required("rfc", &Request::rfc), defaulted("sections", &Request::sections),
      defaulted("rerun_failed", &Request::rerun_failed), defaulted("long", &Request::long_run),
      defaulted("shard", &Request::shard));
}

std::expected<CaseRequest, std::string> read_request(const Json& options) {
  CaseRequest request;
  // The options of a run have others beside them.
  if (const auto fault = base::record::from_json(options, request, {.refuse_unknown = false}))
    return std::unexpected(fault->text);
  return request;
}

Json asked_by(const Options& options) {
  return base::record::to_json(CaseRequest{.select = options.select,
                                           .rules = options.rules,
                                           .rfc = options.rfc,
                                           .sections = options.sections,
                                           .rerun_failed = options.rerun_failed,
                                           .long_run = options.long_run,
                                           .shard = options.shard.text()});
}

std::optional<std::string> other_than(const results::RunRecord& run,
                                      const results::RunRecord& asked) {
  if (run.suite.version != asked.suite.version || run.suite.commit != asked.suite.commit ||
      run.catalogue != asked.catalogue)
    return "a run of another version of the suite";
  const Json before = deciding(run.options), now = deciding(asked.options);
  for (const auto& [name, value] : now.items()) {
    const auto found = before.find(name);
    if (found == before.end() || *found != value) return fmt::format("a run with another {}", name);
  }
  return std::nullopt;
}

std::optional<std::string> other_iut(const results::IutRecord& before,
                                     const results::IutRecord& now) {
  const auto differs = [](const char* what, const std::string& was, const std::string& is) {
    return fmt::format("a run of another IUT (its {} was '{}', and is '{}')", what, was, is);
  };
  if (before.identity.driver != now.identity.driver)
    return differs("driver", before.identity.driver, now.identity.driver);
  if (before.identity.driver_version != now.identity.driver_version)
    return differs("driver's version", before.identity.driver_version, now.identity.driver_version);
  if (before.identity.firmware != now.identity.firmware)
    return differs("firmware", before.identity.firmware, now.identity.firmware);
  if (before.identity.kernel != now.identity.kernel)
    return differs("kernel", before.identity.kernel, now.identity.kernel);
  if (before.identity.implementation != now.identity.implementation)
    return differs("implementation", before.identity.implementation, now.identity.implementation);
  return std::nullopt;
}

CaseList without_verdict(const CaseList& whole, const std::vector<CaseRecord>& records) {
  std::set<std::string_view> judged;
  for (const CaseRecord& record : records)
    if (counts(record)) judged.insert(record.id);
  CaseList left;
  std::ranges::copy_if(whole, std::back_inserter(left),
                       [&](const cases::Case* one) { return !judged.contains(one->id); });
  return left;
}

std::map<std::string, std::uint32_t> attempts_in(const std::vector<CaseRecord>& records) {
  std::map<std::string, std::uint32_t> most;
  for (const CaseRecord& record : records) {
    std::uint32_t& held = most[record.id];
    held = std::max(held, record.attempt);
  }
  return most;
}

Checked<std::optional<Continuation>> continue_run(const SuiteParts& parts,
                                                  const results::Journal& earlier,
                                                  const Options& options) {
  const results::RunRecord& run = earlier.document.run;
  if (run.sessions.empty()) return std::nullopt;  // of a version that records no sessions
  const Json asked = asked_by(options);
  const auto first_asked = read_request(run.sessions.front().asked);
  if (!first_asked) return std::nullopt;
  const auto whole = select(parts.table, choosing(options, *first_asked), {});
  if (!whole) return std::nullopt;
  Continuation next{.play = {}, .whole = *whole};
  const std::size_t first = first_of_unfinished(run, asked);
  const bool goes_on = first < run.sessions.size();
  const bool is_its_own = asked == run.sessions.front().asked;
  if (is_its_own) {
    next.play = without_verdict(next.whole, earlier.document.cases);
    if (goes_on || !next.play.empty()) return next;
    if (is_of_everything(options)) return std::nullopt;
  } else if (is_of_everything(options) && !options.rerun_failed) {
    return std::nullopt;
  }
  const std::size_t since = goes_on ? first : run.sessions.size();
  auto chosen = select(parts.table, options, not_passed(records_before(earlier, since)));
  if (!chosen) return refuse(ExitCode::usage, chosen.error());
  const auto is_of_the_run = [&](const cases::Case* one) {
    return std::ranges::find(next.whole, one) != next.whole.end();
  };
  if (!std::ranges::all_of(*chosen, is_of_the_run)) return std::nullopt;
  const auto judged = judged_since(earlier, since);
  std::ranges::copy_if(*chosen, std::back_inserter(next.play),
                       [&](const cases::Case* one) { return !judged.contains(one->id); });
  return next;
}

// ---------------------------------------------------------------- the folder

namespace {

// `out`, `out.2`, `out.3`, ...
fs::path numbered(const fs::path& path, std::size_t number) {
  return number == 1 ? path : fs::path(fmt::format("{}.{}", path.string(), number));
}

// The numbers of those that exist, the latest first; 1 is the folder itself.
std::vector<std::size_t> numbers_of(const fs::path& given) {
  const fs::path path = given.lexically_normal();
  std::vector<std::size_t> numbers;
  std::error_code error;
  if (fs::exists(path, error)) numbers.push_back(1);
  const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string stem = path.filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(beside, error)) {
    const std::string name = entry.path().filename().string();
    std::size_t number = 0;
    if (!name.starts_with(stem)) continue;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + stem.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number > 1) numbers.push_back(number);
  }
  std::ranges::sort(numbers, std::greater());
  return numbers;
}

class Search {
 public:
  Search(const SuiteParts& parts, const Options& options, const results::RunRecord& asked)
      : parts_(parts), options_(options), asked_(asked) {}

  /// The place in this folder where the run continues. Nothing if it cannot; `why_not()` says why.
  Checked<std::optional<Place>> try_folder(const fs::path& path);
  [[nodiscard]] const Refusal& why_not() const { return why_not_; }

 private:
  std::nullopt_t not_here(ExitCode code, std::string why) {
    why_not_ = {code, std::move(why)};
    return std::nullopt;
  }

  const SuiteParts& parts_;
  const Options& options_;
  const results::RunRecord& asked_;
  Refusal why_not_{ExitCode::usage, ""};
};

Checked<std::optional<Place>> Search::try_folder(const fs::path& path) {
  const std::string name = path.string();
  auto folder = results::Folder::open(path);
  if (!folder) return not_here(ExitCode::harness, folder.error());
  if (!results::holds_a_run(path))
    return not_here(ExitCode::usage, fmt::format("{} holds no results of a run", name));
  auto journal = results::read_journal(path / results::journal_name);
  if (!journal) return not_here(ExitCode::usage, journal.error());
  if (const auto other = other_than(journal->document.run, asked_))
    return not_here(ExitCode::usage, fmt::format("{} holds {}", name, *other));
  auto next = continue_run(parts_, *journal, options_);
  if (!next) return std::unexpected(next.error());
  if (!*next) {
    const auto& sessions = journal->document.run.sessions;
    const bool same = !sessions.empty() && sessions.front().asked == asked_by(options_);
    return not_here(ExitCode::usage,
                    fmt::format("{} holds a {}", name,
                                same ? "complete run of just this" : "run of other cases"));
  }
  return Place{.name = path,
               .folder = std::move(*folder),
               .earlier = std::move(*journal),
               .play = std::move((*next)->play),
               .whole = std::move((*next)->whole)};
}

struct Unused {
  fs::path name;
  results::Folder folder;
};

// An unused folder: the requested one, or else the next number.
Checked<Unused> unused_folder(const fs::path& path) {
  for (std::size_t number = 1;; ++number) {
    const fs::path candidate = numbered(path, number);
    std::error_code error;
    if (results::holds_a_run(candidate) || (number > 1 && fs::exists(candidate, error))) continue;
    auto folder = results::Folder::open(candidate);
    if (!folder && results::is_in_use(candidate)) continue;
    if (!folder) return refuse(ExitCode::harness, folder.error());
    return Unused{candidate, std::move(*folder)};
  }
}

}  // namespace

Checked<Place> find_place(const SuiteParts& parts, const Options& options,
                          const results::RunRecord& asked,
                          const std::function<void(const std::string&)>& tell) {
  Options without_failures = options;
  without_failures.rerun_failed = false;
  auto chosen = select(parts.table, without_failures, {});
  if (!chosen) return refuse(ExitCode::usage, chosen.error());

  Search search(parts, options, asked);
  std::string in_the_way;
  const auto numbers = options.fresh ? std::vector<std::size_t>() : numbers_of(options.out);
  for (const std::size_t number : numbers) {
    if (options.out_given && number != 1) continue;
    auto found = search.try_folder(numbered(options.out, number));
    if (!found) return std::unexpected(found.error());
    if (*found) return std::move(**found);
    in_the_way = search.why_not().why;
  }
  if (options.rerun_failed) {
    return refuse(ExitCode::usage,
                  fmt::format("--rerun-failed: {}; without it, all cases run",
                              in_the_way.empty() ? fmt::format("{} holds no results of a run",
                                                               options.out.string())
                                                 : in_the_way));
  }
  const bool taken =
      std::ranges::find(numbers, 1U) != numbers.end() &&
      (results::holds_a_run(options.out) || search.why_not().code == ExitCode::harness);
  if (taken && options.out_given) {
    const Refusal& why = search.why_not();
    return refuse(why.code, why.code == ExitCode::harness
                                ? why.why + "; give a different --out"
                                : why.why +
                                      ": give a different --out, or --fresh for a new "
                                      "folder beside it; no evidence is deleted");
  }
  auto unused = unused_folder(options.out);
  if (!unused) return std::unexpected(unused.error());
  if (unused->name != options.out) {
    if (in_the_way.empty()) in_the_way = options.out.string() + " is not touched";
    tell(fmt::format("{}: this run goes to {}", in_the_way, unused->name.string()));
  }
  return Place{.name = std::move(unused->name),
               .folder = std::move(unused->folder),
               .earlier = {},
               .play = *chosen,
               .whole = *chosen};
}

}  // namespace suite::runner
