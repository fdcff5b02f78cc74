// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/report.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace suite::runner {

std::expected<void, std::string> render_reports(const Options& options) {
  std::vector<std::string> words{RNIC_PYTHON, RNIC_SOURCE_DIR "/reports/render.py",
                                 options.out.string()};
  if (!options.junit.empty()) {
    words.insert(words.end(), {"--junit", (options.out / "junit.xml").string()});
    words.insert(words.end(), {"--junit", options.junit.string()});
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (const int code = ::posix_spawnp(&pid, RNIC_PYTHON, nullptr, nullptr, argv.data(), environ);
      code != 0) {
    return std::unexpected(fmt::format("cannot run " RNIC_PYTHON " for the reports: {}",
                                       std::generic_category().message(code)));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::unexpected(fmt::format(
      "not all reports of {0} could be made; mend that, then make them by `rnic-suite collect {0}`",
      options.out.string()));
}

}  // namespace suite::runner
