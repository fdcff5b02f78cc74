// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The output folder of a run: what is on disk at every moment, also when the disk is full or the
// run is killed.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "base/record/schema.hpp"
#include "base/sha256.hpp"
#include "suite/results/folder.hpp"
#include "suite/results/record_tables.hpp"

namespace fs = std::filesystem;
using namespace suite::results;

namespace {

struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "results_test.XXXXXX").string();
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Scratch() { fs::remove_all(path); }
  fs::path path;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

RunRecord a_run() {
  RunRecord run;
  run.id = "20260102T030405Z-0a1b2c3d";
  run.start = "2026-01-02T03:04:05.000006Z";
  run.command = {"rnic-suite", "run"};
  run.options = Json{{"strict", false}};
  run.iut.kind = "reference";
  run.selected = 2;
  return run;
}

CaseRecord a_case(const std::string& id, std::uint32_t attempt, Verdict verdict) {
  CaseRecord record;
  record.id = id;
  record.attempt = attempt;
  record.layer = "ddp";
  record.rules = {"ddp.tagged.base-or-bounds"};
  record.outcome.verdict = verdict;
  record.start = a_run().start;
  record.gate.result = verdict == Verdict::pass ? GateResult::as_expected : GateResult::new_failure;
  record.outcome.expectations.push_back({.rule = "ddp.tagged.base-or-bounds",
                                         .row = "",
                                         .admissible = {"Terminate 1/1/01"},
                                         .actual = "Terminate 1/1/00",
                                         .hex = "0011",
                                         .judgement = Judgement::fail,
                                         .direction = Direction::from_iut,
                                         .at = std::chrono::milliseconds(250),
                                         .place = {},
                                         .frame = 12});
  record.outcome.exchange.push_back({.at = std::chrono::milliseconds(100),
                                     .direction = Direction::to_iut,
                                     .text = "Write",
                                     .hex = "",
                                     .frame = {}});
  record.outcome.rows.push_back({.name = "by one octet", .verdict = verdict, .reason = ""});
  record.pcap = Pcap{.file = Folder::pcap_name(id, attempt),
                     .sha256 = base::sha256({}),
                     .frames = 20,
                     .octets = 2000,
                     .source = PcapSource::tester,
                     .note = ""};
  return record;
}

// Ends what was begun, with what is known of the run by now.
Result<Document> end(Folder& folder, const RunRecord& run) {
  auto document = folder.so_far();
  if (!document) return document;
  document->run = run;
  if (const auto ended = folder.end(*document); !ended) return std::unexpected(ended.error());
  return document;
}

// The run at its next start.
RunRecord next_session(RunRecord run) {
  run.sessions.push_back({.start = "2026-01-02T04:00:00Z",
                          .end = {},
                          .command = {"rnic-suite"},
                          .asked = Json{{"rerun_failed", true}},
                          .ending = Ending::running,
                          .ending_reason = ""});
  return run;
}

// Whether the file is valid by the published schema, asked of an independent validator.
bool valid_by_schema(const fs::path& file) {
  const std::string command =
      std::string(PYTHON) + " " + PROJECT_SOURCE_DIR "/suite/results/tests/validate.py " +
      PROJECT_SOURCE_DIR "/reports/schema/results-1.schema.json " + file.string();
  return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c): our own fixed words
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_published_schema_says_what_the_tables_say) {
  const auto published = base::record::Schema::parse(
      text_of(PROJECT_SOURCE_DIR "/reports/schema/results-1.schema.json"));
  for (const std::string& line :
       base::record::differences(published, base::record::schema_of<Document>()))
    BOOST_ERROR(line);
}

