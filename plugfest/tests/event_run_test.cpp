// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A run of synthetic cells: killed and taken up again, hung, dead and talkative cells.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "base/epoll_loop.hpp"
#include "base/record/json_writer.hpp"
#include "plugfest/event_run.hpp"
#include "plugfest/record_json.hpp"
#include "plugfest/record_tables.hpp"
#include "plugfest/tests/synthetic_cells.hpp"

using namespace plugfest;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "plugfest_test.XXXXXX").string();
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Scratch() { fs::remove_all(path); }
  fs::path path;
};

void wait_for(std::chrono::microseconds time) {
  base::EpollLoop loop;
  loop.run_until(loop.now() + time, [] { return false; });
}

constexpr std::size_t hosts = 6;

std::vector<Cell> synthetic_cells(int repeats) {
  std::vector<Cell> cells;
  for (std::size_t one = 0; one < hosts; ++one)
    for (std::size_t other = 0; other < hosts; ++other)
      for (int repeat = 1; one != other && repeat <= repeats; ++repeat)
        cells.push_back({.id = std::to_string(one) + "/" + std::to_string(other) + "/x#" +
                               std::to_string(repeat),
                         .initiator = one,
                         .responder = other,
                         .initiator_name = std::to_string(one),
                         .responder_name = std::to_string(other),
                         .scenario = "x",
                         .repeat = repeat,
                         .length = 1});
  return cells;
}

EventRecord event_of(const std::string& digest) {
  EventRecord made;
  made.name = "synthetic";
  made.digest = digest;
  return made;
}

const EventRecord event = event_of("d1");

CellRecord record_of(const std::string& id, Verdict verdict, const std::string& reason = "") {
  CellRecord made;
  made.id = id;
  made.outcome.verdict = verdict;
  made.outcome.reason = reason;
  return made;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

RunOptions options_for(std::size_t slots, const char* behaviour, const fs::path& folder = {}) {
  RunOptions options;
  options.slots = slots;
  options.capacity = std::vector<int>(hosts, 1);
  options.time_limit = [](const Cell&) { return std::chrono::seconds(5); };
  options.task = [behaviour, folder](const Cell& cell, std::size_t, int attempt) -> Task {
    return synthetic_task(behaviour, cell, attempt, folder.string());
  };
  return options;
}

std::expected<RunEnd, std::string> end_of_run(const std::vector<Cell>& cells, Journal& journal,
                                              const RunOptions& options) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"),
                                                                std::fclose);
  suite::jobs::Progress progress(nowhere.get());
  return plugfest::run_cells(cells, journal, options, progress);
}

/// Whether all cells have a result.
std::expected<bool, std::string> run_cells(const std::vector<Cell>& cells, Journal& journal,
                                           const RunOptions& options) {
  const auto end = end_of_run(cells, journal, options);
  if (!end) return std::unexpected(end.error());
  return *end == RunEnd::complete;
}

/// One run from what the journal holds to the end.
bool play_on(const fs::path& folder, const std::vector<Cell>& cells) {
  auto journal = Journal::open(folder, event);
  if (!journal) return false;
  const auto done = run_cells(cells, *journal, options_for(3, "timed", folder));
  return done && *done;
}

Verdict verdict_in(const Journal& journal, const std::string& cell) {
  return journal.latest(cell).verdict;
}

/// The verdict of each cell that has one.
std::map<std::string, std::string> matrix(const fs::path& folder) {
  std::map<std::string, std::string> verdicts;
  for (const std::string& line : lines_of(folder / "results.ndjson")) {
    const json value = json::parse(line, nullptr, false);
    if (value.is_object() && value.contains("case"))
      verdicts[value["case"]["id"].get<std::string>()] =
          value["case"]["verdict"].get<std::string>();
  }
  return verdicts;
}

std::set<std::string> finished(const fs::path& folder) {
  std::set<std::string> ids;
  for (const auto& [id, verdict] : matrix(folder)) ids.insert(id);
  return ids;
}

