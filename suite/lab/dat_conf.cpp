// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/dat_conf.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/shipped_file.hpp"

namespace suite::lab {

std::expected<std::string, std::string> own_dat_conf(const std::string& ia,
                                                     const std::string& address) {
  const std::filesystem::path library = base::built_program("reference_rnic/dat/librnic_dat.so");
  std::error_code error;
  if (!std::filesystem::exists(library, error))
    return std::unexpected(
        fmt::format("{} does not exist: install the package librnic-dat2; or, in a source tree, "
                    "libdapl-dev, and build the target rnic_dat",
                    library.string()));
  std::string lines;
  for (const char* safety : {"nonthreadsafe", "threadsafe"})
    lines += fmt::format("{} u2.0 {} default {} rnic.1.0 \"{}\" \"\"\n", ia, safety,
                         library.string(), address);
  return lines;
}

}  // namespace suite::lab
