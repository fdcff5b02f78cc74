// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The gate: which outcomes are new failures, known or stale,
// and which files are refused with which message.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

#include "suite/expectations/known_issue_gate.hpp"

using namespace suite::expectations;
using suite::results::CaseRecord;
using suite::results::GateResult;
using suite::results::Judgement;
using suite::results::Verdict;

namespace {

const std::string good_entry = R"(entries:
  - case: ddp.a.b@ipv6
    verdict: fail
    observed: "closed without a Terminate*"
    rule: ddp.tagged.base-or-bounds
    iut: siw-vm
    versions: kernel >= 6.1, kernel < 6.13
    reason: RFC 5041 7.1 demands 1/1/01
    date: 2026-01-31
)";

const Known known{
    .is_case = [](const std::string& id) { return id == "ddp.a.b@ipv6" || id == "ddp.a.c"; },
    .is_rule =
        [](const std::string& id) {
          return id == "ddp.tagged.base-or-bounds" || id == "rdmap.terminate.header-format";
        },
    .current_id =
        [](const std::string& id) { return id == "ddp.old.b@ipv6" ? "ddp.a.b@ipv6" : id; }};

std::expected<KnownIssues, std::vector<Fault>> load_text(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("gate_test." + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  auto loaded = load(file, known);
  std::filesystem::remove(file);
  return loaded;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = good_entry;
  const auto position = text.find(from);
  BOOST_REQUIRE(position != std::string::npos);
  return text.replace(position, from.size(), to);
}

// The only fault of a file, without the file's name.
std::string fault_of(const std::string& text) {
  const auto loaded = load_text(text);
  if (loaded) return "none";
  BOOST_TEST(loaded.error().size() == 1U);
  const std::string& fault = loaded.error().front();
  return fault.substr(fault.find(".yaml") + 5);
}

suite::results::IutRecord siw(const std::string& kernel) {
  suite::results::IutRecord iut;
  iut.kind = "siw-vm";
  iut.identity.implementation = "siw0 (software iWARP)";
  iut.identity.kernel = kernel;
  return iut;
}

CaseRecord outcome(Verdict verdict, const std::string& actual) {
  CaseRecord record;
  record.id = "ddp.a.b@ipv6";
  record.outcome.verdict = verdict;
  if (!actual.empty()) {
    record.outcome.expectations.push_back(
        {.rule = "ddp.tagged.base-or-bounds",
         .row = "",
         .admissible = {"Terminate"},
         .actual = actual,
         .hex = "",
         .judgement = verdict == Verdict::pass ? Judgement::pass : Judgement::fail,
         .direction = {},
         .at = {},
         .place = {},
         .frame = {}});
  }
  return record;
}

GateResult judge(const CaseRecord& record, const std::string& kernel = "6.1.140-amd64") {
  return Gate(load_text(good_entry).value(), siw(kernel)).judge(record).result;
}

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(GateResult)

BOOST_AUTO_TEST_CASE(versions_are_ordered_as_people_do) {
  BOOST_TEST((compare_versions("6.1", "6.12") < 0));
  BOOST_TEST((compare_versions("6.2", "6.12") < 0));
  BOOST_TEST((compare_versions("6.1.140-amd64", "6.1.140") == 0));
  BOOST_TEST((compare_versions("6.1.0-37-amd64", "6.1") > 0));
  BOOST_TEST((compare_versions("", "1") < 0));
  BOOST_TEST(
      (compare_versions("99999999999999999999999", "1") < 0));  // not a number that we can read
}

BOOST_AUTO_TEST_CASE(version_ranges) {
  const auto range = VersionRange::parse("kernel >= 6.1, kernel < 6.13,firmware == 2.0");
  BOOST_REQUIRE(range);
  BOOST_TEST(range->holds({.kernel = "6.12.9", .firmware = "2.0", .driver_version = ""}));
  BOOST_TEST(!range->holds({.kernel = "6.13", .firmware = "2.0", .driver_version = ""}));
  BOOST_TEST(!range->holds({.kernel = "6.1", .firmware = "", .driver_version = ""}));
  BOOST_TEST(VersionRange::parse("any")->holds({}));
  for (const char* wrong :
       {"", "kernel", "kernel 6.1", "kernel >= new", "linux >= 6.1", "kernel >= 6.1 6.2"}) {
    BOOST_TEST(!VersionRange::parse(wrong).has_value(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_good_file) {
  const auto loaded = load_text(good_entry);
  BOOST_REQUIRE(loaded);
  BOOST_REQUIRE(loaded->entries.size() == 1U);
  BOOST_TEST(loaded->entries.front().place.ends_with(".yaml:2"));
  BOOST_TEST(loaded->entries.front().reason == "RFC 5041 7.1 demands 1/1/01");
}

BOOST_AUTO_TEST_CASE(each_fault_is_one_line_with_its_place) {
  BOOST_TEST(
      fault_of("") ==
      ":1: must hold a list named `entries`, maybe ones named `kernel_messages`, `random_crashes`, "
      "`findings`, `isolated` and `includes`, maybe `private: true`, and nothing else");
  BOOST_TEST(
      fault_of("entries: {}\n") ==
      ":1: must hold a list named `entries`, maybe ones named `kernel_messages`, `random_crashes`, "
      "`findings`, `isolated` and `includes`, maybe `private: true`, and nothing else");
  BOOST_TEST(fault_of(with("    verdict: fail\n", "")) == ":2: `verdict` is missing");
  BOOST_TEST(fault_of(with("verdict: fail", "verdict: pass")) ==
             ":3: `verdict` is fail or inconclusive, not 'pass'");
  BOOST_TEST(fault_of(with("verdict: fail", "verdict: error")) ==
             ":3: `verdict` is fail or inconclusive, not 'error'");
  BOOST_TEST(fault_of(with("verdict: fail", "verdict: [fail]")) == ":3: `verdict` must be a text");
  BOOST_TEST(fault_of(with("ddp.a.b@ipv6", "ddp.a.b")) == ":2: there is no case 'ddp.a.b'");
  BOOST_TEST(fault_of(with("base-or-bounds", "bounds")) ==
             ":5: there is no rule 'ddp.tagged.bounds'");
  BOOST_TEST(fault_of(good_entry + "    also: [ddp.nothing]\n") ==
             ":10: there is no rule 'ddp.nothing'");
  BOOST_TEST(fault_of(good_entry + "    also: {}\n") == ":10: `also` must be a list of texts");
  BOOST_TEST(fault_of(good_entry + "    intermittent: perhaps\n") ==
             ":10: `intermittent` is true or false");
  BOOST_TEST(fault_of(with("2026-01-31", "31.1.2026")) ==
             ":9: `date` is YYYY-MM-DD, not '31.1.2026'");
  BOOST_TEST(fault_of(with("kernel <", "kernel !")) ==
             ":7: `versions`: '!' is none of == < <= > >=");
  BOOST_TEST(fault_of(good_entry + "    lonk: x\n") == ":10: unknown member `lonk`");
  BOOST_TEST(fault_of(good_entry + "    date: 2026-02-01\n") == ":10: \"date\" is there twice");
  BOOST_TEST(fault_of(good_entry + good_entry.substr(9))
                 .starts_with(":10: case ddp.a.b@ipv6 has an entry at "));
  BOOST_TEST(fault_of("entries: [\n").starts_with(":"));
  BOOST_TEST(load("/no/such/file.yaml", known).error().front() ==
             "cannot read /no/such/file.yaml: No such file or directory");
}

BOOST_AUTO_TEST_CASE(all_faults_of_a_file_are_told_at_once) {
  const auto loaded =
      load_text(with("2026-01-31", "now") + with("verdict: fail", "verdict: maybe").substr(9));
  BOOST_REQUIRE(!loaded);
  BOOST_TEST(loaded.error().size() == 2U);
}

BOOST_AUTO_TEST_CASE(what_is_recorded_is_known_and_all_else_is_new) {
  BOOST_TEST(judge(outcome(Verdict::fail, "closed without a Terminate (RST)")) ==
             GateResult::known);
  BOOST_TEST(judge(outcome(Verdict::fail, "Terminate 1/1/00")) == GateResult::new_failure);
  BOOST_TEST(judge(outcome(Verdict::inconclusive, "closed without a Terminate")) ==
             GateResult::new_failure);
  BOOST_TEST(judge(outcome(Verdict::error, "closed without a Terminate")) ==
             GateResult::new_failure);
  BOOST_TEST(judge(outcome(Verdict::not_applicable, "")) == GateResult::new_failure);
  BOOST_TEST(judge(outcome(Verdict::pass, "Terminate 1/1/01")) == GateResult::stale);
}

BOOST_AUTO_TEST_CASE(an_entry_for_another_iut_or_version_takes_no_part) {
  BOOST_TEST(judge(outcome(Verdict::fail, "closed without a Terminate"), "6.13.1") ==
             GateResult::new_failure);
  BOOST_TEST(judge(outcome(Verdict::pass, "Terminate 1/1/01"), "6.13.1") ==
             GateResult::as_expected);
  const auto entries = load_text(with("iut: siw-vm", "iut: cxgb4*")).value();
  BOOST_TEST(Gate(entries, siw("6.1")).judge(outcome(Verdict::pass, "x")).result ==
             GateResult::as_expected);
  auto chelsio = siw("6.1");
  chelsio.identity.implementation = "cxgb4_0 T62100";
  BOOST_TEST(Gate(entries, chelsio).judge(outcome(Verdict::pass, "x")).result == GateResult::stale);
}

BOOST_AUTO_TEST_CASE(without_an_entry_only_pass_and_not_applicable_are_good) {
  const Gate gate({}, siw("6.1"));
  BOOST_TEST(gate.judge(outcome(Verdict::pass, "")).result == GateResult::as_expected);
  BOOST_TEST(gate.judge(outcome(Verdict::not_applicable, "")).result == GateResult::as_expected);
  for (const Verdict verdict : {Verdict::fail, Verdict::inconclusive, Verdict::error}) {
    BOOST_TEST(gate.judge(outcome(verdict, "")).result == GateResult::new_failure);
  }
}

BOOST_AUTO_TEST_CASE(without_an_expectation_the_reason_tells_what_came) {
  CaseRecord record = outcome(Verdict::fail, "");
  record.outcome.reason = "closed without a Terminate, guest crashed";
  BOOST_TEST(judge(record) == GateResult::known);
}

BOOST_AUTO_TEST_CASE(what_fails_now_and_then_may_pass) {
  const Gate gate(load_text(good_entry + "    intermittent: true\n").value(), siw("6.1"));
  BOOST_TEST(gate.judge(outcome(Verdict::pass, "Terminate 1/1/01")).result ==
             GateResult::as_expected);
  BOOST_TEST(gate.judge(outcome(Verdict::fail, "closed without a Terminate")).result ==
             GateResult::known);
  BOOST_TEST(gate.judge(outcome(Verdict::fail, "Terminate 1/1/00")).result ==
             GateResult::new_failure);
}

BOOST_AUTO_TEST_CASE(a_race_is_given_so_many_tries) {
  const Gate gate(load_text(good_entry + "    tries: 3\n").value(), siw("6.1"));
  CaseRecord record = outcome(Verdict::pass, "Terminate 1/1/01");
  for (record.attempt = 1; record.attempt < 3; ++record.attempt)
    BOOST_TEST(gate.judge(record).result == GateResult::superseded);
  BOOST_TEST(gate.judge(record).result == GateResult::as_expected);
  record = outcome(Verdict::fail, "closed without a Terminate");
  BOOST_TEST(gate.judge(record).result == GateResult::known);
  for (const char* wrong : {"1", "41", "many", "-2"}) {
    BOOST_TEST(fault_of(good_entry + "    tries: " + wrong + "\n") ==
               ":10: `tries` is a number from 2 to 40");
  }
}

BOOST_AUTO_TEST_CASE(a_rule_broken_besides_the_recorded_one_is_new) {
  CaseRecord record = outcome(Verdict::fail, "closed without a Terminate");
  record.outcome.expectations.push_back(record.outcome.expectations.front());
  record.outcome.expectations.back().rule = "rdmap.terminate.header-format";
  BOOST_TEST(judge(record) == GateResult::new_failure);
  const auto entries = load_text(good_entry + "    also: [rdmap.terminate.header-format]\n");
  BOOST_TEST(Gate(entries.value(), siw("6.1")).judge(record).result == GateResult::known);
  record.outcome.expectations.back().judgement = Judgement::advisory;
  BOOST_TEST(judge(record) == GateResult::known);
}

BOOST_AUTO_TEST_CASE(one_of_several_recorded_outcomes_will_do) {
  const auto entries = load_text(
      with("\"closed without a Terminate*\"", "[\"RST\", \"the IUT's kernel complained*\"]") +
      "    harm: kernel\n    link: https://example.org/1\n");
  const Gate gate(entries.value(), siw("6.1"));
  BOOST_TEST(gate.judge(outcome(Verdict::fail, "RST")).result == GateResult::known);
  BOOST_TEST(gate.judge(outcome(Verdict::fail, "FIN")).result == GateResult::new_failure);
  CaseRecord crashed = outcome(Verdict::fail, "");
  crashed.outcome.reason = "the IUT's kernel complained: BUG";
  BOOST_TEST(gate.judge(crashed).result == GateResult::known);
}

BOOST_AUTO_TEST_CASE(a_listed_kernel_message_is_not_held_against_a_case) {
  const auto listed = load_text(good_entry + R"(kernel_messages:
  - observed: "*WARNING*put_twice*"
    iut: siw-vm
    versions: kernel < 6.13
    harm: kernel
    date: 2026-01-31
)");
  BOOST_REQUIRE(listed);
  const Gate gate(*listed, siw("6.1"));
  CaseRecord crashed_case = outcome(Verdict::fail, "");
  crashed_case.id = "ddp.a.c";
  crashed_case.kernel_log = "[1.0] WARNING: CPU: 0\n[1.0] RIP: put_twice+0x1\n";
  crashed_case.outcome.reason =
      "FIN in place of a Terminate";  // alone, beside the log of an earlier attempt
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  crashed_case.outcome.reason = "the IUT's kernel complained: WARNING: CPU: 0";
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);  // whatever its text
  crashed_case.decided_by = suite::results::DecidedBy::kernel_log;
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::superseded);
  crashed_case.attempt = 3;
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  crashed_case.id = "ddp.a.b@ipv6";  // has an entry of its own
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::known);
  BOOST_TEST(gate.known_kernel_message(crashed_case.kernel_log) != nullptr);
  BOOST_TEST(gate.known_kernel_message("") == nullptr);
  crashed_case.kernel_log = "[1.0] WARNING: CPU: 0\n[1.0] RIP: another+0x1\n";
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  BOOST_TEST(Gate(*listed, siw("6.13")).known_kernel_message("WARNING put_twice") == nullptr);
  BOOST_TEST(fault_of(good_entry +
                      "kernel_messages:\n  - harm: kernel\n    iut: y\n    date: z\n    "
                      "versions: any\n") == ":11: `observed` is missing");
}

BOOST_AUTO_TEST_CASE(a_harm_is_explained_only_where_it_is_public) {
  const std::string reason = "    reason: RFC 5041 7.1 demands 1/1/01\n";
  const auto harmful = load_text(with(reason, "    harm: kernel\n"));
  BOOST_REQUIRE(harmful);
  BOOST_TEST(harmful->entries.front().reason == "It stops the kernel.");
  BOOST_TEST(fault_of(with(reason, reason + "    harm: kernel\n")) ==
             ":8: `reason` beside `harm` needs a `link` to the public report; keep it in a file of "
             "your own with `private: true` until there is one");
  const std::string told = reason + "    harm: kernel\n";
  BOOST_TEST(load_text(with(reason, told + "    link: https://example.org/1\n")).has_value());
  const auto kept = load_text("private: true\n" + with(reason, told));
  BOOST_REQUIRE(kept);
  BOOST_TEST(kept->is_private);
  BOOST_TEST(kept->entries.front().reason == "RFC 5041 7.1 demands 1/1/01");
  BOOST_TEST(fault_of(with(reason, "    harm: pride\n")) ==
             ":8: `harm` is one of kernel, process, listener, disclosure");
}

BOOST_AUTO_TEST_CASE(what_is_a_crash_must_have_a_harm) {
  for (const std::string crash :
       {"call was ended by SIGSEGV in *", "*the IUT's kernel complained*"}) {
    BOOST_TEST(fault_of(with("closed without a Terminate*", crash)) ==
               ":2: `harm` is missing where a crash was observed: one of kernel, process, "
               "listener, disclosure");
  }
  for (const std::string list : {"kernel_messages", "random_crashes"}) {
    BOOST_TEST(fault_of(good_entry + list +
                        ":\n  - observed: x\n    iut: y\n    versions: any\n    reason: z\n"
                        "    date: 2026-01-31\n") ==
               ":11: `harm` is missing: one of kernel, process, listener, disclosure");
  }
}

BOOST_AUTO_TEST_CASE(an_entry_with_an_old_id_is_for_the_case_of_today_and_noticed) {
  const auto listed = load_text(with("ddp.a.b@ipv6", "ddp.old.b@ipv6"));
  BOOST_REQUIRE(listed);
  BOOST_TEST(listed->entries.front().case_id == "ddp.a.b@ipv6");
  BOOST_REQUIRE(listed->notices.size() == 1U);
  BOOST_TEST(listed->notices.front().ends_with(
      ":2: case 'ddp.old.b@ipv6' was renamed; it is now 'ddp.a.b@ipv6'"));
  BOOST_TEST(load_text(good_entry)->notices.empty());
}

// The files that the project ships are public.
BOOST_AUTO_TEST_CASE(no_shipped_file_is_private) {
  const Known anything{.is_case = [](const std::string&) { return true; },
                       .is_rule = [](const std::string&) { return true; },
                       .current_id = {}};
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SHIPPED_EXPECTATIONS)) {
    if (file.path().extension() != ".yaml") continue;
    const auto loaded = load(file.path(), anything);
    BOOST_REQUIRE_MESSAGE(loaded, (loaded ? "" : loaded.error().front()));
    BOOST_TEST(!loaded->is_private, file.path());
    ++files;
  }
  BOOST_TEST(files > 0U);
}

