// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The way that vendors take, against the lab's DUT: examination, run and resumption over ssh, and
// what the run says and keeps when network, host, sshd, agents, disk or the run itself fail.
#define BOOST_TEST_MODULE hardware
#include <boost/test/unit_test.hpp>

#include <sys/mount.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "suite/lab/command.hpp"
#include "suite/lab/dut.hpp"
#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;
namespace lab = suite::lab;
using Json = nlohmann::json;
using Network = lab::Dut::Network;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr int harness = 3;
const std::string suite_program = RNIC_SUITE;

template <typename Value>
Value checked(std::expected<Value, std::string> result) {
  BOOST_REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error()));
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

// The one DUT of this program. Each test leaves it as it was.
struct TestBed {
  TestBed() {
    dut = checked(lab::Dut::prepare(RNIC_AGENT, "hardware_test.kernel.log"));
    checked(lab::enter_private_namespaces());
    checked(dut->start());
  }
  static TestBed& instance() {
    static TestBed the_test_bed;
    return the_test_bed;
  }
  std::unique_ptr<lab::Dut> dut;
};

lab::Dut& dut() { return *TestBed::instance().dut; }

// Starts a program as the tester's host does.
std::unique_ptr<Program> start(const Words& words) {
  std::unique_ptr<Program> program;
  checked(lab::in_network_namespace(
      dut().tester().network_namespace, [&]() -> std::expected<void, std::string> {
        program = std::make_unique<Program>(
            words, Program::Setting{.environment = {{"PATH", dut().path_with_ssh()}}});
        return {};
      }));
  return program;
}
Finished run_there(const Words& words) { return start(words)->finish(); }

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
Words iut_words(const Words& addresses = {lab::Dut::data_ipv4, lab::Dut::data_ipv6}) {
  Words words{"--iut", "verbs:siw0", "--host", "ssh:root@dut"};
  for (const std::string& address : addresses) words = with(words, {"--address", address});
  return words;
}

// soft-iWARP's known issues, keyed to this device.
std::string known_issues() {
  std::string text = text_of(fs::path(RNIC_SOURCE) / "suite/expectations/siw-vm.yaml");
  const std::string kind = "iut: siw-vm", device = "iut: \"siw0 *\"";
  for (std::size_t at = 0; (at = text.find(kind, at)) != std::string::npos; at += device.size())
    text.replace(at, kind.size(), device);
  return text;
}

// A run against the DUT, in a folder of its own.
struct Run {
  explicit Run(const std::string& pixit = "outage_wait_ms: 20000\n") : out(scratch / "out") {
    write(scratch / "known.yaml", known_issues());
    write(scratch / "pixit.yaml",
          "pixit: 1\nconfigure_script: /bin/siw-configure\ntester_spare: 10.77.0.128/25\n" + pixit);
  }
  [[nodiscard]] Words words() const {
    return with(with(with({suite_program, "run"}, iut), select),
                {"--pixit", scratch / "pixit.yaml", "--expectations", scratch / "known.yaml",
                 "--out", out});
  }
  [[nodiscard]] Json results() const {
    return Json::parse(text_of(fs::path(out) / "results.json"));
  }

  // An outage is no verdict: only what soft-iWARP is known for differs from pass.
  void check_verdicts() const {
    for (const Json& one : results()["cases"])
      BOOST_TEST((one["gate"]["result"] != "new_failure"), one["id"] << ": " << one["reason"]);
  }
  // The same command plays what has no verdict, and no case twice.
  void check_resumption() const {
    const std::size_t before = judged();
    const Finished finished = run_there(words());
    BOOST_TEST(finished.status == 0, finished.err);
    const Json all = results();
    BOOST_TEST(all["run"]["complete"] == true);
    BOOST_TEST(all["run"]["sessions"].size() == 2u);
    BOOST_TEST(before > 0u);
    BOOST_TEST_MESSAGE(fmt::format("{} of {} verdicts were kept", before, judged()));
    check_verdicts();
  }
  [[nodiscard]] std::size_t judged() const { return results()["cases"].size(); }

  Scratch scratch;
  std::string out;
  Words iut = iut_words();
  Words select{"--select", "ddp.*"};  ///< enough to be interrupted
};

