// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-lint: judges captured iWARP traffic.
#include <cstdio>
#include <exception>
#include <utility>

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

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  try {
    const auto options = parse_options(argc, argv);
    if (!options) return stop(options.error());
    const auto code = Judgement(*options).run();
    return code ? std::to_underlying(*code) : stop(code.error());
  } catch (const std::exception& problem) {
    return stop({ExitCode::unreadable, problem.what()});
  }
}