BOOST_AUTO_TEST_CASE(a_case_that_a_listed_random_crash_ends_runs_again_but_not_for_ever) {
  const auto listed = load_text(good_entry + R"(random_crashes:
  - observed: "the case was ended by SIGSEGV in a thread *"
    iut: siw-vm
    versions: kernel < 6.13
    harm: process
    date: 2026-01-31
)");
  BOOST_REQUIRE(listed);
  const Gate gate(*listed, siw("6.1"));
  const std::string crash = "the case was ended by SIGSEGV in a thread of its own";
  CaseRecord crashed_case = outcome(Verdict::fail, crash);
  BOOST_TEST(gate.judge(crashed_case).result ==
             GateResult::superseded);  // its entry tells of another
  crashed_case.id = "ddp.a.c";
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::superseded);
  crashed_case.attempt = 3;
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  crashed_case.attempt = 1;
  crashed_case.outcome.expectations.back().actual = "the case was ended by SIGSEGV in libc.so.6";
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  crashed_case.outcome.expectations.back().actual = crash;
  BOOST_TEST(Gate(*listed, siw("6.13")).judge(crashed_case).result == GateResult::new_failure);
  crashed_case.outcome.expectations.push_back(crashed_case.outcome.expectations.back());
  crashed_case.outcome.expectations.back().actual =
      "FIN";  // the case went on: nothing has ended it
  BOOST_TEST(gate.judge(crashed_case).result == GateResult::new_failure);
  KnownIssues own = *listed;
  own.entries.front().observed = {crash};
  BOOST_TEST(Gate(own, siw("6.1")).judge(outcome(Verdict::fail, crash)).result ==
             GateResult::known);
}