// Waits for the end of all that runs started on the DUT: agents, and readers of the kernel's log.
void check_nobody_left() {
  const auto end = steady_clock::now() + 60s;
  while (dut().run("pidof rnic-agent cat").has_value()) {
    BOOST_REQUIRE_MESSAGE(steady_clock::now() < end, "a run has left processes on the DUT");
  }
}

constexpr const char* first_passes = "pass           ddp.";
constexpr const char* silent = "the IUT has not answered since ";
constexpr const char* back = "the IUT answers again";

// What a run says of a fault that stays, and how soon.
void check_end(Program& program, const Run& run, std::chrono::seconds limit) {
  const auto begin = steady_clock::now();
  program.wait_for(silent);
  const auto said = steady_clock::now();
  BOOST_TEST((said - begin < limit));
  const Finished finished = program.finish();
  BOOST_TEST_MESSAGE(
      fmt::format("said after {:.0f} s, ended after {:.0f} s",
                  std::chrono::duration<double>(said - begin).count(),
                  std::chrono::duration<double>(steady_clock::now() - begin).count()));
  BOOST_TEST(finished.status == harness);
  const std::string last = lines_of(finished.err).back();
  BOOST_TEST(last.find(silent) != std::string::npos, last);
  BOOST_TEST(last.find("; the last case that passed is ") != std::string::npos, last);
  BOOST_TEST(finished.out.find("` continues it") != std::string::npos, finished.out);
  BOOST_TEST(run.results()["run"]["complete"] == false);
  run.check_verdicts();
}

Finished check_whole(Program& program, const Run& run) {
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == 0, finished.out << finished.err);
  BOOST_TEST(run.results()["run"]["complete"] == true);
  run.check_verdicts();
  return finished;
}

void plug_in(Network network) { checked(dut().set_link(network, true)); }
void unplug(Network network) { checked(dut().set_link(network, false)); }

using Step = std::function<void()>;

// The run waits, and goes on by itself.
void check_fault_that_passes(const Step& make, std::chrono::seconds duration, const Step& mend) {
  const Run run;
  const auto program = start(run.words());
  program->wait_for(first_passes);
  make();
  program->goes_on_for(duration);
  mend();
  check_whole(*program, run);
  check_nobody_left();
}

// The run ends, and goes on when it is started again.
void check_fault_that_stays(const Step& make, const Step& mend,
                            const std::string& pixit = "outage_wait_ms: 20000\n") {
  const Run run(pixit);
  const auto program = start(run.words());
  program->wait_for(first_passes);
  make();
  check_end(*program, run, 60s);
  mend();
  run.check_resumption();
  check_nobody_left();
}

}  // namespace

BOOST_AUTO_TEST_CASE(doctor_finds_nothing_wrong) {
  const Finished finished = run_there(with({suite_program, "doctor"}, iut_words()));
  BOOST_TEST(finished.status == 0, finished.out);
  BOOST_TEST(finished.out.find("\nfail") == std::string::npos, finished.out);
}

BOOST_AUTO_TEST_CASE(the_wrong_capture_interface_is_noticed_at_once) {
  const Run run;
  const Finished finished = run_there(with(run.words(), {"--capture-interface", "manage0"}));
  BOOST_TEST(finished.status == harness);
  BOOST_TEST(finished.err.find("the capture on manage0 sees nothing") != std::string::npos,
             finished.err);
}

BOOST_AUTO_TEST_CASE(probe_asks_the_wire_for_what_no_api_reports) {
  const Finished finished = run_there(with({suite_program, "probe"}, iut_words()));
  BOOST_TEST(finished.status == 0, finished.err);
  BOOST_TEST(finished.out.find("\n  enhanced_startup: true\n") != std::string::npos, finished.out);
}

