// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How each program refuses bad input: one line that says what to do, its documented exit status,
// and nothing half-written.
#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>

#include <nlohmann/json.hpp>

#include "suite/runner/tests/refusal.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int failure = 1, harness = 3, stale = 4;

const std::string suite_program = RNIC_SUITE, toy = RNIC_TOY, self_test = RNIC_SELF_TEST,
                  agent = RNIC_AGENT, lab = RNIC_LAB, source = RNIC_SOURCE;

// A quick run in simulated time.
Words in_memory(Words more) {
  more.insert(more.begin(), {suite_program, "run", "--link", "memory"});
  return more;
}

Json results_in(const fs::path& folder) { return Json::parse(text_of(folder / "results.json")); }

// The ids of the cases with one of these verdicts, sentinels aside.
Words cases_with(const Json& results, const Words& verdicts) {
  Words ids;
  for (const Json& one : results.at("cases")) {
    const std::string id = one.at("id");
    const bool wanted =
        std::ranges::find(verdicts, one.at("verdict").get<std::string>()) != verdicts.end();
    if (wanted && !id.starts_with("harness.")) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}
const Words all_verdicts{"pass", "fail", "inconclusive", "not_applicable", "error"};

}  // namespace

BOOST_AUTO_TEST_CASE(a_working_folder_that_is_gone_is_said_in_one_line) {
  const Scratch scratch;
  const std::string script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
  for (const Words& words : {rnic_suite({"run"}), rnic_suite({"list"}), rnic_suite({"doctor"})}) {
    Words command{"sh", "-c", script, "sh"};
    command.insert(command.end(), words.begin(), words.end());
    check_refusal(run(command, {.folder = scratch.path.string()}), harness,
                  "the current folder no longer exists");
  }
}

BOOST_AUTO_TEST_CASE(wrong_options_are_usage) {
  refuse(rnic_suite({"--frobnicate"}), usage, "--frobnicate; see --help");
  refuse(rnic_suite({"frobnicate"}), usage, "frobnicate; see --help");
  refuse(rnic_suite({"--select"}), usage, "--select");
  refuse(rnic_suite({"--jobs", "0"}), usage, "--jobs");
  refuse(rnic_suite({"--out", ""}), usage, "--out: the folder needs a name");
  refuse(rnic_suite({"--iut", "chelsio"}), usage, "none of reference");
  refuse(rnic_suite({"doctor", "--frobnicate"}), usage, "--frobnicate; see --help");
  refuse(rnic_suite({"explain"}), usage, "RULE|CASE is required");
  refuse(rnic_suite({"collect"}), usage, "DIR is required");
  refuse({self_test, "--frobnicate"}, usage, "--frobnicate; see --help");
  refuse({self_test, "--shard", "2/1x"}, usage, "I/N");
  refuse({self_test, "--link", "x"}, usage, "{memory,tcp}");
  refuse({agent}, usage, "--driver");
  refuse({agent, "--frobnicate"}, usage, "unknown option --frobnicate; see rnic-agent --help");
  refuse({agent, "--driver"}, usage, "--driver needs a value; see rnic-agent --help");
  refuse({agent, "--driver", "reference", "x"}, usage, "unexpected argument x");
  refuse({agent, "--driver", "reference", "--device", "x"}, usage, "goes with --driver verbs");
  refuse({lab}, usage, "see --help");
  refuse({lab, "siw-vm", "--frobnicate"}, usage, "unknown option '--frobnicate'; see --help");
  refuse({lab, "siw-vm", "--variant"}, usage, "no value for '--variant'; see --help");
  for (const char* command : {"report", "history", "statement"})
    refuse(rnic_suite({command}), usage, "OUT_DIR; see --help");
}

