// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a run on hardware says and keeps when network, host, sshd, agents, disk or the run itself
// fail.
#include <sys/mount.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <functional>

#include <fmt/format.h>

#include "suite/runner/tests/hardware.hpp"

using namespace suite::runner::tests;
using namespace suite::runner::tests::hardware;
namespace lab = suite::lab;
using Network = lab::Dut::Network;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

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
  BOOST_TEST(finished.status == harness_fault);
  const std::string last = lines_of(finished.err).back();
  BOOST_TEST(last.find(silent) != std::string::npos, last);
  BOOST_TEST(last.find("; the last case that passed is ") != std::string::npos, last);
  BOOST_TEST(finished.out.find("` continues it") != std::string::npos, finished.out);
  BOOST_TEST(run.results()["run"]["complete"] == false);
  run.check_verdicts();
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

BOOST_FIXTURE_TEST_SUITE(faults, OnDut)

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
  const Run run("outage_wait_ms: 280000\n");
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
  const Run run("outage_wait_ms: 280000\nreply_deadline_ms: 10000\n");
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
  const Run run("outage_wait_ms: 280000\nreset_command: [touch, RESET]\n");
  std::string pixit = text_of(run.scratch / "pixit.yaml");
  write(run.scratch / "pixit.yaml", pixit.replace(pixit.find("RESET"), 5, run.scratch / "reset"));
  const auto program = start(run.words());
  program->wait_for(first_passes);
  dut().power_off();
  program->wait_for_file(run.scratch / "reset");
  checked(dut().power_on());
  check_whole(*program, run);
  const std::string note = run.results()["run"]["lab"]["note"];
  BOOST_TEST(note.find("reset of the IUT's host at ") != std::string::npos, note);
}

// The kernel stands still until the run resets its host. Its last words are on the console.
BOOST_AUTO_TEST_CASE(kernel_panic) {
  const Run run(resets_and_kernel_log());
  const auto program = start(run.words());
  program->wait_for(first_passes);
  static_cast<void>(dut().run("echo c >/proc/sysrq-trigger"));
  program->wait_for(back);
  const Finished finished = program->finish();
  const Json results = run.results();
  BOOST_TEST(results["run"]["complete"] == true);
  BOOST_TEST(finished.out.find("reset of the IUT's host at ") != std::string::npos, finished.out);
  BOOST_TEST(finished.err.find("Kernel panic") != std::string::npos, finished.err);
  BOOST_TEST(finished.status == 0, finished.out);
  run.check_verdicts();
  check_nobody_left();
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
  BOOST_TEST(finished.status == harness_fault, finished.err);
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

BOOST_AUTO_TEST_SUITE_END()