namespace {

const std::string known_finding = R"(findings:
  - rule: rdmap.terminate.header-format
    observed: "reserved bits *"
    case: ddp.a.c
    iut: siw-vm
    versions: kernel < 6.13
    reason: they are never cleared
    date: 2026-01-31
)";

suite::results::FindingRecord a_finding(const std::vector<std::string>& observed) {
  suite::results::FindingRecord finding;
  finding.rule = "rdmap.terminate.header-format";
  finding.cases = 2;
  finding.observed = observed;
  return finding;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_finding_is_known_if_each_wording_of_it_is) {
  const auto listed = load_text(good_entry + known_finding);
  BOOST_REQUIRE(listed);
  const Gate gate(*listed, siw("6.1"));
  const auto judged = gate.judge(a_finding({"reserved bits 0x01", "reserved bits 0x02"}));
  BOOST_TEST(judged.result == GateResult::known);
  BOOST_TEST(judged.reason == "they are never cleared");
  BOOST_TEST(judged.entry.ends_with(":11"));
  const auto more = gate.judge(a_finding({"reserved bits 0x01", "another thing"}));
  BOOST_TEST(more.result == GateResult::new_failure);
  BOOST_TEST(more.reason == "'another thing' came, and no entry of `findings` says so");
  BOOST_TEST(Gate(*listed, siw("6.13")).judge(a_finding({"reserved bits 0x01"})).result ==
             GateResult::new_failure);
  auto other = a_finding({"reserved bits 0x01"});
  other.rule = "ddp.tagged.base-or-bounds";
  BOOST_TEST(gate.judge(other).result == GateResult::new_failure);
}

