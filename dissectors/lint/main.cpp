// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-lint: judges captured iWARP traffic.
#include <cstdio>
#include <exception>
#include <utility>

#include "dissectors/lint/judgement.hpp"
#include "dissectors/lint/plain_text.hpp"

using namespace dissectors::lint;

namespace {

int stop(const Stop& why) {
  if (why.code == ExitCode::clean)
    std::fputs(why.text.c_str(), stdout);
  else
    std::fprintf(stderr, "rnic-lint: %s\n", plain(why.text).c_str());
  return std::to_underlying(why.code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = parse_options(argc, argv);
    if (!options) return stop(options.error());
    const auto code = Judgement(*options).run();
    return code ? std::to_underlying(*code) : stop(code.error());
  } catch (const std::exception& problem) {
    return stop({ExitCode::unreadable, problem.what()});
  }
}
