// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/guest_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace suite::runner {

void add_guest_options(CLI::App& app, Options& o) {
  app.add_flag(
      "--slab-checks", o.slab_checks,
      "siw-vm: let the guest's kernel look for memory errors; it stops at each one, and cases that "
      "run at the same time are then repeated");
  app.add_option("--kernel-source", o.kernel_source,
                 "siw-vm: build the guest's kernel, and siw, from this Linux source tree");
  app.add_flag("--kernel-checks", o.kernel_checks,
               "build it with KASAN, lockdep and more that finds errors of memory and locking")
      ->needs("--kernel-source");
}

std::optional<std::string> fault_of_guest(const Options& o) {
  if (!o.kernel_source.empty() && !o.choice.in_guest())
    return fmt::format("--kernel-source does not go with --iut {}, which runs in no guest", o.iut);
  return std::nullopt;
}

std::vector<std::string> arguments_of_guest(const Options& o) {
  std::vector<std::string> words;
  if (o.slab_checks) words.emplace_back("--slab-checks");
  if (!o.kernel_source.empty())
    words.insert(words.end(), {"--kernel-source", o.kernel_source.string()});
  if (o.kernel_checks) words.emplace_back("--kernel-checks");
  return words;
}

}  // namespace suite::runner