BOOST_AUTO_TEST_CASE(what_was_also_seen_makes_no_case_a_new_failure) {
  CaseRecord record = outcome(Verdict::fail, "closed without a Terminate");
  record.outcome.expectations.push_back(record.outcome.expectations.front());
  record.outcome.expectations.back().rule = "rdmap.terminate.header-format";
  record.outcome.expectations.back().judgement = Judgement::also_seen;
  BOOST_TEST(judge(record) == GateResult::known);
}

BOOST_AUTO_TEST_CASE(a_listed_finding_is_stale_where_its_case_was_judged_and_shows_nothing) {
  const auto listed = load_text(good_entry + known_finding);
  const Gate gate(listed.value(), siw("6.1"));
  suite::results::Document run;
  BOOST_TEST(gate.stale_findings(run).empty());  // its case was not selected
  run.cases.push_back(outcome(Verdict::pass, ""));
  run.cases.back().id = "ddp.a.c";
  BOOST_REQUIRE(gate.stale_findings(run).size() == 1U);
  BOOST_TEST(
      gate.stale_findings(run).front().ends_with(".yaml:11 finding:rdmap.terminate.header-format"));
  const auto now_and_then = load_text(good_entry + known_finding + "    intermittent: true\n");
  BOOST_TEST(Gate(now_and_then.value(), siw("6.1")).stale_findings(run).empty());
  run.cases.back().outcome.verdict = Verdict::not_applicable;
  BOOST_TEST(gate.stale_findings(run).empty());
  run.cases.back().outcome.verdict = Verdict::pass;
  run.findings = {a_finding({"another thing"})};
  BOOST_TEST(gate.stale_findings(run).size() == 1U);
  run.findings = {a_finding({"another thing", "reserved bits 0x02"})};
  BOOST_TEST(gate.stale_findings(run).empty());
}

