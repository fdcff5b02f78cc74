// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/remote_system.hpp"

#include <charconv>
#include <limits>
#include <sstream>

#include "suite/lab/command.hpp"

namespace plugfest {

namespace {

constexpr std::chrono::seconds time_limit{15};
constexpr std::uint64_t kibibyte = 1024;

std::optional<std::string> quoted(const std::string& word) {
  if (word.find('\'') != std::string::npos) return std::nullopt;
  return "'" + word + "'";
}

}  // namespace

std::expected<std::string, std::string> RemoteSystem::ask(
    const std::vector<std::string>& argv) const {
  std::vector<std::string> words{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5",
                                 "--",  host_};
  for (const std::string& word : argv) {
    const auto safe = quoted(word);
    if (!safe) return std::unexpected("a quotation mark in a word for " + host_);
    words.push_back(*safe);
  }
  suite::lab::CommandOptions options;
  options.time_limit = time_limit;
  return suite::lab::run_command(words, options);
}

bool RemoteSystem::has_program(std::string_view name) const {
  return ask({"command", "-v", std::string(name)}).has_value();
}

std::optional<std::string> RemoteSystem::read(const std::filesystem::path& path) const {
  auto text = ask({"cat", path.string()});
  if (!text) return std::nullopt;
  if (text->ends_with('\n')) text->pop_back();
  return *text;
}

std::vector<std::string> RemoteSystem::names_in(const std::filesystem::path& folder) const {
  std::vector<std::string> names;
  std::istringstream lines(ask({"ls", "-1", folder.string()}).value_or(""));
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

bool RemoteSystem::may_read_and_write(const std::filesystem::path& path) const {
  return ask({"test", "-r", path.string(), "-a", "-w", path.string()}).has_value();
}

std::expected<void, std::string> RemoteSystem::try_lab(bool) const {
  return std::unexpected("no lab is made on another host");
}

std::uint64_t RemoteSystem::lockable_memory() const {
  constexpr std::uint64_t boundless = std::numeric_limits<std::uint64_t>::max();
  if (ask({"id", "-u"}).value_or("") == "0\n") return boundless;  // root is not bound by the limit
  const std::string said = ask({"ulimit", "-l"}).value_or("0");
  if (said.starts_with("unlimited")) return boundless;
  std::uint64_t kibibytes = 0;
  std::from_chars(said.data(), said.data() + said.size(), kibibytes);
  return kibibytes * kibibyte;
}

std::unique_ptr<suite::doctor::System> system_of(const Participant& one) {
  if (const auto* remote = std::get_if<SshAgent>(&one.agent))
    return std::make_unique<RemoteSystem>(remote->host);
  if (std::holds_alternative<LocalReference>(one.agent))
    return std::make_unique<suite::doctor::HostSystem>();
  return nullptr;
}

}  // namespace plugfest
