// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-run: starts a program with the verbs library of the reference RNIC in front of libibverbs.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fmt/ranges.h>

#include "base/out_of_memory.hpp"
#include "base/process.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "reference_rnic/rdma_core/environment.hpp"
#include "suite/verbs_run/file_capture.hpp"
#include "suite/verbs_run/options.hpp"

using namespace suite::verbs_run;
namespace fs = std::filesystem;

namespace {

constexpr const char* rsocket_library = RNIC_RSOCKET_LIBRARY;  // of the architecture built for

int fail(int code, const std::string& why) {
  base::say(stderr, "rnic-run: {}\n", why);
  return code;
}

int list(const Options& options) {
  base::say(stdout, "devices:\n  {}  the reference RNIC\n", options.device);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/class/infiniband", none))
    base::say(stdout, "  {}  of this host\n", entry.path().filename().string());
  base::say(stdout, "deviations (--deviate):\n");
  for (const auto& each : rnic::deviants::deviations())
    base::say(stdout, "  {}  {} [{}]\n", each.name, each.text, each.rule);
  base::say(stdout, "lawful variants (--lawful):\n");
  for (const auto& each : rnic::lawful::lawful_variants())
    base::say(stdout, "  {}  {} [{}]\n", each.name, each.text, each.rule);
  return 0;
}

void set_environment(const Options& options, const fs::path& library) {
  namespace own = rnic::rdma_core;
  std::vector<std::string> preloaded;
  if (options.rsocket) preloaded.emplace_back(rsocket_library);
  preloaded.push_back(library.string());
  if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0')
    preloaded.emplace_back(before);
  setenv("LD_PRELOAD", fmt::format("{}", fmt::join(preloaded, " ")).c_str(), 1);
  setenv(own::device_variable, options.device.c_str(), 1);
  setenv(own::crc_variable, options.crc ? "on" : "off", 1);
  setenv(own::peer_to_peer_variable, options.peer_to_peer ? "on" : "off", 1);
  setenv(own::deviations_variable, fmt::format("{}", fmt::join(options.deviations, ",")).c_str(),
         1);
  setenv(own::lawful_variable, fmt::format("{}", fmt::join(options.lawful, ",")).c_str(), 1);
}

[[noreturn]] void start(const Options& options, const fs::path& library) {
  set_environment(options, library);
  std::vector<char*> words;
  for (const std::string& word : options.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int code = errno;
  fail(0, options.program.front() + " cannot be started: " + std::strerror(code));
  _exit(code == ENOENT ? 127 : 126);
}

pid_t child = 0;
void pass_on(int signal) { kill(child, signal); }

/// Writes the capture while the program runs; the program's exit code.
int run_captured(const Options& options, const fs::path& library) {
  auto capture = FileCapture::open(options.interface, options.capture);
  if (!capture) return fail(2, "--capture: " + capture.error());
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  std::string error;
  auto process = base::Process::fork([&]() -> int { start(options, library); }, setup, error);
  if (!process) return fail(126, error);
  child = process->pid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, pass_on);
  std::array<pollfd, 2> watched{pollfd{process->exited(), POLLIN, 0},
                                pollfd{capture->fd(), POLLIN, 0}};
  std::expected<void, std::string> written;
  while ((watched[0].revents & POLLIN) == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    if (written) written = capture->poll();
    if (!written) watched[1].fd = -1;
  }
  const base::ExitStatus end = process->wait();
  if (written) written = capture->finish();
  if (!written) return fail(1, "--capture: " + written.error());
  return end.signal == 0 ? end.code : 128 + end.signal;
}

int run(const Options& options) {
  const fs::path library = base::built_program("reference_rnic/rdma_core/librnic_rdma_core.so");
  if (!fs::exists(library))
    return fail(2, library.string() + " is missing; build it, or install the suite");
  if (options.rsocket && !fs::exists(rsocket_library))
    return fail(2, std::string(rsocket_library) + " is missing; install librdmacm1");
  if (!options.capture.empty()) return run_captured(options, library);
  start(options, library);
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  try {
    const auto options = parse_options(argc, argv);
    if (!options) {
      if (options.error().code != 0) return fail(options.error().code, options.error().text);
      base::say(stdout, "{}", options.error().text);
      return 0;
    }
    return options->list ? list(*options) : run(*options);
  } catch (const std::exception& problem) {
    return fail(2, base::words_of(problem));
  }
}
