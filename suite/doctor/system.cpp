// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/system.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/file_descriptor.hpp"
#include "base/pipe.hpp"
#include "base/process.hpp"
#include "suite/lab/command.hpp"
#include "suite/lab/namespaces.hpp"

namespace suite::doctor {

std::expected<std::string, std::string> HostSystem::ask(
    const std::vector<std::string>& argv) const {
  lab::CommandOptions options;
  options.time_limit = std::chrono::seconds(8);
  return lab::run_command(argv, options);
}

bool HostSystem::has_program(std::string_view name) const {
  return !lab::find_program(name).empty();
}

std::optional<std::string> HostSystem::read(const std::filesystem::path& path) const {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<std::string> HostSystem::names_in(const std::filesystem::path& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

bool HostSystem::may_read_and_write(const std::filesystem::path& path) const {
  return ::access(path.c_str(), R_OK | W_OK) == 0;
}

std::expected<void, std::string> HostSystem::try_lab(bool with_tap) const {
  auto words = base::make_pipe();
  if (!words) return std::unexpected("no pipe");
  const auto attempt = [&] {
    std::string why;
    if (const auto entered = lab::enter_private_namespaces(); !entered) {
      why = entered.error();
    } else if (const auto made = with_tap ? lab::Lab::with_tap() : lab::Lab::with_veth(); !made) {
      why = made.error();
    }
    (void)!::write(words->write_end.get(), why.data(), why.size());
    return why.empty() ? 0 : 1;
  };
  base::ProcessSetup setup;
  setup.dies_with_us = false;
  std::string error;
  auto process = base::Process::fork(attempt, setup, error);
  if (!process) return std::unexpected("no new process");
  words->write_end.close();
  std::string why;
  std::array<char, 1024> chunk{};
  for (ssize_t count = 0; (count = ::read(words->read_end.get(), chunk.data(), chunk.size())) > 0;)
    why.append(chunk.data(), static_cast<std::size_t>(count));
  if (process->wait().good()) return {};
  return std::unexpected(why.empty() ? "the trial died" : why);
}

bool HostSystem::may_capture() const {
  return base::FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)).get() >= 0;
}

std::uint64_t HostSystem::lockable_memory() const {
  rlimit limit{};
  // Root is not bound by the limit.
  if (::geteuid() == 0 || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_cur;
}

std::uint64_t HostSystem::free_space(const std::filesystem::path& path) const {
  std::error_code error;
  std::filesystem::path existing = path;
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  const auto space = std::filesystem::space(existing, error);
  return error ? 0 : space.available;
}

}  // namespace suite::doctor
