// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-lint: judges captured iWARP traffic.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "base/out_of_memory.hpp"
#include "base/standard_streams.hpp"
#include "dissectors/lint/judgement.hpp"
#include "dissectors/lint/plain_text.hpp"

using namespace dissectors::lint;

namespace {

int stop(const Stop& why) {
  if (why.code != ExitCode::clean) {
    base::say(stderr, "rnic-lint: {}\n", plain(why.text));
    return std::to_underlying(why.code);
  }
  base::say(stdout, why.text);
  const auto fault = base::unwritten_output();
  return fault ? stop({ExitCode::unreadable, *fault}) : std::to_underlying(why.code);
}

// Captures are mapped.
void say_if_the_capture_shrinks() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    constexpr std::string_view text =
        "rnic-lint: the capture became shorter, or its disk failed, while it was read; copy it "
        "first\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(std::to_underlying(ExitCode::unreadable));
  };
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  say_if_the_capture_shrinks();
  try {
    const auto options = parse_options(argc, argv);
    if (!options) return stop(options.error());
    const auto code = Judgement(*options).run();
    return code ? std::to_underlying(*code) : stop(code.error());
  } catch (const std::exception& problem) {
    return stop({ExitCode::unreadable, base::words_of(problem)});
  }
}
