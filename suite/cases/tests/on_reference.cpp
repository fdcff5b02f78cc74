// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs cases against the reference RNIC in this process: all must pass where it conforms. With a
// deviation turned on, it shows which cases see it.
#include <fmt/format.h>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/glob.hpp"
#include "base/simulated_loop.hpp"
#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/cases/framework/case.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

namespace {

using namespace suite::cases;
using namespace base;
using namespace rnic::llp;
using rnic::deviants::Deviation;
using suite::upper_tester::reference::Behaviour;

constexpr const char* usage =
    "usage: cases_on_reference [--tcp] [--strict] [--verbose] [--deviation NAME | --deviations] "
    "[--lawful "
    "NAME]... [GLOB]\n"
    "  runs the cases whose id matches GLOB (all by default) against the reference RNIC, over the "
    "in-memory link in\n"
    "  simulated time or, with --tcp, over kernel TCP on loopback\n"
    "  --strict          a SHOULD that is not kept fails\n"
    "  --deviation NAME  with this deviation turned on in the reference RNIC\n"
    "  --deviations      each deviation in turn, on the cases that judge its rule: which are seen, "
    "and which are not\n"
    "  --lawful NAME     with this lawful variant turned on in the reference RNIC; may be "
    "repeated\n"
    "example: cases_on_reference --verbose 'ddp.*'\n"
    "exit code: 0 all passed, 1 some did not, 2 wrong usage\n";

struct Options {
  bool tcp = false, strict = false, verbose = false, all_deviations = false;
  Behaviour behaviour;
  std::string glob = "*";
};

/// One IUT and one tester on a link of their own.
struct Setting {
  virtual ~Setting() = default;
  std::unique_ptr<suite::iut::Iut> iut;
  std::unique_ptr<Environment> environment;
};

struct MemorySetting final : Setting {
  const std::vector<Address> further{*Address::parse("10.77.0.3"), *Address::parse("fd77::3")};
  SimulatedLoop loop;
  MemoryFabric fabric{loop};
  std::unique_ptr<Network> tester =
      fabric.add_host(*Address::parse("10.77.0.1"), *Address::parse("fd77::1"));
  std::unique_ptr<Network> host =
      fabric.add_host(*Address::parse("10.77.0.2"), *Address::parse("fd77::2"), {}, further);
  explicit MemorySetting(const Behaviour& behaviour) {
    iut = suite::upper_tester::reference::make_reference_iut(loop, *host, behaviour);
    environment = std::make_unique<Environment>(
        Environment{loop, *tester, *iut, host->address(Family::ipv4), host->address(Family::ipv6)});
    environment->iut_further = further;
  }
  ~MemorySetting() override { iut.reset(); }
};

struct TcpSetting final : Setting {
  EpollLoop loop;
  TcpNetwork tester{loop,
                    {.namespace_fd = {},
                     .ipv4 = *Address::parse("127.0.0.1"),
                     .ipv6 = *Address::parse("::1"),
                     .max_segment = 1448,
                     .receive_buffer = {}}};
  TcpNetwork host{loop,
                  {.namespace_fd = {},
                   .ipv4 = *Address::parse("127.0.0.2"),
                   .ipv6 = *Address::parse("::1"),
                   .max_segment = 1448,
                   .receive_buffer = {}}};
  explicit TcpSetting(const Behaviour& behaviour) {
    iut = suite::upper_tester::reference::make_reference_iut(loop, host, behaviour);
    environment = std::make_unique<Environment>(
        Environment{loop, tester, *iut, host.address(Family::ipv4), host.address(Family::ipv6)});
    environment->iut_further = {*Address::parse("127.0.0.3")};
  }
  ~TcpSetting() override { iut.reset(); }
};

std::unique_ptr<Setting> make_setting(const Options& options, const Behaviour& behaviour) {
  std::unique_ptr<Setting> setting;
  if (options.tcp)
    setting = std::make_unique<TcpSetting>(behaviour);
  else
    setting = std::make_unique<MemorySetting>(behaviour);
  setting->environment->strict = options.strict || !behaviour.deviations.empty();
  return setting;
}

void print_details(const CaseOutcome& outcome) {
  for (const Step& step : outcome.exchange)
    std::printf("    %9.3f ms %s %s\n", static_cast<double>(step.at.count()) / 1e6,
                step.direction == Direction::to_iut     ? "->"
                : step.direction == Direction::from_iut ? "<-"
                                                        : "--",
                step.text.c_str());
  for (const ExpectationRecord& made : outcome.expectations)
    std::printf("    %s %s: %s\n", suite::lower_tester::name(made.judgement), made.rule.c_str(),
                made.actual.c_str());
}

// The in-memory link has no sequence numbers.
constexpr const char* over_tcp_alone = "mpa.sequence_wrap.*";

int run_all(const Options& options) {
  int ran = 0, wrong = 0;
  const auto setting = make_setting(options, options.behaviour);
  for (const Case& a_case : all_cases()) {
    if (!base::matches_glob(options.glob, a_case.id)) continue;
    const CaseOutcome outcome = run_case(a_case, *setting->environment);
    ++ran;
    // What this link cannot provoke is judged over the other one.
    const bool out_of_reach = outcome.verdict == Verdict::not_applicable &&
                              (options.tcp || base::matches_glob(over_tcp_alone, a_case.id));
    if (outcome.verdict != Verdict::pass && !out_of_reach) ++wrong;
    if (outcome.verdict != Verdict::pass || options.verbose)
      std::printf("%s %s %s\n", name(outcome.verdict), a_case.id.c_str(), outcome.reason.c_str());
    for (const ExpectationRecord& made : outcome.expectations)
      if (made.judgement != Judgement::pass)
        std::printf("  %s %s %s: %s\n", suite::lower_tester::name(made.judgement),
                    a_case.id.c_str(), made.rule.c_str(), made.actual.c_str());
    if (options.verbose) print_details(outcome);
  }
  std::printf("%d cases, %d did not pass\n", ran, wrong);
  return ran > 0 && wrong == 0 ? 0 : 1;
}

bool judges(const Case& a_case, std::string_view rule) {
  return std::find(a_case.rules.begin(), a_case.rules.end(), rule) != a_case.rules.end();
}

int run_deviations(const Options& options) {
  const std::vector<Case> table = all_cases();
  int seen = 0, missed = 0, without_case = 0;
  for (const rnic::deviants::DeviationInfo& info : rnic::deviants::deviations()) {
    std::string by;
    int tried = 0;
    for (const Case& a_case : table) {
      if (!judges(a_case, info.rule) || !by.empty()) continue;
      ++tried;
      const auto setting = make_setting(options, {.deviations = {info.deviation}});
      const CaseOutcome outcome = run_case(a_case, *setting->environment);
      for (const ExpectationRecord& made : outcome.expectations)
        if (made.judgement == Judgement::fail && made.rule == info.rule) by = a_case.id;
    }
    if (!by.empty())
      ++seen;
    else
      ++(tried > 0 ? missed : without_case);
    std::printf("%s %s (%s)%s%s\n",
                !by.empty() ? "seen"
                : tried > 0 ? "MISSED"
                            : "no case",
                std::string(info.name).c_str(), std::string(info.rule).c_str(),
                by.empty() ? "" : " by ", by.c_str());
  }
  std::printf("%d seen, %d missed, %d without a case\n", seen, missed, without_case);
  return missed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (word == "--tcp") {
      options.tcp = true;
    } else if (word == "--strict") {
      options.strict = true;
    } else if (word == "--verbose") {
      options.verbose = true;
    } else if (word == "--deviations") {
      options.all_deviations = true;
    } else if (word == "--deviation" && i + 1 < argc) {
      const auto deviation = rnic::deviants::find_deviation(argv[++i]);
      if (!deviation) {
        std::fprintf(stderr,
                     "no deviation is called '%s': see reference_rnic/deviants/deviations.def\n",
                     argv[i]);
        return 2;
      }
      options.behaviour.deviations.push_back(*deviation);
    } else if (word == "--lawful" && i + 1 < argc) {
      const auto lawful = rnic::lawful::find_lawful(argv[++i]);
      if (!lawful) {
        std::fprintf(stderr,
                     "no lawful variant is called '%s': see reference_rnic/lawful/lawful.def\n",
                     argv[i]);
        return 2;
      }
      options.behaviour.lawful.push_back(*lawful);
    } else if (word.starts_with("-")) {
      std::fprintf(stderr, "unknown option '%s'\n%s", word.c_str(), usage);
      return 2;
    } else {
      options.glob = word;
    }
  }
  return options.all_deviations ? run_deviations(options) : run_all(options);
}
