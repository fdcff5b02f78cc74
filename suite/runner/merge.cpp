// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/merge.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "suite/results/document_file.hpp"
#include "suite/results/folder.hpp"
#include "suite/runner/earlier_run.hpp"
#include "suite/runner/report.hpp"
#include "suite/runner/run_expectations.hpp"
#include "suite/runner/run_gate.hpp"
#include "suite/runner/run_summary.hpp"

namespace suite::runner {

namespace fs = std::filesystem;
using jobs::ExitCode;
using results::CaseRecord;
using results::Json;
using results::RunRecord;

namespace {

struct Part {
  fs::path folder;
  results::Document document;
  Shard shard;
};

std::unexpected<Refusal> refuse(ExitCode code, std::string why) {
  return std::unexpected(Refusal{code, std::move(why)});
}

Checked<Part> read_part(const std::string& folder) {
  auto document = results::read_document(folder);
  if (!document) return refuse(ExitCode::usage, document.error());
  const auto request = read_request(document->run.options);
  const auto shard = Shard::parse(request ? request->shard : "");
  if (!shard || *shard == Shard())
    return refuse(ExitCode::usage, fmt::format("{} is not a shard: run each with --shard", folder));
  std::error_code error;
  const fs::path path = folder;
  // Of a file, its folder has the pcaps.
  return Part{fs::is_directory(path, error) ? path : path.parent_path(), std::move(*document),
              *shard};
}

// Which cases the whole run has, and how to reach an IUT: shards may have DUTs of their own.
RunRecord alike(RunRecord run) {
  for (const char* name : {"addresses", "tester_addresses", "agent", "reset_command", "kernel_log"})
    run.options.erase(name);
  return run;
}

Json asked_of_whole(const RunRecord& run) {
  Json asked = run.sessions.empty() ? Json::object() : run.sessions.front().asked;
  asked["shard"] = "";
  return asked;
}

// Why these are not the shards of one run.
std::optional<std::string> mismatch(const Part& first, const Part& other) {
  const auto of = [&](const std::string& what) {
    return fmt::format("{} and {} are not shards of one run: the second is {}",
                       first.folder.string(), other.folder.string(), what);
  };
  if (first.shard.count != other.shard.count)
    return of(fmt::format("one of {}, the first one of {}", other.shard.count, first.shard.count));
  const RunRecord &left = first.document.run, &right = other.document.run;
  if (const auto different = other_than(alike(left), alike(right))) return of(*different);
  if (const auto different = other_iut(left.iut, right.iut)) return of(*different);
  if (asked_of_whole(left) != asked_of_whole(right)) return of("a run of other cases");
  return std::nullopt;
}

Checked<std::vector<Part>> read_parts(const std::vector<std::string>& folders) {
  std::vector<Part> parts;
  for (const std::string& folder : folders) {
    auto part = read_part(folder);
    if (!part) return std::unexpected(part.error());
    parts.push_back(std::move(*part));
  }
  std::ranges::sort(parts, {}, [](const Part& part) { return part.shard.number; });
  std::set<unsigned> missing;
  for (unsigned number = 1; number <= parts.front().shard.count; ++number) missing.insert(number);
  for (const Part& part : parts) {
    if (const auto fault = mismatch(parts.front(), part)) return refuse(ExitCode::usage, *fault);
    if (missing.erase(part.shard.number) == 0)
      return refuse(ExitCode::usage, fmt::format("shard {} is given twice, the second time by {}",
                                                 part.shard.text(), part.folder.string()));
  }
  if (!missing.empty())
    return refuse(ExitCode::harness,
                  fmt::format("of {} shards, {} is missing: without it there is no verdict on the "
                              "whole",
                              parts.front().shard.count, fmt::join(missing, ", ")));
  return parts;
}

// Each shard has sentinels and controls of its own: those of the first one are those of the run.
std::string name_in_whole(const CaseRecord& record, const Shard& shard) {
  if (record.layer != "harness" || shard.number == 1) return record.id;
  const auto mark = fmt::format(".of_shard_{}", shard.number);
  for (const char* when : {".first", ".last"})
    if (record.id.ends_with(when))
      return record.id.substr(0, record.id.size() - std::string_view(when).size()) + mark + when;
  return record.id + mark;
}

// The command that runs a case again, in the merged run.
std::string rerun_in(const std::string& rerun, const fs::path& folder) {
  return fmt::format("{} --out {}", rerun.substr(0, rerun.find(" --out ")),
                     shell_text({folder.string()}));
}

RunRecord whole_run(const std::vector<Part>& parts, const std::vector<std::string>& command,
                    const Allowances& allowances) {
  RunRecord run = parts.front().document.run;
  std::vector<std::string> unfinished;
  std::set<std::string> hosts;
  run.selected = 0;
  run.capture = {};
  run.capture.mode = parts.front().document.run.capture.mode;
  run.capture.closing_seen = true;
  run.timings.clear();
  for (const Part& part : parts) {
    const RunRecord& one = part.document.run;
    hosts.insert(one.host);
    run.selected += one.selected;
    run.start = std::min(run.start, one.start);
    if (one.end) run.end = std::max(run.end.value_or(*one.end), *one.end);
    run.capture.received += one.capture.received;
    run.capture.dropped += one.capture.dropped;
    run.capture.interface_dropped += one.capture.interface_dropped;
    run.capture.closing_seen = run.capture.closing_seen && one.capture.closing_seen;
    for (const auto& [name, seconds] : one.timings)
      run.timings[name] = std::max(run.timings[name], seconds);
    if (!one.complete)
      unfinished.push_back(fmt::format("shard {}: {}", part.shard.text(), one.ending_reason));
    if (!one.complete && run.complete) run.ending = one.ending;
    run.complete = run.complete && one.complete;
  }
  run.ending_reason = fmt::format("{}", fmt::join(unfinished, "; "));
  run.host = fmt::format("{}", fmt::join(hosts, ", "));
  run.lab.note = fmt::format("{} shards", parts.size());
  run.command = command;
  run.options["shard"] = "";
  run.options["baseline"] = allowances.baseline_place;
  run.sessions = {{.start = run.start,
                   .end = run.end,
                   .command = command,
                   .asked = asked_of_whole(parts.front().document.run),
                   .ending = run.ending,
                   .ending_reason = run.ending_reason}};
  return run;
}

std::optional<std::string> bring_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directory(to.parent_path(), error);
  if (!error) fs::copy_file(from, to, error);
  if (!error) return std::nullopt;
  return fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), error.message());
}