BOOST_AUTO_TEST_CASE(failures_are_drafted_as_known_issues) {
  Run run;
  write(run.scratch / "known.yaml", "entries: []\n");
  run.select = {"--select", "mpa.crc.fpdu_with_a_wrong_crc_changes_nothing"};
  const std::string draft = run.scratch / "draft.yaml";
  const Finished first = run_there(with(run.words(), {"--write-expectations", draft}));
  BOOST_TEST(first.status == 1, first.err);
  std::string text = text_of(draft);
  write(run.scratch / "known.yaml", text);
  const Finished incomplete = run_there(with(run.words(), {"--fresh"}));
  BOOST_TEST(incomplete.status == 2, incomplete.err);
  BOOST_TEST(incomplete.err.find("`reason` must be a text") != std::string::npos, incomplete.err);
  const std::string none = "reason: \"\"", given = "reason: \"known\"";
  for (std::size_t at = 0; (at = text.find(none, at)) != std::string::npos; at += given.size())
    text.replace(at, none.size(), given);
  write(run.scratch / "known.yaml", text);
  BOOST_TEST(run_there(with(run.words(), {"--fresh"})).status == 0);
}

// The PICS is what `probe` writes, with the claims of the configure script added.
BOOST_AUTO_TEST_CASE(a_run_over_ssh_is_judged_by_the_issues_of_this_device) {
  Run run;
  // Without those that leave the listener of soft-iWARP dead.
  run.select = {"--select", "ddp.*", "--select", "mpa.crc.*", "--select", "rdmap.terminate*"};
  const std::string pics = fs::path(RNIC_SOURCE) / "suite/iut/pics/siw.yaml";
  check_whole(*start(with(run.words(), {"--pics", pics})), run);
  check_nobody_left();
}

// ---------------------------------------------------------------- addresses and frames

// Runs these cases, and returns the results. None is left out but for what the API lacks.
Json judged_at(const Words& addresses, const Words& select) {
  Run run;
  run.iut = iut_words(addresses);
  run.select = select;
  const auto program = start(run.words());
  check_whole(*program, run);
  Json results = run.results();
  BOOST_TEST(results["cases"].size() > 0u);
  for (const Json& one : results["cases"])
    BOOST_TEST((one["verdict"] != "not_applicable" || one.contains("lack")),
               one["id"] << ": " << one["reason"]);
  return results;
}

const Words for_either_family{"--select", "ddp.tagged_validation.*", "--select", "mpa.crc.*"};

BOOST_AUTO_TEST_CASE(ipv6_is_enough) {
  const Json results = judged_at({lab::Dut::data_ipv6}, for_either_family);
  BOOST_TEST(results["run"]["iut"]["addresses"] == Json::array({lab::Dut::data_ipv6}));
}

BOOST_AUTO_TEST_CASE(link_local_addresses_are_enough) {
  const std::string said = checked(dut().run("/bin/ip -6 -o addr show dev eth0 scope link"));
  const std::size_t begin = said.find("fe80:");
  BOOST_REQUIRE(begin != std::string::npos);
  const std::string address =
      said.substr(begin, said.find('/', begin) - begin) + "%" + dut().tester().interface;
  const Finished finished = run_there(with({suite_program, "doctor"}, iut_words({address})));
  BOOST_TEST(finished.status == 0, finished.out);
  judged_at({address}, for_either_family);
}

// For each case that changes the path to the tester, it needs an address of its own.
BOOST_AUTO_TEST_CASE(addresses_to_spare_are_used) {
  judged_at({lab::Dut::data_ipv4}, {"--select", "mpa.segmentation.ulpdus_follow_a_shrinking_emss"});
}

void set_mtu(int octets) {
  checked(dut().run(fmt::format("/bin/ip link set eth0 mtu {}", octets)));
  lab::CommandOptions there;
  there.network_namespace = dut().tester().network_namespace;
  checked(lab::run_command(
      {"ip", "link", "set", dut().tester().interface, "mtu", std::to_string(octets)}, there));
}

BOOST_AUTO_TEST_CASE(jumbo_frames_need_no_warning) {
  set_mtu(9000);
  const Finished finished = run_there(with({suite_program, "doctor"}, iut_words()));
  const Json results = judged_at({lab::Dut::data_ipv4, lab::Dut::data_ipv6}, for_either_family);
  set_mtu(1500);
  BOOST_TEST(finished.status == 0, finished.out);
  BOOST_TEST(finished.out.find("9000 octets pass to the IUT") != std::string::npos, finished.out);
  BOOST_TEST(finished.out.find("warn  mtu") == std::string::npos, finished.out);
  BOOST_TEST(results["run"]["lab"]["mtu"] == 9000);
  BOOST_TEST(results["run"]["iut"]["ports"][0]["mtu"] == 9000);
}

