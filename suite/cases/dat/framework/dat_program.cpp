// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-dat-cases: runs one case of the DAT API in this process and writes its results, one JSON
// object per line (dat_line.hpp).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/line_file.hpp"
#include "base/record/json_writer.hpp"
#include "base/version.hpp"
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_line.hpp"
#include "suite/cases/dat/framework/dat_peer.hpp"
#include "suite/cases/dat/framework/dat_session.hpp"

namespace suite::cases::dat {

namespace {

constexpr int exit_usage = 2, exit_gone = 3;

class LineReport final : public DatReport {
 public:
  explicit LineReport(int fd) : fd_(fd) {}

  void expectation(const ExpectationRecord& made) override { write({.expectation = made}); }
  void step(std::string_view text) override { write({.step = std::string(text)}); }
  void row_ended(const RowOutcome& row) override { write({.row = row}); }
  void deadline(std::chrono::milliseconds deadline) { write({.deadline = deadline.count()}); }
  void end(const CaseStop& how) {
    write({.end = DatEnd{.verdict = how.verdict, .reason = how.reason}});
  }

 private:
  // Unbuffered: a crash right after it loses nothing. If this fails, there is no reader.
  void write(const DatLine& line) const {
    if (base::write_all(fd_, base::record::one_line(base::record::to_json(line)) + '\n') != 0)
      ::_exit(exit_gone);
  }

  int fd_;
};

int list() {
  for (const DatCase& one : all_dat_cases())
    fmt::print("{}  ({})  [{}]\n", one.row.id, fmt::join(one.calls, ", "),
               fmt::join(one.row.rules, ", "));
  return 0;
}

/// How long this process took to get here; zero if the kernel does not report it.
std::chrono::milliseconds time_to_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  // The 22nd field of all, the second being the name: when it began, in clock ticks since boot.
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  long ticks = 0;
  timespec now{};
  if (!(fields >> ticks) || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return {};
  const long began = ticks * 1000 / ::sysconf(_SC_CLK_TCK);
  return std::chrono::milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1'000'000 - began);
}

/// On a host on which a process takes long to start, the case gets that much more time.
std::chrono::milliseconds deadline_for(const DatCase& one, const DatTarget& target) {
  constexpr int starts = 2;
  const auto least = std::max<std::chrono::nanoseconds>(one.row.deadline, starts * time_to_start());
  return std::chrono::duration_cast<std::chrono::milliseconds>(least * target.deadline_scale);
}

CaseStop run_body(const DatCase& one, LineReport& report, const DatTarget& target) {
  DatContext context{one, report, target};
  try {
    one.run(context);
    return {.verdict = Verdict::pass, .reason = {}};
  } catch (const CaseStop& stop) {
    return stop;
  } catch (const std::exception& fault) {
    return {.verdict = Verdict::error,
            .reason = fmt::format("fault of the harness: {}", fault.what())};
  }
}

/// Libraries of vendors write to standard output: from here on it is a copy of standard error.
int take_standard_output() {
  const int words = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return words;
}

int run_one(const DatCase& one, const DatTarget& target) {
  const int words = take_standard_output();
  LineReport report(words);
  const auto deadline = deadline_for(one, target);
  report.deadline(deadline);
  report_endings(words, deadline);
  report.end(run_body(one, report, target));
  // What a provider does in its destructors is not part of the case.
  ::_exit(0);
}

/// The session of this id, or the one that is on standard input; nothing after a complaint.
std::optional<std::string> session_to_play(const std::string& id, bool given) {
  std::string line;
  if (given) std::getline(std::cin, line);
  auto session = given && line.empty() ? std::nullopt : session_text(id, line);
  if (!session)
    fmt::print(stderr, "rnic-dat-cases: {}\n",
               given ? "standard input has no session" : fmt::format("'{}' is no session", id));
  return session;
}

int run_whole_session(const std::string& id, bool given, const DatTarget& target) {
  const auto session = session_to_play(id, given);
  if (!session) return exit_usage;
  run_session(id, *session, target, take_standard_output());
  return 0;
}

int run_of_table(const std::string& id, const DatTarget& target) {
  for (const DatCase& one : all_dat_cases())
    if (one.row.id == id) return run_one(one, target);
  fmt::print(stderr, "rnic-dat-cases: there is no case '{}'; --list shows them\n", id);
  return exit_usage;
}

int play_session(const std::string& id, bool given, const DatTarget& target) {
  const auto session = session_to_play(id, given);
  if (!session) return exit_usage;
  DatCase one = session_case(id);
  one.run = session_body(*session);
  return run_one(one, target);
}

}  // namespace

}  // namespace suite::cases::dat

int main(int argc, char** argv) {
  using namespace suite::cases::dat;
  CLI::App app{
      "Runs one case of the DAT API against a provider; rnic-suite does this for every case."};
  app.footer(
      "examples:\n"
      "  rnic-dat-cases --list\n"
      "  rnic-dat-cases --run dat.pz.free_of_no_handle --ia rnic0\n"
      "exit: 0 the case ended, and its last line says how; 2 usage; otherwise it crashed");
  std::string id, role, session;
  DatTarget target;
  bool listed = false, given = false;
  app.add_flag("--list", listed, "the cases, the calls that they judge, and the rules");
  app.add_option("--run", id, "the case to run, or soak.dat.SEED: a random session");
  app.add_option("--play", session,
                 "the random session to play in this process, which is not shortened");
  app.add_flag("--session", given,
               "what the session consists of is read from standard input, a line of JSON");
  app.add_option("--serve", role, "be the second process of a case")
      ->check(CLI::IsMember({"accept", "hold", "register"}));
  app.add_option("--ia", target.ia, "the provider's name in dat.conf (see DAT_OVERRIDE)");
  app.add_option("--address", target.address,
                 "the address of the IA, if it is not the one that the IA reports");
  app.add_option("--deadline-scale", target.deadline_scale, "multiplies deadlines")
      ->check(CLI::PositiveNumber);
  app.set_version_flag("--version", base::version_text("rnic-dat-cases"));
  CLI11_PARSE(app, argc, argv);
  if (listed) return list();
  if (!id.empty() && !target.ia.empty())
    return given || seed_of_session(id) ? run_whole_session(id, given, target)
                                        : run_of_table(id, target);
  if (!session.empty() && !target.ia.empty()) return play_session(session, given, target);
  if (!role.empty() && !target.ia.empty()) return serve(target, role);
  fmt::print(stderr, "rnic-dat-cases: --list, or --run, --play or --serve with --ia; see --help\n");
  return exit_usage;
}
