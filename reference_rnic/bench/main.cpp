// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-bench: the reference RNIC beside plain sockets, in interleaved rounds.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/glob.hpp"
#include "base/pipe.hpp"
#include "base/process.hpp"
#include "base/record/json_writer.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "reference_rnic/bench/report.hpp"
#include "reference_rnic/bench/scenarios.hpp"

using namespace rnic::bench;

namespace {

struct Options {
  unsigned rounds = 7;
  std::string only = "*";
  std::string json;
  bool quick = false, list = false;
};

constexpr const char* usage =
    "usage: rnic-bench [--rounds N] [--only GLOB] [--json FILE] [--quick] [--list]\n"
    "  --rounds N   rounds, in each of which every contender has its turn (7)\n"
    "  --only GLOB  scenarios to run; --list shows them\n"
    "  --json FILE  where all figures are written\n"
    "  --quick      few messages: shows that it works, and measures nothing\n";

/// Tells libdat2 where the reference RNIC is.
std::filesystem::path write_dat_conf(const std::filesystem::path& folder) {
  const std::filesystem::path conf = folder / "dat.conf";
  std::ofstream(conf) << "rnic0 u2.0 nonthreadsafe default "
                      << base::built_program("reference_rnic/dat/librnic_dat.so").string()
                      << " rnic.1.0 \"lo 127.0.0.1\" \"\"\n";
  return conf;
}

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
    port_ = static_cast<std::uint16_t>(port_ == 0 ? 20000 + getpid() % 8000
                                                  : 20000 + (port_ - 20000 + 1) % 12000);
    End server = start(scenario, contender, true), client = start(scenario, contender, false);
    const Sample sample{.client = result_of_end(client), .server = result_of_end(server)};
    for (End* end : {&client, &server}) {
      end->stays.close();
      need(end->process.wait().code == 0, ("the contender '" + contender + "' failed").c_str());
    }
    return sample;
  }

 private:
  struct End {
    base::Process process;
    base::FileDescriptor output;
    base::FileDescriptor stays;  ///< until this is closed, since the other end may still transfer
  };
  End start(const Scenario& scenario, const std::string& contender, bool serves) {
    const Work& work = scenario.work;
    base::ProcessSetup setup;
    setup.environment.emplace_back("DAT_OVERRIDE", dat_conf_.string());
    if (contender == "verbs")
      setup.environment.emplace_back(
          "LD_PRELOAD",
          base::built_program("reference_rnic/rdma_core/librnic_rdma_core.so").string());
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
         number(work.messages), number(work.spins), number(work.one_processor)},
        setup, error);
    if (!process) throw std::runtime_error(error);
    return {std::move(*process), std::move(pipe->read_end), std::move(stays->write_end)};
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
                  .spins = number(8) != 0,
                  .one_processor = number(9) != 0};
  const Played played = play(words[0], work, number(1) != 0, static_cast<std::uint16_t>(number(2)));
  const Measured& measured = played.measured;
  base::say(stdout, "{} {} {} {}\n", measured.seconds, measured.processor_seconds,
            measured.connecting_seconds, measured.resident_octets);
  std::fclose(stdout);
  std::fgetc(stdin);  // until the starter has the results of both ends
  _exit(0);           // what a library would close is of no interest
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--only") {
      options.only = value();
    } else if (word == "--json") {
      options.json = value();
    } else if (word == "--rounds") {
      const std::string text = value();
      const auto [end, fault] =
          std::from_chars(text.data(), text.data() + text.size(), options.rounds);
      if (fault != std::errc() || end != text.data() + text.size() || options.rounds == 0)
        return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

int run(const Options& options) {
  Report report{.rounds = options.rounds,
                .processors = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN))};
  Runner runner;
  for (const Scenario& scenario : scenarios(options.quick)) {
    if (!base::matches_glob(options.only, scenario.name)) continue;
    if (options.list) {
      base::say(stdout, "{}\n", scenario.name);
      continue;
    }
    std::vector<std::vector<Sample>> samples(scenario.contenders.size());
    for (unsigned round = 0; round < options.rounds; ++round)
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].push_back(runner.play(scenario, scenario.contenders[i]));
    report.results.push_back(result_of(scenario, samples));
    base::say(stdout, "{}", text_of(report.results.back()));
  }
  if (options.list) return 0;
  if (report.results.empty()) {
    base::say(stderr, "rnic-bench: no scenario matches '{}'; --list shows them\n", options.only);
    return 2;
  }
  if (options.json.empty()) return 0;
  std::ofstream file(options.json);
  file << base::record::one_line(base::record::to_json(report)) << '\n';
  if (file.flush()) return 0;
  base::say(stderr, "rnic-bench: {} cannot be written\n", options.json);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  try {
    if (argc == 12 && std::string(argv[1]) == "--worker") return work_as(argv + 2);
    const auto options = parse(argc, argv);
    if (!options) {
      base::say(stderr, usage);
      return 2;
    }
    return run(*options);
  } catch (const std::exception& problem) {
    base::say(stderr, "rnic-bench: {}\n", problem.what());
    return 1;
  }
}