// The driver is that of the network interface; soft-iWARP has none of its own there.
BOOST_AUTO_TEST_CASE(the_report_describes_the_port) {
  Run run;
  run.select = {"--select", "mpa.crc.fpdu_with_a_wrong_crc_changes_nothing"};
  check_whole(*start(run.words()), run);
  const Json ports = run.results()["run"]["iut"]["ports"];
  BOOST_REQUIRE(ports.size() == 1u);
  const Json& port = ports[0];
  BOOST_TEST((port["number"] == 1 && port["interface"] == "eth0" && port["mtu"] == 1500),
             port.dump());
  BOOST_TEST((port["driver"] == "virtio_net"), port.dump());
  BOOST_TEST((port["state"] == "4: ACTIVE" && port["rate"] != "" && !port["gids"].empty()),
             port.dump());
  // It cannot be switched off there, and changes no segment.
  BOOST_TEST((port["offloads"] == Json::array({"rx"})), port.dump());
  const std::string page = text_of(fs::path(run.out) / "report.html");
  BOOST_TEST(page.find("interface eth0, ") != std::string::npos);
}

// A list of one's own device says what runs alone, after all others.
BOOST_AUTO_TEST_CASE(an_isolated_case_of_this_device_runs_last) {
  Run run;
  run.select = {"--select", "ddp.tagged_validation.*"};
  const std::string first = "ddp.tagged_validation.write_beyond_the_end_is_rejected";
  std::string known = text_of(run.scratch / "known.yaml");
  const std::size_t list = known.find("\nisolated:\n") + 11;
  known.insert(list, "  - {case: " + first +
                         ", iut: \"siw0 *\", versions: any, harm: listener, date: 2026-11-23}\n");
  write(run.scratch / "known.yaml", known);
  check_whole(*start(run.words()), run);
  const Json results = run.results();
  std::string alone, last_of_others;
  for (const Json& one : results["cases"]) {
    const std::string id = one["id"], at = one["start"];
    if (id == first)
      alone = at;
    else if (id.starts_with("ddp."))
      last_of_others = std::max(last_of_others, at);
  }
  BOOST_TEST(!alone.empty());
  BOOST_TEST(alone > last_of_others);
}

// ---------------------------------------------------------------- faults

BOOST_AUTO_TEST_CASE(management_link_down_for_a_while) {
  check_fault_that_passes([] { unplug(Network::management); }, 10s,
                          [] { plug_in(Network::management); });
}

BOOST_AUTO_TEST_CASE(management_link_down_for_good) {
  check_fault_that_stays([] { unplug(Network::management); }, [] { plug_in(Network::management); });
}

BOOST_AUTO_TEST_CASE(data_link_down_for_a_while) {
  check_fault_that_passes([] { unplug(Network::data); }, 8s, [] { plug_in(Network::data); });
}

BOOST_AUTO_TEST_CASE(data_link_down_for_good) {
  check_fault_that_stays([] { unplug(Network::data); }, [] { plug_in(Network::data); });
}

BOOST_AUTO_TEST_CASE(power_lost_for_good) {
  check_fault_that_stays([] { dut().power_off(); }, [] { checked(dut().power_on()); });
}

BOOST_AUTO_TEST_CASE(power_lost_for_a_while) {
  const Run run("outage_wait_ms: 120000\n");
  const auto program = start(run.words());
  program->wait_for(first_passes);
  dut().power_off();
  program->wait_for(silent);
  checked(dut().power_on());
  program->wait_for(back);
  check_whole(*program, run);
}

BOOST_AUTO_TEST_CASE(sshd_killed) {
  check_fault_that_stays(
      [] { checked(dut().run("kill -9 $(pidof dropbear)")); },
      [] { checked(dut().run("/sbin/dropbear -r /etc/dropbear/host_key -s -j -k")); });
}

BOOST_AUTO_TEST_CASE(agents_killed) {
  check_fault_that_passes([] { checked(dut().run("kill -9 $(pidof rnic-agent)")); }, 0s, [] {});
}