BOOST_AUTO_TEST_CASE(a_finished_run_is_valid_by_the_schema_and_reads_back) {
  Scratch scratch;
  auto folder = Folder::open(scratch.path / "a" / "b");
  BOOST_REQUIRE(folder);
  RunRecord run = a_run();
  BOOST_REQUIRE(folder->begin(run));
  BOOST_REQUIRE(folder->add(a_case("ddp.x.y", 1, Verdict::fail)));
  BOOST_REQUIRE(folder->add(a_case("ddp.x.z@ipv6", 1, Verdict::pass)));
  CaseRecord stale = a_case("ddp.x.y", 2, Verdict::pass);
  stale.gate = {.result = GateResult::stale, .entry = "siw.yaml:3", .reason = "it passes"};
  BOOST_REQUIRE(folder->add(stale));
  BOOST_TEST(!fs::exists(folder->path() / "results.json"));
  CaseRecord another = a_case("ddp.x.a", 1, Verdict::pass);
  another.outcome.expectations.back().judgement = Judgement::also_seen;
  BOOST_REQUIRE(folder->add(another));
  run.complete = true;
  run.ending = Ending::finished;
  run.end = "2026-01-02T03:04:09Z";
  run.exit_code = 0;
  const auto document = end(*folder, run);
  BOOST_REQUIRE(document);
  BOOST_TEST(valid_by_schema(folder->path() / "results.json"));

  Document back;
  const auto fault =
      base::record::from_json(Json::parse(text_of(folder->path() / "results.json")), back);
  BOOST_TEST(!fault, (fault ? fault->text : ""));
  BOOST_TEST(base::record::to_json(back) == base::record::to_json(*document));
  BOOST_TEST(back.run.complete);
  BOOST_REQUIRE(back.cases.size() == 4U);
  BOOST_TEST(name(back.cases[0].gate.result) == "superseded");
  BOOST_TEST(back.cases[0].outcome.expectations.at(0).frame.value() == 12U);
  BOOST_TEST(!back.cases[0].outcome.exchange.at(0).frame.has_value());
  BOOST_TEST(back.summary.cases == 3U);
  BOOST_TEST(back.summary.attempts == 4U);
  BOOST_TEST(back.summary.verdicts.at("pass") == 3U);
  BOOST_TEST(back.summary.verdicts.count("fail") == 0U);
  BOOST_TEST(back.summary.tester_pcaps == 3U);
  BOOST_REQUIRE(back.findings.size() == 1U);
  BOOST_TEST(back.findings[0].rule == "ddp.tagged.base-or-bounds");
  BOOST_TEST(back.findings[0].first_case == "ddp.x.a");
  BOOST_TEST(back.findings[0].cases == 1U);
  BOOST_TEST(name(back.findings[0].gate.result) == "new_failure");
  BOOST_TEST(back.summary.stale_entries == (std::vector<std::string>{"siw.yaml:3 ddp.x.y"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(text_from_the_iut_that_is_not_utf8_still_gives_json) {
  Scratch scratch;
  auto folder = Folder::open(scratch.path);
  BOOST_REQUIRE(folder && folder->begin(a_run()));
  CaseRecord record = a_case("ddp.x.y", 1, Verdict::fail);
  record.outcome.reason = "\xff\xfe\n\x01</script>";
  BOOST_REQUIRE(folder->add(record));
  BOOST_REQUIRE(end(*folder, a_run()));
  BOOST_TEST(valid_by_schema(scratch.path / "results.json"));
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_session_is_a_file_that_the_exchange_names) {
  const Scratch scratch;
  auto folder = Folder::open(scratch.path);
  BOOST_REQUIRE(folder);
  CaseRecord record = a_case("soak.dat.7", 1, Verdict::fail);
  record.outcome.exchange.clear();
  BOOST_TEST(folder->keep_session(record).has_value());
  BOOST_TEST(!fs::exists(scratch.path / "sessions"));  // it has none
  record.outcome.exchange.push_back({.at = {}, .text = "played", .hex = {}});
  record.outcome.exchange.push_back({.at = {}, .text = "session: {}\n", .hex = {}});
  BOOST_REQUIRE(folder->keep_session(record));
  std::ifstream file(scratch.path / "sessions/soak.dat.7.1.json");
  std::string line;
  BOOST_TEST((std::getline(file, line) && line == "{}"));
  BOOST_TEST(record.outcome.exchange[1].text == "to be played again: sessions/soak.dat.7.1.json");
  // A further attempt leaves it alone.
  CaseRecord again = a_case("soak.dat.7", 2, Verdict::fail);
  again.outcome.exchange = {{.at = {}, .text = "session: []\n", .hex = {}}};
  BOOST_REQUIRE(folder->keep_session(again));
  BOOST_TEST(again.outcome.exchange[0].text == "to be played again: sessions/soak.dat.7.2.json");
  file.clear();
  file.seekg(0);
  BOOST_TEST((std::getline(file, line) && line == "{}"));
}

BOOST_AUTO_TEST_CASE(a_killed_run_keeps_what_it_judged) {
  Scratch scratch;
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    auto folder = Folder::open(scratch.path);
    const bool good = folder && folder->begin(a_run()) &&
                      folder->add(a_case("ddp.x.y", 1, Verdict::fail)) && folder->sync();
    ::kill(::getpid(), good ? SIGKILL : SIGUSR1);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_REQUIRE(WTERMSIG(status) == SIGKILL);
  std::ofstream(scratch.path / "results.ndjson", std::ios::app) << R"({"case": {"id": "ddp.torn)";

  const auto document = collect(scratch.path);
  BOOST_REQUIRE(document);
  BOOST_TEST(name(document->run.ending) == "killed");
  BOOST_TEST(!document->run.complete);
  BOOST_TEST(document->cases.size() == 1U);
  BOOST_TEST(valid_by_schema(scratch.path / "results.json"));
}

BOOST_AUTO_TEST_CASE(a_journal_that_is_not_ours_is_refused_by_line) {
  Scratch scratch;
  std::ofstream(scratch.path / "results.ndjson") << "{\"run\": {}}\n";
  const auto document = collect(scratch.path);
  BOOST_REQUIRE(!document);
  BOOST_TEST(
      document.error().find("results.ndjson:1: member \"run.id\" is missing") != std::string::npos,
      document.error());
  BOOST_TEST(!collect(scratch.path / "absent").has_value());
  BOOST_TEST(!fs::exists(scratch.path / "absent"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_takes_back_the_line_that_did_not_fit) {
  Scratch scratch;
  auto folder = Folder::open(scratch.path);
  BOOST_REQUIRE(folder && folder->begin(a_run()) &&
                folder->add(a_case("ddp.x.y", 1, Verdict::fail)));
  const std::string before = text_of(scratch.path / "results.ndjson");

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{.rlim_cur = before.size() + 100, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto added = folder->add(a_case("ddp.x.z", 1, Verdict::fail));
  ::setrlimit(RLIMIT_FSIZE, &old);

  BOOST_REQUIRE(!added);
  BOOST_TEST(added.error().find("results.ndjson: File too large") != std::string::npos,
             added.error());
  BOOST_TEST(text_of(scratch.path / "results.ndjson") == before);
  BOOST_TEST(folder->add(a_case("ddp.x.z", 1, Verdict::pass)).has_value());
}

BOOST_AUTO_TEST_CASE(a_disk_that_is_full_from_the_start_leaves_nothing) {
  Scratch scratch;
  fs::create_symlink("/dev/full", scratch.path / "results.ndjson.new");
  {
    auto folder = Folder::open(scratch.path);
    BOOST_REQUIRE(folder);
    const auto begun = folder->begin(a_run());
    BOOST_REQUIRE(!begun);
    BOOST_TEST(begun.error().find("No space left on device") != std::string::npos, begun.error());
  }
  BOOST_TEST(!holds_a_run(scratch.path));
  BOOST_TEST(!fs::exists(fs::symlink_status(scratch.path / "results.ndjson.new")));
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written_is_one_line) {
  Scratch scratch;
  std::ofstream(scratch.path / "file") << "x";
  const auto under_file = Folder::open(scratch.path / "file" / "out");
  BOOST_REQUIRE(!under_file);
  BOOST_TEST(under_file.error().find("Not a directory") != std::string::npos, under_file.error());
  const auto under_proc = Folder::open("/proc/self/out");
  BOOST_REQUIRE(!under_proc);
  BOOST_TEST(under_proc.error().find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(two_runs_do_not_share_a_folder_and_an_unused_one_is_taken_back) {
  Scratch scratch;
  {
    auto first = Folder::open(scratch.path / "deep" / "out");
    BOOST_REQUIRE(first);
    const auto second = Folder::open(scratch.path / "deep" / "out");
    BOOST_REQUIRE(!second);
    BOOST_TEST(second.error().find("another run") != std::string::npos);
    BOOST_TEST(is_in_use(scratch.path / "deep" / "out"));
  }
  BOOST_TEST(!is_in_use(scratch.path));
  BOOST_TEST(!is_in_use(scratch.path / "none"));
  BOOST_TEST(!fs::exists(scratch.path / "deep"));
}

BOOST_AUTO_TEST_CASE(a_new_run_never_replaces_an_earlier_one) {
  Scratch scratch;
  fs::create_directory(scratch.path / "pcap");
  std::ofstream(scratch.path / "pcap" / "mine.pcap") << "x";
  {
    auto folder = Folder::open(scratch.path);
    BOOST_REQUIRE(folder && folder->begin(a_run()));
    BOOST_REQUIRE(end(*folder, a_run()));
  }
  std::ofstream(scratch.path / "pcap" / "ddp.x.y.1.pcap") << "x";
  const std::string journal = text_of(scratch.path / "results.ndjson"),
                    document = text_of(scratch.path / "results.json");
  auto folder = Folder::open(scratch.path);
  BOOST_REQUIRE(folder);
  BOOST_TEST(!folder->begin(a_run()).has_value());
  BOOST_TEST(text_of(scratch.path / "results.ndjson") == journal);
  BOOST_TEST(text_of(scratch.path / "results.json") == document);
  BOOST_TEST(fs::exists(scratch.path / "pcap" / "ddp.x.y.1.pcap"));
  BOOST_TEST(fs::exists(scratch.path / "pcap" / "mine.pcap"));
}

// After SIGKILL or a power loss the next session begins where the last whole line ends.
BOOST_AUTO_TEST_CASE(a_run_that_goes_on_keeps_all_records) {
  Scratch scratch;
  const RunRecord first = next_session(a_run());
  {
    auto folder = Folder::open(scratch.path);
    BOOST_REQUIRE(folder && folder->begin(first));
    BOOST_REQUIRE(folder->add(a_case("ddp.x.y", 1, Verdict::fail)));
  }
  std::ofstream(scratch.path / "results.ndjson", std::ios::app)
      << std::string("\0\0\0\n", 4) << R"({"case": {"id": "ddp.torn)";
  const auto earlier = read_journal(scratch.path / "results.ndjson");
  BOOST_REQUIRE(earlier);
  BOOST_TEST(name(earlier->document.run.ending) == "killed");
  BOOST_TEST(name(earlier->document.run.sessions.at(0).ending) == "killed");
  {
    auto folder = Folder::open(scratch.path);
    BOOST_REQUIRE(folder);
    const RunRecord second = next_session(earlier->document.run);
    BOOST_REQUIRE(folder->go_on(*earlier, second));
    BOOST_REQUIRE(folder->add(a_case("ddp.x.y", 2, Verdict::pass)));
    BOOST_REQUIRE(folder->add(a_case("ddp.x.z", 1, Verdict::pass)));
    BOOST_REQUIRE(end(*folder, second));
  }
  BOOST_TEST(valid_by_schema(scratch.path / "results.json"));
  const auto whole = read_journal(scratch.path / "results.ndjson");
  BOOST_REQUIRE(whole);
  BOOST_TEST(whole->document.cases.size() == 3U);
  BOOST_TEST(whole->document.summary.cases == 2U);
  BOOST_TEST(whole->document.summary.verdicts.at("pass") == 2U);
  BOOST_TEST(whole->sessions == (std::vector<std::size_t>{0, 1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_line_in_the_middle_that_is_none_is_no_torn_end) {
  Scratch scratch;
  {
    auto folder = Folder::open(scratch.path);
    BOOST_REQUIRE(folder && folder->begin(a_run()));
  }
  const std::string begin = text_of(scratch.path / "results.ndjson");
  std::ofstream(scratch.path / "results.ndjson", std::ios::app) << "nonsense\n" << begin;
  const auto journal = read_journal(scratch.path / "results.ndjson");
  BOOST_REQUIRE(!journal);
  BOOST_TEST(journal.error().find("results.ndjson:2: ") != std::string::npos, journal.error());
}