BOOST_AUTO_TEST_CASE(wrong_names_are_usage_and_the_right_one_is_suggested) {
  refuse(rnic_suite({"--select", "nothing.*"}), usage, "matches no case; --list shows them");
  refuse(rnic_suite({"--select", "ddp.delivery.message_is_delivered_onc"}), usage,
         "did you mean 'ddp.delivery.message_is_delivered_once'?");
  refuse(rnic_suite({"--select", "ddp.*", "--rule", "mpa.crc.*"}), usage,
         "no case fits --select and --rule together; leave one of them out");
  refuse(rnic_suite({"--rfc", "5043"}), usage, "no case fits --rfc; `");
  refuse(rnic_suite({"--rule", "no.such.rule"}), usage,
         "`" + suite_program + " coverage --rules` lists them");
  refuse(rnic_suite({"list", "--rule", "no.such.rule"}), usage, "no rule 'no.such.rule'");
  refuse(rnic_suite({"explain", "mpa.startup.request-kee"}), usage,
         "did you mean 'mpa.startup.request-key'?");
  refuse(rnic_suite({"--deviation", "request_key_wron"}), usage,
         "did you mean 'request_key_wrong'?");
  refuse({self_test, "--deviation", "request_key_wron"}, usage,
         "did you mean 'request_key_wrong'?");
  refuse({agent, "--driver", "carrier-pigeon"}, usage,
         "give verbs, kverbs, dat, kdat or reference");
  refuse({agent, "--driver", "verbs", "--claim", "x"}, usage, "docs/porting.md lists them");
  refuse({lab, "carrier-pigeon"}, usage, "no lab 'carrier-pigeon'");
  refuse({lab, "siw-vm", "--variant", "rev1-x"}, usage, "words of rev1");
  refuse({lab, "siw-vm", "--program", "/no/such"}, usage, "'/no/such' is no program");
  refuse({lab, "dut", "--package", "/no/such.deb"}, usage, "there is no file '/no/such.deb'");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_are_usage) {
  const Scratch scratch;
  write(scratch / "torn.yaml", "entries: [\n");
  write(scratch / "other.yaml", "colour: blue\n");
  for (const char* option : {"--pics", "--pixit", "--expectations"}) {
    refuse(in_memory({option, "/no/such.yaml"}), usage, "No such file");
    refuse(in_memory({option, scratch.path}), usage, "it is a folder");
    refuse(in_memory({option, scratch / "torn.yaml"}), usage, "torn.yaml:2: this is not YAML");
    refuse(in_memory({option, scratch / "other.yaml"}), usage, "other.yaml:1: ");
  }
  refuse({self_test, "--known", "/no/such"}, usage, "/no/such");
  refuse({self_test, "--known", scratch / "other.yaml"}, usage, "no deviation 'colour: blue'");
  refuse(rnic_suite({"collect", "/no/such"}), usage, "give the --out folder of a run");
  refuse(rnic_suite({"collect", scratch.path}), usage, "give the --out folder of a run");
  write(scratch / "results.ndjson", "nonsense\n");
  refuse(rnic_suite({"collect", scratch.path}), usage, "results.ndjson:1: ");
  for (const char* command : {"report", "history", "statement"}) {
    refuse(rnic_suite({command, "/no/such"}), harness, "give the --out folder of a run");
    refuse(rnic_suite({command, scratch.path}), harness, "is not JSON");
  }
}

BOOST_AUTO_TEST_CASE(expectations_that_name_nothing_are_usage) {
  const Scratch scratch;
  const std::string entry =
      "entries:\n  - case: %\n    verdict: fail\n    observed: it answers\n    rule: "
      "ddp.delivery.once\n    iut: reference\n    versions: any\n    reason: known\n    date: "
      "2026-01-01\n";
  std::string text = entry;
  write(scratch / "e.yaml", text.replace(text.find('%'), 1, "ddp.no.such_case"));
  const Finished finished =
      run(in_memory({"--expectations", scratch / "e.yaml", "--out", scratch / "out"}));
  BOOST_TEST(finished.status == usage);
  BOOST_TEST(finished.err.find("no case 'ddp.no.such_case'") != std::string::npos, finished.err);
  BOOST_TEST(!fs::exists(scratch / "out"));
}

BOOST_AUTO_TEST_CASE(places_that_cannot_be_written_are_found_out_before_the_run) {
  const Scratch scratch;
  write(scratch / "file", "mine");
  refuse(in_memory({"--out", scratch / "file"}), harness, "Not a directory");
  refuse(in_memory({"--out", "/proc/out"}), harness, "cannot create folder /proc/out");
  refuse(in_memory({"--junit", "/no/such/j.xml"}), harness, "--junit: cannot write /no/such/j.xml");
  refuse(in_memory({"--junit", scratch.path}), harness, "it is a folder; name a file");
  refuse(rnic_suite({"probe", "/no/such/pics.yaml"}), harness, "cannot write /no/such/pics.yaml");
  refuse(rnic_suite({"probe", scratch.path}), harness, "it is a folder; name a file");
  refuse({self_test, "--out", "/no/such/matrix.json"}, harness, "cannot write");
  refuse({lab, "siw-vm", "--log", "/no/such/log"}, usage, "cannot write /no/such/log");
  BOOST_TEST(text_of(scratch / "file") == "mine");
}