/// Of the moments at which runs are killed; PLUGFEST_SEED chooses another than the usual.
unsigned seed() {
  const char* given = std::getenv("PLUGFEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20'261'121;
}

/// Starts a run in a process and kills it after so long; whether it had not ended before.
bool start_and_kill(const fs::path& folder, const std::vector<Cell>& cells,
                    std::chrono::microseconds after) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(play_on(folder, cells) ? 0 : 1);
  wait_for(after);
  ::kill(pid, SIGKILL);
  int status = 0;
  BOOST_REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFSIGNALED(status);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(event_run)

BOOST_AUTO_TEST_CASE(killed_twenty_times_no_finished_cell_is_lost_or_run_twice) {
  const Scratch scratch;
  constexpr int some_repeats = 50;
  int repeats = some_repeats;
  auto cells = synthetic_cells(repeats);
  BOOST_TEST_MESSAGE("seed " << seed());
  std::mt19937 numbers(seed());
  for (int kills = 0; kills < 20;) {
    const auto before = finished(scratch.path);
    const std::size_t started = lines_of(scratch.path / "starts").size();
    const std::chrono::microseconds moment(2000 + numbers() % 90'000);
    if (start_and_kill(scratch.path, cells, moment)) {
      ++kills;
    } else {  // it was at its end before, so there must be more to do
      cells = synthetic_cells(repeats += some_repeats);
    }
    const auto starts = lines_of(scratch.path / "starts");
    for (std::size_t at = started; at < starts.size(); ++at)
      BOOST_TEST(!before.contains(starts[at]), "run again: " + starts[at]);
    const auto after = finished(scratch.path);
    for (const std::string& id : before) BOOST_TEST(after.contains(id), "lost: " + id);
  }
  BOOST_TEST(play_on(scratch.path, cells));
  const auto all = lines_of(scratch.path / "results.ndjson");
  BOOST_TEST(all.size() == cells.size() + 1);  // each once, and the event
  BOOST_TEST(finished(scratch.path).size() == cells.size());
  for (const std::string& line : all) BOOST_TEST(json::accept(line));
  const Scratch undisturbed;
  BOOST_TEST(play_on(undisturbed.path, cells));
  BOOST_TEST((matrix(scratch.path) == matrix(undisturbed.path)));
  BOOST_TEST(std::ranges::count(matrix(scratch.path), "fail",
                                [](const auto& cell) { return cell.second; }) > 0);
}

BOOST_AUTO_TEST_CASE(what_a_process_knows_better_goes_into_the_record) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  const auto cells = synthetic_cells(1);
  auto options = options_for(2, "pass");
  options.complete = [&](const Cell& cell, Outcome& outcome) {
    if (cell.initiator == 2) outcome.verdict = Verdict::fail;
  };
  BOOST_TEST(run_cells(cells, journal, options).value());
  for (const Cell& cell : cells)
    BOOST_TEST(
        (verdict_in(journal, cell.id) == (cell.initiator == 2 ? Verdict::fail : Verdict::pass)));
}

/// A cell that ended in time is not late because the parent of its worker was busy.
BOOST_AUTO_TEST_CASE(a_run_that_was_busy_blames_no_cell) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  const auto cells = synthetic_cells(1);
  auto options = options_for(2, "pass");
  options.time_limit = [](const Cell&) { return std::chrono::milliseconds(1500); };
  int busy = 0;
  options.complete = [&](const Cell&, Outcome&) {
    if (++busy == 4) wait_for(std::chrono::milliseconds(2500));
  };
  BOOST_TEST(run_cells(cells, journal, options).value());
  for (const Cell& cell : cells) BOOST_TEST((verdict_in(journal, cell.id) == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(others_play_while_a_host_is_away) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  auto cells = synthetic_cells(1);
  std::erase_if(cells, [](const Cell& cell) { return cell.initiator == 5 || cell.responder == 5; });
  std::vector<std::string> ended;
  int questions = 0;
  auto options = options_for(2, "pass");
  // Host 0 is there only when nothing else is left to play, and after some more time.
  constexpr std::size_t without_host_0 = 4 * 3;
  constexpr int patient = 3;
  options.away = [&](std::size_t host) {
    BOOST_TEST(host != 5);  // no cell needs it
    return host == 0 && (ended.size() < without_host_0 || ++questions < patient);
  };
  options.complete = [&](const Cell& cell, Outcome&) { ended.push_back(cell.id); };
  BOOST_TEST(run_cells(cells, journal, options).value());
  BOOST_TEST(ended.size() == cells.size());
  for (std::size_t at = 0; at < without_host_0; ++at)
    BOOST_TEST(ended.at(at).find('0') == std::string::npos);
  BOOST_TEST(questions >= patient);
}

BOOST_AUTO_TEST_CASE(a_long_scenario_has_its_time) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  const auto cells = synthetic_cells(1);
  auto options = options_for(3, "host 0 is slow");
  options.time_limit = [](const Cell& cell) {
    return std::chrono::milliseconds(cell.responder == 1 ? 60'000 : 200);
  };
  BOOST_TEST(run_cells(cells, journal, options).value());
  BOOST_TEST((verdict_in(journal, "0/1/x#1") == Verdict::pass));
  BOOST_TEST((verdict_in(journal, "0/2/x#1") == Verdict::error));
}

BOOST_AUTO_TEST_CASE(a_torn_line_is_cut_off) {
  const Scratch scratch;
  {
    auto journal = Journal::open(scratch.path, event).value();
    BOOST_REQUIRE(journal.add(record_of("a/b/x#1", Verdict::pass)));
  }
  std::ofstream(scratch.path / "results.ndjson", std::ios::app)
      << R"({"case":{"id":"a/b/y#1","ver)";
  auto journal = Journal::open(scratch.path, event).value();
  BOOST_TEST(journal.has("a/b/x#1"));
  BOOST_TEST(!journal.has("a/b/y#1"));
  BOOST_REQUIRE(journal.add(record_of("a/b/z#1", Verdict::pass)));
  for (const std::string& line : lines_of(scratch.path / "results.ndjson"))
    BOOST_TEST(json::accept(line));
}

BOOST_AUTO_TEST_CASE(results_of_another_event_are_left_alone) {
  const Scratch scratch;
  BOOST_REQUIRE(Journal::open(scratch.path, event));
  EventRecord another = event;
  another.name = "another";
  const auto other = Journal::open(scratch.path, another);
  BOOST_REQUIRE(!other);
  BOOST_TEST(other.error().find("another event") != std::string::npos);
  std::ofstream(scratch.path / "results.ndjson") << "rubbish\n";
  BOOST_TEST(!Journal::open(scratch.path, event));
}

namespace {

EventRecord event_with(const std::map<std::string, std::string>& digests,
                       const std::string& vendor = "") {
  EventRecord made = event_of(vendor);
  for (const auto& [name, digest] : digests) {
    ParticipantRecord& one = made.participants.emplace_back();
    one.name = name;
    one.agent = "reference";
    one.vendor = vendor;
    one.digest = digest;
    made.digest += digest;
  }
  return made;
}

CellRecord played(const std::string& initiator, const std::string& responder, int attempt = 1) {
  CellRecord made = record_of(initiator + "/" + responder + "/x#1", Verdict::pass);
  made.initiator = initiator;
  made.responder = responder;
  made.attempt = attempt;
  return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_late_participant_and_a_renamed_vendor_keep_the_results) {
  const Scratch scratch;
  {
    auto journal = Journal::open(scratch.path, event_with({{"a", "1"}, {"b", "2"}})).value();
    BOOST_REQUIRE(journal.add(played("a", "b")));
  }
  auto opened =
      Journal::open(scratch.path, event_with({{"a", "1"}, {"b", "2"}, {"c", "3"}}, "new"));
  if (!opened) BOOST_FAIL(opened.error());
  const Journal& later = *opened;
  BOOST_TEST(later.has("a/b/x#1"));
  BOOST_TEST(!later.has("a/c/x#1"));
}

BOOST_AUTO_TEST_CASE(what_was_played_with_another_device_is_kept_and_does_not_count) {
  const Scratch scratch;
  const EventRecord before = event_with({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  {
    auto journal = Journal::open(scratch.path, before).value();
    BOOST_REQUIRE(journal.add(played("a", "b")));
    BOOST_REQUIRE(journal.add(played("a", "c")));
  }
  const EventRecord after = event_with({{"a", "1"}, {"b", "other"}, {"c", "3"}});
  {
    auto journal = Journal::open(scratch.path, after).value();
    BOOST_TEST(!journal.has("a/b/x#1"));
    BOOST_TEST(journal.attempts("a/b/x#1") == 1);
    BOOST_TEST(journal.has("a/c/x#1"));
    BOOST_TEST(journal.attempts().size() == 2u);
    BOOST_REQUIRE(journal.add(played("a", "b", 2)));
  }
  BOOST_TEST(Journal::open(scratch.path, after).value().has("a/b/x#1"));
  auto back = Journal::open(scratch.path, before).value();
  BOOST_TEST(!back.has("a/b/x#1"));
  BOOST_TEST(back.attempts("a/b/x#1") == 2);
}

/// The document, as JSON, of what a journal has.
json document_of(Journal& journal, const fs::path& folder) {
  BOOST_REQUIRE(write_document({}, {}, journal, true));
  std::ifstream file(folder / "results.json");
  return json::parse(file);
}

BOOST_AUTO_TEST_CASE(the_document_has_each_attempt_as_the_journal_has_it) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  BOOST_TEST(document_of(journal, scratch.path)["cells"].empty());
  CellRecord failed = record_of("0/1/x#1", Verdict::fail, "first");
  failed.outcome.steps = {{0.5, Side::initiator, "a \"step\""}};
  BOOST_REQUIRE(journal.add(failed));
  BOOST_REQUIRE(journal.add(record_of("1/0/x#1", Verdict::pass)));
  failed.attempt = 2;
  failed.outcome.reason = "second";
  BOOST_REQUIRE(journal.add(failed));
  const json made = document_of(journal, scratch.path);
  BOOST_TEST(made["plugfest"] == format_version);
  BOOST_REQUIRE(made["cells"].size() == 3U);
  BOOST_TEST(made["cells"][0]["reason"] == "first");
  BOOST_TEST(made["cells"][0]["gate"]["result"] == "superseded");
  BOOST_TEST(made["cells"][0]["steps"][0]["text"] == "a \"step\"");
  BOOST_TEST(made["cells"][1]["id"] == "1/0/x#1");
  BOOST_TEST(made["cells"][2]["gate"]["result"] == "new_failure");
}

BOOST_AUTO_TEST_CASE(
    a_journal_of_an_earlier_version_is_condensed_in_the_document_and_is_left_as_it_is) {
  const Scratch scratch;
  {
    BOOST_REQUIRE(Journal::open(scratch.path, event));
  }
  CellRecord record = record_of("0/1/x#1", Verdict::pass);
  record.outcome.checks = std::vector<Check>(1000, {Side::initiator, "up", "yes", "yes", true});
  record.outcome.steps = std::vector<Step>(1000, {0.5, Side::initiator, "step"});
  const std::string line =
      base::record::one_line(base::record::to_json(JournalLine{.attempt = record}));
  std::ofstream(scratch.path / "results.ndjson", std::ios::app) << line << '\n';
  auto journal = Journal::open(scratch.path, event).value();
  const json cell = document_of(journal, scratch.path)["cells"].at(0);
  BOOST_TEST(cell["checks"].size() == 1U);
  BOOST_TEST(cell["checks"][0]["times"] == 1000);
  BOOST_TEST(cell["steps"].size() == 41U);
  BOOST_TEST(lines_of(scratch.path / "results.ndjson").at(1) == line);
}

BOOST_AUTO_TEST_CASE(who_has_answered_since_then) {
  const Scratch scratch;
  const auto at = [](CellRecord record, const std::string& start) {
    record.outcome.start = start;
    record.outcome.hosts = {{Side::responder, {}}};
    return record;
  };
  {
    auto journal = Journal::open(scratch.path, event).value();
    BOOST_REQUIRE(journal.add(at(played("a", "b"), "2026-01-01T10:00:00Z")));
    BOOST_REQUIRE(journal.add(at(played("b", "c"), "2026-01-01T11:00:00Z")));
    BOOST_REQUIRE(journal.add(at(played("a", "c", 2), "2026-01-01T09:00:00Z")));
  }
  const auto journal = Journal::open(scratch.path, event).value();
  BOOST_TEST(journal.met_since("2026-01-01T10:30:00Z") == std::set<std::string>{"c"});
  BOOST_TEST(journal.met_since("2026-01-01T12:00:00Z").empty());
}

BOOST_AUTO_TEST_CASE(results_of_an_earlier_version_are_left_alone) {
  const Scratch scratch;
  std::ofstream(scratch.path / "cells.ndjson") << R"({"event":{"name":"x","digest":"d1"}})" << '\n';
  const auto journal = Journal::open(scratch.path, event);
  BOOST_REQUIRE(!journal);
  BOOST_TEST(journal.error().find("earlier version") != std::string::npos);
  BOOST_TEST(journal.error().find("give another --out") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_expectation_may_say_what_is_seen_and_that_it_is_not_always_so) {
  const auto tally_of = [](const std::string& reason, bool intermittent) {
    const Scratch scratch;
    auto journal = Journal::open(scratch.path, event).value();
    BOOST_REQUIRE(journal.add(record_of("0/1/x#1", Verdict::fail, reason)));
    BOOST_REQUIRE(journal.add(record_of("1/0/x#1", Verdict::pass)));
    Event expecting;
    for (const char* name : {"0", "1"}) expecting.participants.emplace_back().name = name;
    expecting.scenarios = {"x"};
    expecting.expectations = {
        {.cells = "0/1/*", .verdict = Verdict::fail, .reason = "r", .observed = {"*pad 0? 00*"}},
        {.cells = "1/0/*", .verdict = Verdict::fail, .reason = "r", .intermittent = intermittent}};
    auto cells = cells_of(expecting, [](std::string_view) { return 1.0; });
    const Tally whole = tally(expecting, cells, journal);
    // What was not selected, and has no verdict, may be what an expectation speaks of.
    expecting.scenarios.emplace_back("y");
    BOOST_TEST(tally(expecting, cells, journal).stale.empty());
    return whole;
  };
  const Tally seen = tally_of("sent pad 07 00; zero", true);
  BOOST_TEST(seen.new_failures.empty());
  BOOST_TEST(seen.stale.empty());
  const Tally other = tally_of("sent nothing", false);
  BOOST_TEST(other.new_failures.size() == 1);
  BOOST_TEST(other.stale.size() == 2);
}

BOOST_AUTO_TEST_CASE(a_folder_serves_one_run_at_a_time) {
  const Scratch scratch;
  const auto first = Journal::open(scratch.path, event);
  const auto second = Journal::open(scratch.path, event);
  BOOST_REQUIRE(!second);
  BOOST_TEST(second.error().find("another run") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_in_a_cell_costs_this_cell) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  const auto cells = synthetic_cells(1);
  auto options = options_for(3, "things go wrong");
  // Too little for the cell that hangs alone, however busy the machine is.
  options.time_limit = [](const Cell& cell) {
    return std::chrono::milliseconds(cell.id == "0/1/x#1" ? 300 : 60'000);
  };
  BOOST_TEST(run_cells(cells, journal, options).value());
  const auto said = [&](const std::string& id, const std::string& word) {
    BOOST_TEST((verdict_in(journal, id) == Verdict::error));
    const std::string reason = journal.latest(id).reason;
    BOOST_TEST(reason.find(word) != std::string::npos, reason);
  };
  said("0/1/x#1", "hung");
  said("1/2/x#1", "signal 11");
  said("2/3/x#1", "no such thing");
  said("3/4/x#1", "ended without a result");
  said("5/0/x#1", "nothing that can be read");
  BOOST_TEST((verdict_in(journal, "4/5/x#1") == Verdict::pass));
  BOOST_TEST(journal.attempts().size() == cells.size());
}

/// A busy run reads a worker's wrong line and its "ready" at the same time.
BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_understood_is_given_no_other_cell) {
  const Scratch scratch;
  auto journal = Journal::open(scratch.path, event).value();
  const auto cells = synthetic_cells(1);
  auto options = options_for(2, "rubbish of initiator 5");
  options.complete = [](const Cell&, Outcome&) { wait_for(std::chrono::milliseconds(50)); };
  BOOST_TEST(run_cells(cells, journal, options).value());
  for (const Cell& cell : cells)
    BOOST_TEST(
        (verdict_in(journal, cell.id) == (cell.initiator == 5 ? Verdict::error : Verdict::pass)));
}

BOOST_AUTO_TEST_CASE(a_row_is_played_again_when_asked) {
  const Scratch scratch;
  const auto cells = synthetic_cells(1);
  auto journal = Journal::open(scratch.path, event).value();
  auto options = options_for(2, "says its attempt");
  BOOST_TEST(run_cells(cells, journal, options).value());
  options.rerun = [](const Cell& cell) { return fits("3/*", cell.id); };
  BOOST_TEST(still_to_play(cells, journal, options).size() == hosts - 1);
  BOOST_TEST(run_cells(cells, journal, options).value());
  for (const Cell& cell : cells)
    BOOST_TEST(journal.attempts(cell.id) == (cell.initiator == 3 ? 2 : 1));
  BOOST_TEST(journal.latest("3/1/x#1").reason == "attempt 2");
}

BOOST_AUTO_TEST_CASE(a_race_is_repeated_when_all_others_have_been_started) {
  const Scratch scratch;
  const auto cells = synthetic_cells(1);
  auto journal = Journal::open(scratch.path, event).value();
  auto options = options_for(2, "pass");
  options.repeat = [&](const Cell& cell) {
    return cell.id == "0/1/x#1" && journal.attempts(cell.id) < 3;
  };
  BOOST_TEST(run_cells(cells, journal, options).value());
  BOOST_TEST(journal.attempts("0/1/x#1") == 3);
  BOOST_TEST(journal.attempts().size() == cells.size() + 2);
  const auto second = std::ranges::find_if(journal.attempts(), [](const CellOutline& one) {
    return one.id == "0/1/x#1" && one.attempt == 2;
  });
  // One other may still have run then.
  BOOST_TEST(static_cast<std::size_t>(second - journal.attempts().begin()) >= cells.size() - 1);
}

BOOST_AUTO_TEST_CASE(an_interruption_leaves_the_rest_for_later) {
  const Scratch scratch;
  const auto cells = synthetic_cells(1);
  {
    auto journal = Journal::open(scratch.path, event).value();
    auto options = options_for(2, "pass");
    options.complete = [&](const Cell&, Outcome&) {
      if (journal.attempts().size() == 5) ::raise(SIGTERM);
    };
    BOOST_TEST(!run_cells(cells, journal, options).value());
  }
  BOOST_TEST(finished(scratch.path).size() >= 5);
  BOOST_TEST(finished(scratch.path).size() < cells.size());
  BOOST_TEST(play_on(scratch.path, cells));
}

BOOST_AUTO_TEST_CASE(what_is_under_way_ends_when_others_come_and_the_rest_waits_for_them) {
  const Scratch scratch;
  const auto cells = synthetic_cells(1);
  auto journal = Journal::open(scratch.path, event).value();
  auto options = options_for(2, "pass");
  options.others_come = [&] { return journal.attempts().size() >= 5; };
  BOOST_TEST((end_of_run(cells, journal, options).value() == RunEnd::others_come));
  // The fifth, and what the other worker was playing then.
  BOOST_TEST(journal.attempts().size() >= 5);
  BOOST_TEST(journal.attempts().size() <= 6);
  options.others_come = [] { return false; };
  BOOST_TEST((end_of_run(cells, journal, options).value() == RunEnd::complete));
  BOOST_TEST(journal.attempts().size() == cells.size());
}

BOOST_AUTO_TEST_SUITE_END()