BOOST_AUTO_TEST_CASE(agents_stopped) {
  const Run run("reply_deadline_ms: 5000\n");
  const auto program = start(run.words());
  program->wait_for(first_passes);
  checked(dut().run("kill -STOP $(pidof rnic-agent)"));
  check_whole(*program, run);
  checked(dut().run("kill -CONT $(pidof rnic-agent) || true"));
  check_nobody_left();
}

// The connection manager of its kernel hangs. Who calls it is in state D, and cannot be killed.
void hang() { checked(dut().run("insmod /lib/hang.ko")); }
void end_hanging() { checked(dut().run("rmmod hang")); }

BOOST_AUTO_TEST_CASE(agents_in_state_d_for_good) {
  check_fault_that_stays(hang, end_hanging, "outage_wait_ms: 20000\nreply_deadline_ms: 10000\n");
}

BOOST_AUTO_TEST_CASE(agents_in_state_d_for_a_while) {
  const Run run("outage_wait_ms: 120000\nreply_deadline_ms: 10000\n");
  const auto program = start(run.words());
  program->wait_for(first_passes);
  hang();
  program->wait_for(silent);
  end_hanging();
  program->wait_for(back);
  check_whole(*program, run);
  check_nobody_left();
}

BOOST_AUTO_TEST_CASE(power_lost_and_a_command_to_reset) {
  const Run run("outage_wait_ms: 120000\nreset_command: [touch, RESET]\n");
  std::string pixit = text_of(run.scratch / "pixit.yaml");
  write(run.scratch / "pixit.yaml", pixit.replace(pixit.find("RESET"), 5, run.scratch / "reset"));
  const auto program = start(run.words());
  program->wait_for(first_passes);
  dut().power_off();
  program->wait_for_file(run.scratch / "reset");
  checked(dut().power_on());
  check_whole(*program, run);
  const std::string note = run.results()["run"]["lab"]["note"];
  BOOST_TEST(note.find("reset at ") != std::string::npos, note);
}

// Cases that ran beside each other when the kernel oopsed run again alone; what is not seen again
// makes errors of them. It is no message that soft-iWARP is known for.
BOOST_AUTO_TEST_CASE(kernel_oops) {
  const Run run;
  const auto program = start(run.words());
  program->wait_for(first_passes);
  static_cast<void>(dut().run("insmod /lib/oops.ko"));
  const Finished finished = program->finish();
  const Json results = run.results();
  BOOST_TEST(finished.status == 1, finished.err);
  BOOST_TEST(results["run"]["complete"] == true);
  const std::string note = results["run"]["lab"]["note"];
  BOOST_TEST(note.find("the log of the IUT's kernel is followed") != std::string::npos, note);
  BOOST_TEST(text_of(fs::path(run.out) / "kernel.log").find("kernel BUG at ") != std::string::npos);
  std::size_t blamed = 0;
  for (const Json& one : results["cases"]) {
    const std::string log = one["kernel_log"];
    if (log.find("kernel BUG at ") == std::string::npos) continue;
    ++blamed;
    BOOST_TEST((one["verdict"] == "error" || one["verdict"] == "fail"), one["id"]);
  }
  BOOST_TEST(blamed > 0u);
}

BOOST_AUTO_TEST_CASE(disk_full) {
  const Run run;
  fs::create_directory(run.out);
  BOOST_REQUIRE(::mount("none", run.out.c_str(), "tmpfs", 0, "size=600k") == 0);
  const Finished finished = run_there(run.words());
  BOOST_TEST(finished.status == harness, finished.err);
  BOOST_TEST(finished.err.find("No space left on device") != std::string::npos, finished.err);
  BOOST_TEST(::umount(run.out.c_str()) == 0);
  check_nobody_left();
}

BOOST_AUTO_TEST_CASE(run_killed) {
  const Run run;
  {
    const auto program = start(run.words());
    program->wait_for(first_passes);
    program->signal(SIGKILL);
    BOOST_TEST(program->finish().status == -SIGKILL);
  }
  check_nobody_left();
  run_there({suite_program, "collect", run.out});
  run.check_resumption();
}
