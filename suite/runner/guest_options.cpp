// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/guest_options.hpp"

#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace suite::runner {

void add_guest_options(CLI::App& app, Options& o) {
  app.add_flag(
      "--slab-checks", o.slab_checks,
      "siw-vm: let the guest's kernel look for memory errors; it stops at each one, and cases that "
      "run at the same time are then repeated");
  CLI::Option* series =
      app.add_option("--series", o.series,
                     "siw-vm: the guest's kernel is Debian's newest of this series: 6.1 (if the "
                     "option is not given) or 6.12")
          ->check(CLI::IsMember({"6.1", "6.12"}));
  app.add_option("--kernel-source", o.kernel_source,
                 "siw-vm: build the guest's kernel, and siw, from this Linux source tree")
      ->excludes(series);
  app.add_flag("--kernel-checks", o.kernel_checks,
               "build it with KASAN, lockdep, kmemleak and more that finds errors of memory and "
               "locking")
      ->needs("--kernel-source");
  app.add_flag("--kernel-drivers", o.kernel_drivers,
               "compile the drivers of iWARP hardware of that tree too (cxgb4, irdma); the report "
               "names their modules")
      ->needs("--kernel-source");
  CLI::Option* image = app.add_option(
      "--kernel", o.kernel_image,
      "siw-vm: the guest's kernel is this bzImage, which is built already; --modules has the rest");
  CLI::Option* modules = app.add_option(
      "--modules", o.kernel_modules,
      "its modules, siw among them: what `make modules_install INSTALL_MOD_PATH=DIR` has made");
  image->needs(modules)->excludes("--kernel-source")->excludes(series);
  modules->needs(image);
}

std::optional<std::string> fault_of_guest(const Options& o) {
  if (o.choice.over_roce && !o.kernel_source.empty())
    return "--kernel-source: a kernel that is built for the guest has no rdma_rxe; use one of "
           "Debian's, or --kernel with --modules";
  if (o.choice.in_guest()) return std::nullopt;
  for (const auto& [option, given] : {std::pair{"--series", !o.series.empty()},
                                      std::pair{"--kernel-source", !o.kernel_source.empty()},
                                      std::pair{"--kernel", !o.kernel_image.empty()}})
    if (given)
      return fmt::format("{} does not go with --iut {}, which runs in no guest", option, o.iut);
  return std::nullopt;
}

std::vector<std::string> arguments_of_guest(const Options& o) {
  std::vector<std::string> words;
  if (o.slab_checks) words.emplace_back("--slab-checks");
  if (!o.series.empty()) words.insert(words.end(), {"--series", o.series});
  if (!o.kernel_source.empty())
    words.insert(words.end(), {"--kernel-source", o.kernel_source.string()});
  if (o.kernel_checks) words.emplace_back("--kernel-checks");
  if (o.kernel_drivers) words.emplace_back("--kernel-drivers");
  if (!o.kernel_image.empty())
    words.insert(words.end(),
                 {"--kernel", o.kernel_image.string(), "--modules", o.kernel_modules.string()});
  return words;
}

}  // namespace suite::runner
