// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/tests/hardware.hpp"

#include <chrono>
#include <map>

#include <fmt/format.h>

#include "suite/lab/namespaces.hpp"

namespace suite::runner::tests::hardware {

namespace {

using Network = lab::Dut::Network;

constexpr const char* kernel_log = "hardware_test.kernel.log";
bool dut_is_harmed = false;

struct TestBed {
  TestBed() {
    dut = checked(lab::Dut::prepare({.agent = RNIC_AGENT, .log_file = kernel_log}));
    checked(lab::enter_private_namespaces());
    checked(dut->start());
  }
  std::unique_ptr<lab::Dut> dut;
};

// soft-iWARP's known issues, keyed to this device.
std::string known_issues() {
  std::string text = text_of(fs::path(RNIC_SOURCE) / "suite/expectations/siw-vm.yaml");
  const std::string kind = "iut: siw-vm", device = "iut: \"siw0 *\"";
  for (std::size_t at = 0; (at = text.find(kind, at)) != std::string::npos; at += device.size())
    text.replace(at, kind.size(), device);
  return text;
}

// When each case that passed was played.
std::map<std::string, std::string> starts_of_passes(const Json& results) {
  std::map<std::string, std::string> starts;
  for (const Json& one : results["cases"])
    if (one["verdict"] == "pass" && one["layer"] != "harness") starts[one["id"]] = one["start"];
  return starts;
}

}  // namespace

lab::Dut& dut() {
  static const TestBed the_test_bed;
  return *the_test_bed.dut;
}

OnDut::OnDut() {
  if (!dut_is_harmed) return;
  dut().power_off();
  for (const Network network : {Network::management, Network::data})
    checked(dut().set_link(network, true));
  checked(dut().power_on());
  dut_is_harmed = false;
}

OnDut::~OnDut() {
  const auto test = boost::unit_test::framework::current_test_case().p_id;
  const bool passed = boost::unit_test::results_collector.results(test).passed();
  dut_is_harmed = harmed_ || !passed;
}

std::unique_ptr<Program> start(const Words& words) {
  const Program::Setting setting{.environment = {{"PATH", dut().path_with_ssh()},
                                                 {lab::Dut::reset_variable, dut().reset_pipe()}}};
  std::unique_ptr<Program> program;
  checked(lab::in_network_namespace(dut().tester().network_namespace,
                                    [&]() -> std::expected<void, std::string> {
                                      program = std::make_unique<Program>(words, setting);
                                      return {};
                                    }));
  return program;
}

Finished run_there(const Words& words) { return start(words)->finish(); }

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words iut_words(const Words& addresses) {
  Words words{"--iut", "verbs:siw0", "--host", "ssh:root@dut"};
  for (const std::string& address : addresses) words = with(words, {"--address", address});
  return words;
}

std::string resets_and_kernel_log() {
  return fmt::format(
      "outage_wait_ms: 280000\nkernel_log: [tail, -n, \"0\", -F, {}]\n"
      "reset_command: [sh, -c, 'echo system_reset >\"${}\"']\n",
      kernel_log, lab::Dut::reset_variable);
}

Run::Run(const std::string& pixit) : out(scratch / "out") {
  const lab::LabOptions usual;
  write(scratch / "known.yaml", known_issues());
  write(scratch / "pixit.yaml", fmt::format("pixit: 1\nconfigure_script: /bin/siw-configure\n"
                                            "tester_spare: 10.77.0.128/25\n"
                                            "further_address: {{ipv4: {}, ipv6: \"{}\"}}\n{}",
                                            usual.further_ipv4, usual.further_ipv6, pixit));
}

Words Run::words() const {
  return with(
      with(with({suite_program, "run"}, iut), select),
      {"--pixit", scratch / "pixit.yaml", "--expectations", scratch / "known.yaml", "--out", out});
}

Json Run::results() const { return Json::parse(text_of(fs::path(out) / "results.json")); }

void Run::check_verdicts() const {
  for (const Json& one : results()["cases"])
    BOOST_TEST((one["gate"]["result"] != "new_failure"), one["id"] << ": " << one["reason"]);
}

void Run::check_resumption() const {
  const std::size_t before = judged();
  const auto passed = starts_of_passes(results());
  const Finished finished = run_there(words());
  BOOST_TEST(finished.status == 0, finished.err);
  const Json all = results();
  BOOST_TEST(all["run"]["complete"] == true);
  BOOST_TEST(all["run"]["sessions"].size() == 2u);
  BOOST_TEST(!passed.empty());
  const auto now = starts_of_passes(all);
  for (const auto& [id, start] : passed)
    BOOST_TEST((now.contains(id) && now.at(id) == start), id << " was played again");
  BOOST_TEST_MESSAGE(fmt::format("{} of {} verdicts were kept", before, judged()));
  check_verdicts();
}

Finished check_whole(Program& program, const Run& run) {
  const Finished finished = program.finish();
  BOOST_TEST(finished.status == 0, finished.out << finished.err);
  BOOST_TEST(run.results()["run"]["complete"] == true);
  run.check_verdicts();
  return finished;
}

void check_nobody_left() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (dut().run("pidof rnic-agent cat").has_value()) {
    BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end,
                          "a run has left processes on the DUT");
  }
}

}  // namespace suite::runner::tests::hardware