// A pcap keeps its octets; the name of one that belongs to a sentinel changes with the sentinel's.
std::optional<std::string> bring_pcap(const Part& part, const fs::path& out, CaseRecord& record) {
  if (!record.pcap) return std::nullopt;
  const fs::path from = part.folder / record.pcap->file;
  record.pcap->file = results::Folder::pcap_name(record.id, record.attempt);
  return bring_file(from, out / record.pcap->file);
}

// What is left of a session that found something keeps its name: sentinels have none.
std::optional<std::string> bring_session(const Part& part, const fs::path& out,
                                         const CaseRecord& record) {
  const std::string name = results::Folder::session_name(record.id, record.attempt);
  std::error_code error;
  return fs::exists(part.folder / name, error) ? bring_file(part.folder / name, out / name)
                                               : std::nullopt;
}

Checked<results::Document> write_whole(std::vector<Part> parts, const Options& options,
                                       const RunRecord& run, const RunGate& gate) {
  if (results::holds_a_run(options.out))
    return refuse(ExitCode::usage, fmt::format("--out: {} holds a run already; give another folder",
                                               options.out.string()));
  auto folder = results::Folder::open(options.out);
  if (!folder) return refuse(ExitCode::harness, folder.error());
  results::Document document;
  document.run = run;
  if (const auto begun = folder->begin(run); !begun)
    return refuse(ExitCode::harness, begun.error());
  for (Part& part : parts) {
    for (CaseRecord& record : part.document.cases) {
      record.id = name_in_whole(record, part.shard);
      record.rerun = rerun_in(record.rerun, options.out);
      if (const auto fault = bring_pcap(part, options.out, record))
        return refuse(ExitCode::harness, *fault);
      if (const auto fault = bring_session(part, options.out, record))
        return refuse(ExitCode::harness, *fault);
      if (const auto added = folder->add(record); !added)
        return refuse(ExitCode::harness, added.error());
      document.cases.push_back(std::move(record));
    }
  }
  document.summary = results::summarise(document.cases);
  gate.judge_findings(document);
  document.run.exit_code = static_cast<int>(exit_code(findings_of(document)));
  if (const auto ended = folder->end(document); !ended)
    return refuse(ExitCode::harness, ended.error());
  return document;
}

// The file that the shards were compared with, also where it has another place on this machine.
fs::path expectations_of(const RunRecord& run, const Options& options) {
  std::error_code error;
  const fs::path recorded = run.expectations_file;
  if (!options.expectations.empty()) return options.expectations;
  if (recorded.empty() || fs::exists(recorded, error)) return recorded;
  return base::shipped_file("suite/expectations") / recorded.filename();
}

Checked<results::Document> merge(const SuiteParts& suite, const Options& options,
                                 const std::vector<std::string>& command) {
  auto parts = read_parts(options.runs);
  if (!parts) return std::unexpected(parts.error());
  const RunRecord& first = parts->front().document.run;
  auto known = load_expectations(suite, expectations_of(first, options));
  if (!known) return std::unexpected(known.error());
  // Findings are judged anew, by what the shards were judged by unless something else is named.
  Options judgement = options;
  if (judgement.baseline.empty()) judgement.baseline = first.options.value("baseline", "");
  if (judgement.edition.empty()) judgement.edition = first.options.value("edition", "");
  const auto allowances = load_allowances(judgement);
  if (!allowances) return std::unexpected(allowances.error());
  const RunRecord run = whole_run(*parts, command, *allowances);
  const RunGate gate(std::move(*known), *allowances, run.iut);
  return write_whole(std::move(*parts), options, run, gate);
}

}  // namespace

ExitCode merge_shards(const SuiteParts& parts, const Options& options,
                      const std::vector<std::string>& command) {
  const auto document = merge(parts, options, command);
  if (!document) {
    base::say(stderr, "rnic-suite: {}\n", document.error().why);
    return document.error().code;
  }
  base::say(stdout, "{}", outcome_text(*document, options.out.string()));
  if (const auto rendered = render_reports(options); !rendered) {
    base::say(stderr, "rnic-suite: {}\n", rendered.error());
    return ExitCode::harness;
  }
  base::say(stdout, "report: {}\n", (options.out / "report.html").string());
  return static_cast<ExitCode>(*document->run.exit_code);
}

}  // namespace suite::runner
