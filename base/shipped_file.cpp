// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/shipped_file.hpp"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace base {

namespace fs = std::filesystem;

namespace {

// A folder without which the suite judges wrongly although nothing else fails: known issues.
constexpr const char* telling_folder = "suite/expectations";

// Looked up once: in a mount namespace that the program enters later, the link may lead out of a
// chroot in which it was started.
const ShippedPlaces& places_of_this_program() {
  static const ShippedPlaces places = [] {
    std::error_code error;
    return places_around(fs::read_symlink("/proc/self/exe", error));
  }();
  return places;
}

fs::path prefix_of(const ShippedPlaces& places) {
  return places.program.parent_path().parent_path();
}

fs::path share_of(const ShippedPlaces& places) { return prefix_of(places) / "share/rnic-suite"; }

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// If neither exists, messages name the place where an installation has the file.
bool is_installed(const ShippedPlaces& places) {
  return is_folder(share_of(places)) || !is_folder(places.sources);
}

// The first line of a file; empty if there is none.
std::string first_line(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

// How this program was started: the first word of its command line.
std::string first_word() {
  std::ifstream stream("/proc/self/cmdline");
  std::string word;
  std::getline(stream, word, '\0');
  return word;
}

}  // namespace

ShippedPlaces places_around(const fs::path& program) {
  ShippedPlaces places{.sources = {}, .build = {}, .program = program};
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    places.sources = first_line(folder / "source_folder.txt");
    places.build = folder;
    if (!places.sources.empty()) return places;
  }
  places.build.clear();
  return places;
}

fs::path shipped_file(std::string_view path) {
  return shipped_file(path, places_of_this_program());
}

fs::path shipped_file(std::string_view path, const ShippedPlaces& places) {
  return (is_installed(places) ? share_of(places) : places.sources) / path;
}

fs::path built_file(std::string_view path) { return built_file(path, places_of_this_program()); }

fs::path built_file(std::string_view path, const ShippedPlaces& places) {
  return (is_installed(places) ? share_of(places) : places.build) / path;
}

fs::path built_program(std::string_view path) {
  return built_program(path, places_of_this_program());
}

fs::path built_program(std::string_view path, const ShippedPlaces& places) {
  if (!is_installed(places)) return places.build / path;
  const fs::path name = fs::path(path).filename();
  fs::path own = prefix_of(places) / "lib/rnic-suite" / name;
  return is_there(own) ? own : prefix_of(places) / "bin" / name;
}

std::optional<std::string> shipped_files_fault() {
  return shipped_files_fault(places_of_this_program());
}

std::optional<std::string> shipped_files_fault(const ShippedPlaces& places) {
  if (is_folder(shipped_file(telling_folder, places))) return std::nullopt;
  const std::string also =
      places.sources.empty() ? "" : fmt::format(" nor in {}", places.sources.string());
  return fmt::format(
      "the suite's own files (known issues, PICS, report templates) are not in {}{}: "
      "install the suite anew, or move its whole prefix together",
      share_of(places).string(), also);
}

std::string typed_command() { return first_word(); }

std::string typed_command(std::string_view path) {
  return typed_command(path, first_word(), places_of_this_program());
}

std::string typed_command(std::string_view path, const std::string& started_as,
                          const ShippedPlaces& places) {
  const fs::path name = fs::path(path).filename();
  const fs::path typed = started_as;
  if (!started_as.contains('/')) return name.string();  // the shell found it in its PATH
  const fs::path beside = typed.parent_path() / name;
  if (is_there(beside)) return beside.string();
  return built_program(path, places).string();
}

}  // namespace base
