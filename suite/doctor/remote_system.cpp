// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/remote_system.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/lab/command.hpp"

namespace suite::doctor {

namespace {

constexpr std::chrono::seconds time_limit{15};
constexpr std::uint64_t kibibyte = 1024;

std::optional<std::string> quoted(const std::string& word) {
  if (word.find('\'') != std::string::npos) return std::nullopt;
  return "'" + word + "'";
}

// The messages of programs that cannot run another program, and the remedies.
struct Cause {
  std::string_view words, remedy;
};

constexpr std::array unreachable{
    Cause{"Host key verification failed",
          "the host is new or has another key than before: compare the key with its owner, then "
          "`ssh HOST` once by hand, or ssh-keygen -R HOST first"},
    Cause{
        "Permission denied",
        "there is no key of yours over there: ssh-copy-id HOST, or name the key in ~/.ssh/config"},
    Cause{"Could not resolve hostname",
          "give its address, or an alias of ~/.ssh/config, in place of the name"},
    Cause{"Connection refused", "start sshd there: systemctl start ssh"},
    Cause{"timed out",
          "the host is off, or a firewall is in the way: check the management network"},
    Cause{"No route to host", "check the management network: cable, address, VLAN"},
};

constexpr std::array unstartable{
    Cause{"not found",
          "install the package rnic-agent there, or put the agent into a folder of its PATH for "
          "commands by ssh"},
    Cause{"No such file",
          "install the package rnic-agent there, or put the agent into a folder of its PATH for "
          "commands by ssh"},
    Cause{"error while loading shared libraries",
          "the agent lacks a library there: apt-get install the package that has it, or build the "
          "agent on that host (docs/for-vendors.md)"},
    Cause{"GLIBC",
          "that host is older than the agent: build the agent there (docs/for-vendors.md)"},
    Cause{"Exec format error", "that host has another processor: build the agent there"},
    Cause{"Permission denied", "chmod +x the agent there"},
};

template <std::size_t Count>
std::string remedy_for(const std::string& said, const std::array<Cause, Count>& causes,
                       std::string_view otherwise) {
  for (const Cause& one : causes)
    if (said.find(one.words) != std::string::npos) return std::string(one.remedy);
  return std::string(otherwise);
}

}  // namespace

RemoteSystem RemoteSystem::by_ssh(const std::string& host) {
  return {host, {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "--", host}};
}

RemoteSystem RemoteSystem::by_prefix(std::vector<std::string> words) {
  std::string name = fmt::format("{}", fmt::join(words, " "));
  words.insert(words.end(), {"sh", "-c"});
  return {std::move(name), std::move(words)};
}

std::expected<std::string, std::string> RemoteSystem::ask(
    const std::vector<std::string>& argv) const {
  std::string line;
  for (const std::string& word : argv) {
    const auto safe = quoted(word);
    if (!safe) return std::unexpected("a quotation mark in a word for " + name_);
    line += (line.empty() ? "" : " ") + *safe;
  }
  std::vector<std::string> words = shell_;
  words.push_back(std::move(line));
  lab::CommandOptions options;
  options.time_limit = time_limit;
  return lab::run_command(words, options);
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

std::string remedy_for_ssh(const std::string& said) {
  return remedy_for(said, unreachable,
                    "make `ssh HOST true` work without a password: keys, known_hosts, an entry in "
                    "~/.ssh/config");
}

Finding examine_reach(const System& host) {
  const auto said = host.ask({"true"});
  if (said) return ok("host", "it is reached, and runs what it is asked to");
  return fail("host", said.error(), remedy_for_ssh(said.error()));
}

Finding examine_agent(const System& host, const std::string& program) {
  const auto said = host.ask({program, "--help"});
  if (said) return ok("agent", fmt::format("{} can be started there", program));
  return fail("agent", said.error(),
              remedy_for(said.error(), unstartable,
                         fmt::format("make `{} --help` work on that host", program)));
}

}  // namespace suite::doctor
