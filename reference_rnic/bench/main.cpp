// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-bench: the reference RNIC beside plain sockets, in interleaved rounds.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "base/glob.hpp"
#include "base/line_file.hpp"
#include "base/pipe.hpp"
#include "base/process.hpp"
#include "base/record/json_writer.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "reference_rnic/bench/report.hpp"
#include "reference_rnic/bench/scenarios.hpp"
#include "reference_rnic/bench/stock_programs.hpp"

using namespace rnic::bench;

namespace {

struct Options {
  unsigned rounds = 7;
  std::string only = "*", contender = "*";
  std::string json;
  bool quick = false, list = false;
};

constexpr const char* footer =
    "Each figure is a median over the rounds; ratios are to the same round's plain TCP. Of other\n"
    "programs (ib_write_bw, fi_pingpong) those take part that are installed.\n"
    "examples:\n"
    "  rnic-bench --list\n"
    "  rnic-bench --only 'latency.*' --json latency.json\n"
    "  reports/render_bench.py latency.json               plots of them: latency.html\n"
    "exit: 0 measured, 1 a contender failed, 2 usage, or the file cannot be written\n";

/// Tells libdat2 where the reference RNIC is.
std::filesystem::path write_dat_conf(const std::filesystem::path& folder) {
  const std::filesystem::path conf = folder / "dat.conf";
  std::ofstream(conf) << "rnic0 u2.0 nonthreadsafe default "
                      << base::built_program("reference_rnic/dat/librnic_dat.so").string()
                      << " rnic.1.0 \"lo 127.0.0.1\" \"\"\n";
  return conf;
}

/// Processes that do nothing but compute.
class Load {
 public:
  explicit Load(unsigned count) {
    std::string error;
    for (unsigned i = 0; i < count; ++i) {
      auto process = base::Process::fork(compute, {}, error);
      if (!process) throw std::runtime_error(error);
      processes_.push_back(std::move(*process));
    }
  }