BOOST_AUTO_TEST_CASE(a_second_run_in_the_same_folder_is_refused) {
  const Scratch scratch;
  Program first({toy, "--select", "toy.slow.waits", "--out", scratch / "out"});
  first.wait_for_file(scratch / "out");
  first.wait_for("harness.sentinel.alive.first");
  check_refusal(run({toy, "--select", "toy.verdict.pass", "--out", scratch / "out"}), harness,
                "give a different --out");
  first.signal(SIGINT);
  BOOST_TEST(first.finish().status == harness);
}

BOOST_AUTO_TEST_CASE(an_iut_that_cannot_be_had_is_status_3_and_says_where_to_look) {
  const std::string here = "127.0.0.1";
  refuse(rnic_suite({"--iut", "verbs:nosuch0", "--address", here}), harness,
         "`" + suite_program + " doctor --iut verbs:nosuch0 --address 127.0.0.1`");
  refuse(rnic_suite({"probe", "--iut", "verbs:nosuch0", "--address", here}), harness,
         "rnic-agent: ");
  refuse(rnic_suite({"--iut", "agent:/no/such/agent", "--address", here}), harness,
         "cannot run /no/such/agent");
  refuse(rnic_suite({"--iut", "agent:true", "--address", here}), harness,
         "the agent ended with exit status 0");
  refuse(rnic_suite({"--iut", "agent:echo hello", "--address", here}), harness, "is not JSON");
  refuse(rnic_suite({"--iut", "verbs:a", "--address", "dut"}), usage, "'dut' is not an address");
  refuse(rnic_suite({"--iut", "verbs:a", "--address", "fe80::1"}), usage,
         "'fe80::1' is a link-local address: name this host's interface");
  refuse(rnic_suite({"--iut", "verbs:a", "--address", "fe80::1%nosuch0"}), harness,
         "this host has no interface 'nosuch0'");
  refuse(rnic_suite({"--iut", "verbs:a", "--address", here, "--capture-interface", "nosuch0"}),
         harness, "no interface 'nosuch0'");
  refuse({agent, "--driver", "verbs", "--device", "nosuch0"}, harness, "device");
}

BOOST_AUTO_TEST_CASE(a_capture_that_sees_nothing_ends_the_run) {
  const Scratch scratch;
  const std::string host =
      "ip link set lo up && ip link add wrong0 type veth peer other0 && ip link set wrong0 up && "
      "ip link set other0 up && "
      "exec \"$@\"";
  const Finished finished =
      run({"unshare", "-rn", "sh", "-c", host, "sh", suite_program, "--iut",
           "agent:" + agent + " --driver reference", "--address", "127.0.0.1", "--select",
           "mpa.crc.*", "--capture-interface", "wrong0", "--out", scratch / "out"});
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(
      finished.err.find("the capture on wrong0 sees nothing of the connections to the IUT") !=
          std::string::npos,
      finished.err);
}

BOOST_AUTO_TEST_CASE(no_route_to_the_dut) {
  refuse({"unshare", "-rn", suite_program, "--iut", "agent:" + agent + " --driver reference",
          "--address", "192.0.2.7"},
         harness, "no route to the IUT at 192.0.2.7");
}

