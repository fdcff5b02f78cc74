// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The way that vendors take, against the lab's DUT: examination, runs over ssh, addresses, frames.
#include "suite/runner/tests/hardware.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "suite/lab/command.hpp"

using namespace suite::runner::tests;
using namespace suite::runner::tests::hardware;
namespace lab = suite::lab;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(way_to_hardware, OnDut)

BOOST_AUTO_TEST_CASE(doctor_finds_each_fault_of_the_other_host) {
  harm();
  const auto finds = [](const std::string& finding, int status, const Words& iut) {
    const Finished finished = run_there(with({suite_program, "doctor"}, iut));
    BOOST_TEST(finished.status == status, finding << finished.out);
    BOOST_TEST(finished.out.find(finding) != std::string::npos, finding << finished.out);
  };
  const Words usual = iut_words({lab::Dut::data_ipv4});
  finds("no RDMA device 'siw9': there are siw0", harness_fault,
        {"--iut", "verbs:siw9", "--host", "ssh:root@dut", "--address", lab::Dut::data_ipv4});
  finds("10.77.0.9 is no address of that host", harness_fault, iut_words({"10.77.0.9"}));
  finds(fmt::format("{} is on eth1, but siw0 is on eth0", lab::Dut::management_ipv4), harness_fault,
        iut_words({lab::Dut::management_ipv4}));
  finds("not found", harness_fault, with(usual, {"--agent-path", "/opt/no-agent"}));
  for (const int octets : {1400, 9000}) {
    checked(dut().run(fmt::format("/bin/ip link set eth0 mtu {}", octets)));
    finds(fmt::format("MTU {}", octets), 0, usual);
  }
  checked(dut().run("/bin/ip link set eth0 down"));
  finds(fmt::format("eth0 of {} is down", lab::Dut::data_ipv4), harness_fault, usual);
}

BOOST_AUTO_TEST_CASE(the_wrong_capture_interface_is_noticed_at_once) {
  const Run run;
  const Finished finished = run_there(with(run.words(), {"--capture-interface", "manage0"}));
  BOOST_TEST(finished.status == harness_fault);
  BOOST_TEST(finished.err.find("the capture on manage0 sees nothing") != std::string::npos,
             finished.err);
}

BOOST_AUTO_TEST_CASE(probe_asks_the_wire_for_what_no_api_reports) {
  const Finished finished = run_there(with({suite_program, "probe"}, iut_words()));
  BOOST_TEST(finished.status == 0, finished.err);
  BOOST_TEST(finished.out.find("\n  enhanced_startup: true\n") != std::string::npos, finished.out);
  BOOST_TEST(finished.out.find("\n  peer_to_peer: true\n") != std::string::npos, finished.out);
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

namespace {

// Case and verdict.
std::map<std::string, std::string> verdicts_in(const Json& results) {
  std::map<std::string, std::string> all;
  for (const Json& one : results["cases"]) all[one["id"]] = one["verdict"];
  return all;
}

// The same implementation in the guest that runs make for themselves, without ssh.
std::map<std::string, std::string> verdicts_in_guest(const Scratch& scratch) {
  const std::string out = scratch / "guest";
  const auto program = start({suite_program, "run", "--iut", "siw-vm", "--out", out});
  program->allow(60min);
  BOOST_TEST(program->finish().status != harness_fault);
  return verdicts_in(Json::parse(text_of(fs::path(out) / "results.json")));
}

}  // namespace

// The whole suite, with the PICS that `probe` writes. Cases that panic the kernel of soft-iWARP are
// among them: the host is reset, and the run goes on. All that is judged in the guest is judged on
// this host.
BOOST_AUTO_TEST_CASE(the_whole_suite_is_judged_by_the_issues_of_this_device) {
  harm();
  Run run(resets_and_kernel_log());
  run.select = {};
  const std::string pics = run.scratch / "pics.yaml";
  const Finished probed = run_there(
      with(with({suite_program, "probe"}, run.iut), {"--pixit", run.scratch / "pixit.yaml", pics}));
  BOOST_REQUIRE_MESSAGE(probed.status == 0, probed.err);
  const auto program = start(with(run.words(), {"--pics", pics}));
  program->allow(60min);
  const Finished finished = check_whole(*program, run);
  BOOST_TEST(finished.out.find("reset of the IUT's host at ") != std::string::npos, finished.out);
  check_nobody_left();
  const auto here = verdicts_in(run.results()), in_guest = verdicts_in_guest(run.scratch);
  for (const auto& [id, verdict] : in_guest) {
    // Of the guests, there are two.
    if (verdict == "not_applicable" || id.starts_with("harness.sentinel.")) continue;
    const auto found = here.find(id);
    BOOST_TEST((found != here.end() && found->second != "not_applicable"), id);
  }
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

BOOST_AUTO_TEST_SUITE_END()