 private:
  static int compute() {
    for (volatile unsigned count = 0;;) count = count + 1;
  }
  std::vector<base::Process> processes_;  ///< killed with this
};

class Runner {
 public:
  Runner() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rnic-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no folder for a dat.conf can be made");
    folder_ = pattern;
    dat_conf_ = write_dat_conf(folder_);
  }
  ~Runner() {
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Sample play(const Scenario& scenario, const std::string& contender) {
    Sample sample = play(scenario.work, contender);
    if (scenario.alone) sample.alone = play(*scenario.alone, contender).client;
    return sample;
  }

 private:
  struct End {
    base::Process process;
    base::FileDescriptor output;
    base::FileDescriptor stays;  ///< until this is closed, since the other end may still transfer
  };
  Sample play(const Work& work, const std::string& contender) {
    port_ = static_cast<std::uint16_t>(port_ == 0 ? 20000 + getpid() % 8000
                                                  : 20000 + (port_ - 20000 + 1) % 12000);
    if (is_stock_program(contender)) return play_stock_program(contender, work, port_);
    End server = start(work, contender, true), client = start(work, contender, false);
    Sample sample;
    // The one that fails is read first: the other may wait for it, and is ended with it.
    const bool client_first = is_first(client, server);
    if (client_first) sample.client = result_of_end(client);
    sample.server = result_of_end(server);
    if (!client_first) sample.client = result_of_end(client);
    for (End* end : {&client, &server}) {
      end->stays.close();
      need(end->process.wait().code == 0, ("the contender '" + contender + "' failed").c_str());
    }
    return sample;
  }
  End start(const Work& work, const std::string& contender, bool serves) {
    base::ProcessSetup setup;
    setup.environment.emplace_back("DAT_OVERRIDE", dat_conf_.string());
    if (contender.starts_with("verbs")) {
      setup.environment.emplace_back("LD_PRELOAD", verbs_library());
      setup.environment.emplace_back("RNIC_CRC", contender == "verbs-no-crc" ? "off" : "on");
    }
    auto pipe = base::make_pipe();
    auto stays = base::make_pipe();
    need(pipe && stays, "no pipe can be made");
    setup.output = pipe->write_end.get();
    setup.input = stays->read_end.get();
    const auto number = [](auto value) {
      return fmt::format("{}", static_cast<std::uint64_t>(value));
    };
    std::string error;
    auto process = base::Process::start(
        {"/proc/self/exe", "--worker", contender, serves ? "1" : "0", number(port_),
         number(work.workload), number(work.operation), number(work.size), number(work.connections),
         number(work.messages), number(work.batch), number(work.spins), number(work.one_processor)},
        setup, error);
    if (!process) throw std::runtime_error(error);
    return {std::move(*process), std::move(pipe->read_end), std::move(stays->write_end)};
  }
  /// Whether this end has a result, or has failed, before the other.
  static bool is_first(const End& one, const End& other) {
    std::array<pollfd, 2> outputs{pollfd{one.output.get(), POLLIN, 0},
                                  pollfd{other.output.get(), POLLIN, 0}};
    while (poll(outputs.data(), outputs.size(), -1) < 0 && errno == EINTR) {
    }
    return outputs[0].revents != 0;
  }
  static Measured result_of_end(End& end) {
    std::string text;
    std::array<char, 256> some;
    for (ssize_t count = 0; (count = read(end.output.get(), some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(count));
    need(!text.empty(), "a contender failed, see above");
    Measured measured;
    std::istringstream(text) >> measured.seconds >> measured.processor_seconds >>
        measured.connecting_seconds >> measured.resident_octets;
    return measured;
  }

  std::filesystem::path folder_, dat_conf_;
  std::uint16_t port_ = 0;
};

/// `--worker CONTENDER SERVES PORT WORK...`: one end, started by us.
int work_as(char** words) {
  const auto number = [&](int i) { return std::strtoull(words[i], nullptr, 10); };
  const Work work{.workload = static_cast<Workload>(number(3)),
                  .operation = static_cast<Operation>(number(4)),
                  .size = number(5),
                  .connections = static_cast<unsigned>(number(6)),
                  .messages = static_cast<unsigned>(number(7)),
                  .batch = static_cast<unsigned>(number(8)),
                  .spins = number(9) != 0,
                  .one_processor = number(10) != 0};
  const Played played = play(words[0], work, number(1) != 0, static_cast<std::uint16_t>(number(2)));
  const Measured& measured = played.measured;
  base::say(stdout, "{} {} {} {}\n", measured.seconds, measured.processor_seconds,
            measured.connecting_seconds, measured.resident_octets);
  std::fclose(stdout);
  std::fgetc(stdin);  // until the starter has the results of both ends
  _exit(0);           // what a library would close is of no interest
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--rounds", options.rounds,
                 "rounds, in each of which every contender has its turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--only", options.only, "glob: the scenarios to run")->capture_default_str();
  app.add_option("--contender", options.contender, "glob: those that take part")
      ->capture_default_str();
  app.add_option("--json", options.json, "file for all figures");
  app.add_flag("--quick", options.quick, "few messages: shows that it works, and measures nothing");
  app.add_flag("--list", options.list, "show the scenarios");
  app.set_version_flag("--version", base::version_text("rnic-bench"));
  app.footer(footer);
}

int complain(int code, const std::string& why) {
  base::say(stderr, "rnic-bench: {}\n", why);
  return code;
}

int list(const std::vector<Scenario>& chosen) {
  for (const Scenario& scenario : chosen)
    base::say(stdout, "{:<26} {}\n", scenario.name, fmt::join(scenario.contenders, " "));
  return 0;
}

int measure(const std::vector<Scenario>& chosen, const Options& options) {
  Report report{.rounds = options.rounds,
                .processors = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN))};
  Runner runner;
  for (const Scenario& scenario : chosen) {
    const Load load(scenario.busy);
    std::vector<std::vector<Sample>> samples(scenario.contenders.size());
    for (unsigned round = 0; round < options.rounds; ++round)
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].push_back(runner.play(scenario, scenario.contenders[i]));
    for (Result& result : results_of(scenario, samples)) {
      base::say(stdout, "{}", text_of(result));
      report.results.push_back(std::move(result));
    }
    if (options.json.empty()) continue;
    // After each scenario, so that an interruption loses none that is done.
    const auto text = base::record::one_line(base::record::to_json(report)) + "\n";
    if (const int fault = base::replace_file(options.json, text); fault != 0)
      return complain(2, fmt::format("{}: {}", options.json, std::strerror(fault)));
  }
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Measures the reference RNIC beside plain sockets, in interleaved rounds.",
               "rnic-bench");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    base::say(stdout, "{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    base::say(stdout, "{}\n", version.what());
    return 0;
  } catch (const CLI::ParseError& problem) {
    return complain(2, std::string(problem.what()) + "; see --help");
  }
  std::vector<Scenario> chosen = scenarios(options.quick);
  std::erase_if(chosen, [&](Scenario& scenario) {
    std::erase_if(scenario.contenders, [&](const std::string& name) {
      return !base::matches_glob(options.contender, name);
    });
    return scenario.contenders.empty() || !base::matches_glob(options.only, scenario.name);
  });
  if (chosen.empty())
    return complain(2,
                    fmt::format("no scenario matches '{}' with a contender '{}'; --list shows them",
                                options.only, options.contender));
  return options.list ? list(chosen) : measure(chosen, options);
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  try {
    if (argc == 13 && std::string(argv[1]) == "--worker") return work_as(argv + 2);
    return run(argc, argv);
  } catch (const std::exception& problem) {
    return complain(1, problem.what());
  }
}
