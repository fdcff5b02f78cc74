// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the tests of the way to hardware share: the lab's DUT, and runs against it.
#pragma once

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <expected>
#include <memory>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "suite/lab/dut.hpp"
#include "suite/runner/tests/program.hpp"

namespace suite::runner::tests::hardware {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline const std::string suite_program = RNIC_SUITE;
constexpr int harness_fault = 3;  ///< an exit code
/// What a run says as soon as cases are judged.
constexpr const char* first_passes = "pass           ddp.";

template <typename Value>
Value checked(std::expected<Value, std::string> result) {
  BOOST_REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error()));
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

/// The one DUT of this program.
lab::Dut& dut();

/// The fixture of a test, for which the DUT works: it boots anew after a test that failed, and after
/// one that has harmed it.
class OnDut {
 public:
  OnDut();
  ~OnDut();
  OnDut(const OnDut&) = delete;
  OnDut& operator=(const OnDut&) = delete;

 protected:
  /// The test leaves the DUT other than it was.
  void harm() { harmed_ = true; }

 private:
  bool harmed_ = false;
};

/// Starts a program as the tester's host does.
std::unique_ptr<Program> start(const Words& words);
Finished run_there(const Words& words);

Words with(Words words, const Words& more);
Words iut_words(const Words& addresses = {lab::Dut::data_ipv4, lab::Dut::data_ipv6});

/// Deadlines and commands of a PIXIT: the host is reset when it does not answer, and its kernel's
/// log comes from its console.
std::string resets_and_kernel_log();

/// A run against the DUT, in a folder of its own.
struct Run {
  explicit Run(const std::string& pixit = "outage_wait_ms: 20000\n");
  [[nodiscard]] Words words() const;
  [[nodiscard]] Json results() const;
  [[nodiscard]] std::size_t judged() const { return results()["cases"].size(); }
  /// An outage is no verdict: only what soft-iWARP is known for differs from pass.
  void check_verdicts() const;
  /// The same command plays what has no verdict, and no case twice.
  void check_resumption() const;

  Scratch scratch;
  std::string out;
  Words iut = iut_words();
  Words select{"--select", "ddp.*"};  ///< enough to be interrupted
};

/// Waits for its end: nothing is new, and nothing is left out.
Finished check_whole(Program& program, const Run& run);
/// Waits for the end of all that runs started on the DUT: agents, and readers of the kernel's log.
void check_nobody_left();

}  // namespace suite::runner::tests::hardware