BOOST_AUTO_TEST_CASE(a_listed_finding_names_a_rule_and_a_case_that_exist) {
  const auto with_finding = [](const std::string& from, const std::string& to) {
    std::string text = good_entry + known_finding;
    return text.replace(text.rfind(from), from.size(), to);
  };
  BOOST_TEST(fault_of(with_finding("ddp.a.c", "ddp.a.x")) == ":13: there is no case 'ddp.a.x'");
  BOOST_TEST(fault_of(with_finding("header-format", "header")) ==
             ":11: there is no rule 'rdmap.terminate.header'");
  BOOST_TEST(fault_of(with_finding("    case: ddp.a.c\n", "")) == ":11: `case` is missing");
}

BOOST_AUTO_TEST_CASE(a_case_may_be_isolated_without_being_a_failure) {
  const std::string isolated = R"(isolated:
  - case: ddp.a.c
    iut: siw-vm
    versions: any
    reason: it holds up all others
    date: 2026-01-31
)";
  const auto listed = load_text(good_entry + isolated);
  BOOST_REQUIRE(listed);
  BOOST_REQUIRE(listed->isolated.size() == 1U);
  BOOST_TEST(listed->isolated.front().case_id == "ddp.a.c");
  BOOST_TEST(fault_of(good_entry + "isolated:\n  - case: ddp.a.x\n    iut: y\n    versions: any\n"
                                   "    reason: z\n    date: 2026-01-31\n") ==
             ":11: there is no case 'ddp.a.x'");
}