// A cable without a host at its other end: what was judged until then is kept.
BOOST_AUTO_TEST_CASE(a_dut_that_does_not_answer) {
  const Scratch scratch;
  const std::string script =
      "ip link add t0 type veth peer name t1 && ip addr add 192.0.2.1/24 dev t0 && "
      "ip link set t0 up && ip link set t1 up && ip link set lo up && "
      "echo 1 > /proc/sys/net/ipv4/ip_nonlocal_bind && exec \"$@\"";
  const Finished finished =
      run({"unshare", "-rn", "sh", "-c", script, "sh", suite_program, "--iut",
           "agent:" + agent + " --driver reference --address 192.0.2.7", "--address", "192.0.2.7",
           "--select", "ddp.tagged_validation.*", "--out", scratch / "out"});
  BOOST_TEST(finished.status == harness);
  const Words lines = lines_of(finished.err);
  BOOST_REQUIRE(!lines.empty());
  BOOST_TEST(lines.back().find("the IUT does not work: ") != std::string::npos, finished.err);
  BOOST_TEST(lines.back().find("cannot connect to the IUT at 192.0.2.7") != std::string::npos,
             finished.err);
  BOOST_TEST(lines.back().find("`" + suite_program + " doctor --iut ") != std::string::npos,
             finished.err);
  const Json results = results_in(scratch / "out");
  BOOST_TEST(results["run"]["complete"] == false);
  BOOST_TEST(results["run"]["ending"] == "aborted");
  BOOST_TEST(results["cases"].size() == 1u);  // the sentinel: no case was tried for nothing
  BOOST_TEST(text_of(scratch / "out/junit.xml").find("harness.sentinel") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_an_answer_not_an_end) {
  const base::FileDescriptor taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BOOST_REQUIRE(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  BOOST_REQUIRE(::listen(taken.get(), 1) == 0);
  BOOST_REQUIRE(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Finished finished =
      run({agent, "--driver", "reference"},
          {.input = R"({"number":1,"type":"listen","listener":1,"address":"127.0.0.1","port":)" +
                    port + "}\n" + R"({"number":2,"type":"reset"})" + "\n"});
  BOOST_TEST(finished.status == 0);
  const Words lines = lines_of(finished.out);
  BOOST_REQUIRE(lines.size() == 3u);  // hello and two replies
  BOOST_TEST(Json::parse(lines[1])["outcome"] == "failed");
  BOOST_TEST(lines[1].find("127.0.0.1:" + port) != std::string::npos, lines[1]);
  BOOST_TEST(lines[1].find("Address already in use") != std::string::npos, lines[1]);
  BOOST_TEST(Json::parse(lines[2])["outcome"] == "ok");
}

BOOST_AUTO_TEST_CASE(no_emulator) {
  const Scratch bin;
  write_script(bin / "ip", "exit 0\n");
  const Program::Setting setting{.environment = {{"PATH", bin.path}}};
  refuse(rnic_suite({"--iut", "siw-vm"}), harness, "apt-get install qemu-system-x86", setting);
  refuse({lab, "siw-vm", "--", "true"}, harness, "apt-get install qemu-system-x86", setting);
}

// Whole lines on the disk, and nothing that looks like more.
BOOST_AUTO_TEST_CASE(a_full_disk_keeps_what_was_judged) {
  const Scratch scratch;
  const std::string script =
      "mount -t tmpfs -o size=$1 none \"$2\" && shift 2 && { \"$@\"; status=$?; } ; "
      "cp -r \"$DISK/out\" \"$KEPT\"; exit $status";
  for (const char* size : {"16k", "64k", "400k"}) {
    BOOST_TEST_CONTEXT(size) {
      const std::string disk = scratch / "disk", kept = scratch / (std::string("kept") + size);
      fs::create_directory(scratch / "disk");
      Words words = in_memory({"--select", "ddp.*", "--out", disk + "/out"});
      words.insert(words.begin(), {"unshare", "-rm", "sh", "-c", script, "sh", size, disk});
      const Finished finished = run(words, {.environment = {{"DISK", disk}, {"KEPT", kept}}});
      BOOST_TEST(finished.status == harness);
      BOOST_TEST(finished.err.find("No space left on device") != std::string::npos, finished.err);
      BOOST_TEST(finished.err.find("`" + suite_program + " collect " + disk + "/out`") !=
                     std::string::npos,
                 finished.err);
      for (const auto& entry : fs::directory_iterator(kept))
        BOOST_TEST(entry.path().extension() != ".new", entry.path().string());
      BOOST_TEST(!fs::exists(fs::path(kept) / "results.json"));
      // With space again it is completed: every verdict that was reported is there.
      BOOST_TEST(run(rnic_suite({"collect", kept})).status == harness);  // it is not complete
      const Json results = results_in(kept);
      BOOST_TEST(results["run"]["complete"] == false);
      for (const Json& one : results["cases"])
        BOOST_TEST(finished.err.find(one["id"].get<std::string>()) != std::string::npos);
      std::size_t told = 0;
      for (const std::string& line : lines_of(finished.err))
        told += line.starts_with("[") && line.find("] pass ") != std::string::npos;
      BOOST_TEST(results["cases"].size() == told);
    }
  }
}

BOOST_AUTO_TEST_CASE(rerun_failed_needs_a_run_with_failures) {
  const Scratch scratch;
  const std::string out = scratch / "out";
  const Words again = in_memory({"--rerun-failed", "--out", out});
  check_refusal(run(again), usage, "holds no results of a run");
  BOOST_TEST(scratch.names().empty());
  BOOST_TEST(run(in_memory({"--select", "ddp.delivery.*", "--out", out})).status == 0);
  check_refusal(run(again), usage, "none of the cases chosen failed");
}

BOOST_AUTO_TEST_CASE(reasons_that_somebody_wrote_are_not_drafted_over) {
  const Scratch scratch;
  const std::string draft = scratch / "known.yaml";
  const auto drafting = [&](const char* out) {
    return in_memory({"--select", "mpa.crc.fpdu_with_a_wrong_crc_changes_nothing", "--deviation",
                      "accepts_bad_crc", "--out", scratch / out, "--write-expectations", draft});
  };
  BOOST_TEST(run(drafting("first")).status == failure);
  BOOST_TEST(run(drafting("second")).status == failure);  // nobody has written there
  std::string text = text_of(draft);
  const std::string none = "reason: \"\"";
  BOOST_REQUIRE(text.find(none) != std::string::npos);
  text.replace(text.find(none), none.size(), "reason: \"ticket 5\"");
  write(draft, text);
  refuse(drafting("third"), usage, "has reasons already; name another file");
  BOOST_TEST(text_of(draft) == text);
  BOOST_TEST(!std::filesystem::exists(scratch / "third"));
}

BOOST_AUTO_TEST_CASE(strict_lets_a_should_fail) {
  const Scratch scratch;
  Words words = in_memory({"--rule", "rdmap.terminate.graceful-llp-teardown", "--deviation",
                           "resets_after_terminate", "--out", scratch / "out"});
  BOOST_TEST(run(words).status == 0);
  BOOST_TEST(results_in(scratch / "out")["summary"]["advisories"] > 0);
  words.back() = scratch / "strict";
  words.emplace_back("--strict");
  BOOST_TEST(run(words).status == failure);
  BOOST_TEST(!cases_with(results_in(scratch / "strict"), {"fail"}).empty());
}

BOOST_AUTO_TEST_CASE(junit_goes_to_the_file_that_is_named_too) {
  const Scratch scratch;
  const Finished finished = run(in_memory(
      {"--select", "ddp.delivery.*", "--out", scratch / "out", "--junit", scratch / "mine.xml"}));
  BOOST_TEST(finished.status == 0);
  BOOST_TEST(text_of(scratch / "mine.xml").find("ddp.delivery.") != std::string::npos);
  BOOST_TEST(text_of(scratch / "mine.xml") == text_of(scratch / "out/junit.xml"));
}

BOOST_AUTO_TEST_CASE(exit_codes_and_their_order) {
  const Scratch scratch;
  const auto entry = [](const std::string& id) {
    return "  - case: " + id +
           "\n    verdict: fail\n    observed: 'Terminate 1/1/00'\n    rule: "
           "ddp.tagged.check-end-in-range\n    iut: reference\n    versions: any\n    reason: "
           "known\n    date: 2026-01-01\n";
  };
  write(scratch / "stale.yaml", "entries:\n" + entry("toy.verdict.pass"));
  const auto status = [&](Words more) {
    more.insert(more.begin(),
                {toy, "run", "--link", "memory", "--fresh", "--out", scratch / "out"});
    return run(more).status;
  };
  const Words expected{"--expectations", scratch / "stale.yaml"};
  BOOST_TEST(status({"--select", "toy.verdict.pass"}) == 0);
  BOOST_TEST(status({"--select", "toy.verdict.fail"}) == failure);
  BOOST_TEST(status({"--select", "toy.verdict.inconclusive"}) == failure);
  BOOST_TEST(status({"--select", "toy.verdict.not_applicable"}) == harness);  // nothing judged
  BOOST_TEST(status({"--select", "toy.verdict.pass", expected[0], expected[1]}) == stale);
  BOOST_TEST(status({"--select", "toy.verdict.pass", "--select", "toy.verdict.fail", expected[0],
                     expected[1]}) == failure);
}

BOOST_AUTO_TEST_CASE(a_finding_fails_the_run_unless_it_is_known) {
  const Scratch scratch;
  const auto finding = [](const std::string& observed) {
    return "entries: []\nfindings:\n  - rule: mpa.framing.pad-sent-as-zero\n    observed: '" +
           observed +
           "'\n    case: toy.finding.in_passing\n    iut: reference\n    versions: any\n    "
           "reason: it "
           "never clears the pad\n    date: 2026-01-01\n";
  };
  write(scratch / "known.yaml", finding("pad *"));
  write(scratch / "other.yaml", finding("pad of another kind"));
  const auto finished = [&](const Words& more) {
    Words words{toy,
                "run",
                "--link",
                "memory",
                "--fresh",
                "--out",
                scratch / "out",
                "--select",
                "toy.finding.in_passing"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const Finished alone = finished({});
  BOOST_TEST(alone.status == failure);
  BOOST_TEST(alone.out.find("fail: finding:mpa.framing.pad-sent-as-zero (RFC 5044 section 4.1)") !=
                 std::string::npos,
             alone.out);
  const Json results = Json::parse(text_of(scratch / "out/results.json"));
  BOOST_TEST(results["cases"][1]["verdict"] == "pass");
  BOOST_REQUIRE(results["findings"].size() == 1U);
  BOOST_TEST(results["findings"][0]["first_case"] == "toy.finding.in_passing");
  BOOST_TEST(text_of(scratch / "out/junit.xml").find("finding:mpa.framing.pad-sent-as-zero") !=
             std::string::npos);
  BOOST_TEST(finished({"--expectations", scratch / "known.yaml"}).status == 0);
  BOOST_TEST(finished({"--expectations", scratch / "other.yaml"}).status == failure);
}

BOOST_AUTO_TEST_CASE(a_disputed_verdict_is_bundled_with_all_that_it_rests_on) {
  const Scratch scratch;
  const std::string out = scratch / "out", bundle = scratch / "bundle";
  BOOST_TEST(run({toy, "run", "--out", out, "--select", "toy.verdict.fail"}).status == failure);
  const auto dispute = [&](const std::string& subject) {
    return run({toy, "dispute", subject, "--results", out, "--out", bundle});
  };
  check_refusal(dispute("toy.verdict.fial"), usage, "did you mean");
  BOOST_TEST(!fs::exists(bundle));
  BOOST_TEST(dispute("toy.verdict.fail").status == 0);
  const std::string text = text_of(bundle + "/verdict.txt");
  for (const char* words : {"admissible: Terminate 1/1/01", "came:       Terminate 1/1/00",
                            "RFC 5041 section 7.1", "again: "})
    BOOST_TEST(text.find(words) != std::string::npos, text);
  BOOST_TEST(Json::parse(text_of(bundle + "/case.json"))["id"] == "toy.verdict.fail");
  check_refusal(dispute("toy.verdict.fail"), harness, "already exists");
  check_refusal(run({toy, "dispute", "x", "--results", scratch / "none"}), usage, "--results");
}

BOOST_AUTO_TEST_CASE(a_disputed_verdict_by_a_man_page_has_the_rulings_about_that_page) {
  const Scratch scratch;
  const std::string out = scratch / "out", bundle = scratch / "bundle";
  const std::string disputed = "verbs.endpoint_attributes.query_returns_the_access_that_was_set";
  BOOST_TEST(run({suite_program, "run", "--link", "memory", "--deviation",
                  "access_reported_in_full", "--select", disputed, "--out", out})
                 .status == failure);
  BOOST_TEST(run({suite_program, "dispute", disputed, "--results", out, "--out", bundle}).status ==
             0);
  const std::string text = text_of(bundle + "/verdict.txt");
  for (const char* words : {"man page ibv_query_qp(3)", "docs/disputes.md: | D73 |"})
    BOOST_TEST(text.find(words) != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(doctor_says_a_remedy_for_whatever_is_not_well) {
  const Scratch bin;
  const std::vector<std::pair<int, Words>> all{
      {0, {"doctor"}},  // without Jinja2 it runs, and only the reports are not made
      {harness, {"doctor", "--iut", "siw-vm"}},
      {harness, {"doctor", "--iut", "verbs:nosuch0", "--address", "192.0.2.7"}},
      {harness, {"doctor", "--iut", "agent:/no/such", "--address", "192.0.2.7"}}};
  for (const auto& [status, words] : all) {
    const Finished finished = run(rnic_suite(words), {.environment = {{"PATH", bin.path}}});
    BOOST_TEST(finished.status == status);
    BOOST_TEST(finished.err.empty(), finished.err);
    const Words lines = lines_of(finished.out);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("FAIL") && !lines[i].starts_with("warn")) continue;
      BOOST_TEST((i + 1 < lines.size() && lines[i + 1].find(" -> ") != std::string::npos),
                 lines[i]);
    }
    BOOST_TEST(finished.out.find("-> apt-get install python3 python3-jinja2") != std::string::npos,
               finished.out);
  }
}
