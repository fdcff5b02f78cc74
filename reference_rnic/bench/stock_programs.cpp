// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/bench/stock_programs.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/pipe.hpp"
#include "base/process.hpp"
#include "base/shipped_file.hpp"

namespace rnic::bench {
namespace {

using Words = std::vector<std::string>;

struct StockProgram {
  const char* name;
  bool on_reference;  ///< with the verbs library
  Words (*words)(const Work&, bool serves, std::uint16_t port);
  /// Seconds of the transfer, from the words of the line of results.
  double (*seconds)(const Work&, const Words&);
};

Words write_bw(const Work& work, bool serves, std::uint16_t port) {
  Words words{"ib_write_bw",
              "-R",
              "-F",
              "-s",
              std::to_string(work.size),
              "-n",
              std::to_string(work.messages),
              "-p",
              std::to_string(port)};
  if (!serves) words.emplace_back("127.0.0.1");
  return words;
}

Words fi_pingpong(const Work& work, bool serves, std::uint16_t port) {
  Words words{"fi_pingpong",
              "-p",
              "tcp",
              "-e",
              "msg",
              "-S",
              std::to_string(work.size),
              "-I",
              std::to_string(work.messages),
              serves ? "-B" : "-P",
              std::to_string(port)};
  if (!serves) words.emplace_back("127.0.0.1");
  return words;
}

const std::vector<StockProgram>& table() {
  static const std::vector<StockProgram> all{
      // Its last column: millions of messages a second.
      {"ib_write_bw", true, write_bw,
       [](const Work& work, const Words& words) {
         return work.messages / (std::stod(words.back()) * 1e6);
       }},
      // Its last columns: MB/s, microseconds of one transfer, millions of transfers a second.
      {"fi_pingpong", false, fi_pingpong,
       [](const Work& work, const Words& words) {
         return std::stod(words.at(words.size() - 2)) * 2e-6 * work.messages;
       }},
  };
  return all;
}

const StockProgram* find(const std::string& contender) {
  for (const StockProgram& each : table())
    if (contender == each.name) return &each;
  return nullptr;
}

/// Words of the last line that begins with a number.
Words line_of_results(const std::string& output) {
  Words found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line);
    Words words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.size() >= 5 && words.front().front() >= '0' && words.front().front() <= '9')
      found = std::move(words);
  }
  return found;
}

struct Running {
  base::Process process;
  base::FileDescriptor output;
  [[nodiscard]] std::string rest() const {
    std::string text;
    std::array<char, 4096> some;
    for (ssize_t count = 0; (count = read(output.get(), some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(count));
    return text;
  }
};

Running start(const StockProgram& program, const Work& work, bool serves, std::uint16_t port) {
  base::ProcessSetup setup;
  if (program.on_reference) setup.environment.emplace_back("LD_PRELOAD", verbs_library());
  auto pipe = base::make_pipe();
  need(pipe.has_value(), "no pipe can be made");
  setup.output = pipe->write_end.get();
  Words words{"taskset", "-c", std::to_string(processor_of(serves, false))};
  for (std::string& word : program.words(work, serves, port)) words.push_back(std::move(word));
  std::string error;
  auto process = base::Process::start(words, setup, error);
  if (!process) throw std::runtime_error(error);
  return {std::move(*process), std::move(pipe->read_end)};
}

}  // namespace

std::string verbs_library() {
  return base::built_program("reference_rnic/rdma_core/librnic_rdma_core.so").string();
}

bool is_stock_program(const std::string& contender) { return find(contender) != nullptr; }

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

Sample play_stock_program(const std::string& contender, const Work& work, std::uint16_t port) {
  const StockProgram& program = *find(contender);
  Running server = start(program, work, true, port);
  while (!listens(port))
    need(!server.process.wait_for(std::chrono::milliseconds(1)),
         "the server of a stock program has ended");
  Running client = start(program, work, false, port);
  const std::string text = client.rest();
  static_cast<void>(server.rest());
  const bool done = client.process.wait().code == 0 && server.process.wait().code == 0;
  const Words words = line_of_results(text);
  need(done && !words.empty(), ("the program '" + contender + "' failed").c_str());
  return {.client = {.seconds = program.seconds(work, words)}, .server = {}};
}

}  // namespace rnic::bench
