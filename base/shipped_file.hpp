// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the suite's own files and programs are: in the source tree and its build folder, or below
// the prefix in which the suite is installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// What decides where the suite's files are. A program whose prefix has `share/rnic-suite` is
/// installed and uses that, even on a host with the source tree. The prefix may be moved.
struct ShippedPlaces {
  std::filesystem::path sources;  // of the build that the program is in; empty if it is in none
  std::filesystem::path build;    // its build folder
  std::filesystem::path program;  // this program
};

/// The places of a program. CMake leaves the path of the sources in the build folder: in the
/// program, it would make every build another one.
[[nodiscard]] ShippedPlaces places_around(const std::filesystem::path& program);

/// A file or folder of the source tree, by its path from there; installed it is
/// `PREFIX/share/rnic-suite/PATH`.
[[nodiscard]] std::filesystem::path shipped_file(std::string_view path);
[[nodiscard]] std::filesystem::path shipped_file(std::string_view path, const ShippedPlaces&);

/// A file that the build makes, by its path from the build folder; installed as above.
[[nodiscard]] std::filesystem::path built_file(std::string_view path);
[[nodiscard]] std::filesystem::path built_file(std::string_view path, const ShippedPlaces&);

/// A program or module of ours, by its path from the build folder; installed it is in `PREFIX/bin`
/// or `PREFIX/lib/rnic-suite`.
[[nodiscard]] std::filesystem::path built_program(std::string_view path);
[[nodiscard]] std::filesystem::path built_program(std::string_view path, const ShippedPlaces&);

/// Why the suite's files cannot be used, and what to do, in one line; nothing if they can.
[[nodiscard]] std::optional<std::string> shipped_files_fault();
[[nodiscard]] std::optional<std::string> shipped_files_fault(const ShippedPlaces&);

/// This program as a person types it: as it was started.
[[nodiscard]] std::string typed_command();

/// Another program of ours as a person types it, by its path from the build folder: found in the
/// same way as this one, next to it, or else by its whole path.
[[nodiscard]] std::string typed_command(std::string_view path);
[[nodiscard]] std::string typed_command(std::string_view path, const std::string& started_as,
                                        const ShippedPlaces&);

}  // namespace base
