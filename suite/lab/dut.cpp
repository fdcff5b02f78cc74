// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/dut.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "suite/lab/command.hpp"

namespace suite::lab {
namespace {

using Done = std::expected<void, std::string>;

constexpr const char* management_interface = "manage0";
constexpr unsigned prefix_length = 24;

/// The output of suite/lab/dut/make_root.sh.
struct Folders {
  std::filesystem::path root, ssh;
};

/// The output of a script of suite/lab/dut.
std::expected<std::string, std::string> made_by(const std::string& script,
                                                std::vector<std::string> words,
                                                const Progress& progress) {
  CommandOptions command;
  command.time_limit = std::chrono::minutes(15);  // the first time it downloads packages
  command.progress = progress;
  words.insert(words.begin(), base::shipped_file("suite/lab/dut/" + script).string());
  words.push_back(default_guest_paths().cache.string());
  return run_command(words, command);
}

std::expected<Folders, std::string> make_folders(const DutOptions& wanted,
                                                 const Progress& progress) {
  std::vector<std::string> words{"--address", Dut::management_ipv4};
  if (!wanted.package.empty()) {
    const auto debian = made_by("make_debian.sh", {"--package", wanted.package.string()}, progress);
    if (!debian) return std::unexpected(debian.error());
    words.insert(words.end(), {"--debian", debian->substr(0, debian->find('\n'))});
  }
  const auto printed = made_by("make_root.sh", words, progress);
  if (!printed) return std::unexpected(printed.error());
  Folders folders;
  std::string_view rest = *printed;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("root=")) folders.root = line.substr(line.find('=') + 1);
    if (line.starts_with("ssh=")) folders.ssh = line.substr(line.find('=') + 1);
  }
  return folders;
}

}  // namespace

std::expected<std::unique_ptr<Dut>, std::string> Dut::prepare(const DutOptions& wanted,
                                                              const Progress& progress) {
  const auto folders = make_folders(wanted, progress);
  if (!folders) return std::unexpected(folders.error());
  std::unique_ptr<Dut> dut(new Dut());
  dut->ssh_ = folders->ssh;
  GuestOptions& options = dut->options_;
  options.programs = {find_program("dash")};
  if (wanted.package.empty())
    options.programs.push_back(wanted.agent);
  else
    options.memory_mib = 1024;  // its files are there too
  options.root = folders->root;
  options.agent_channels = 1;  // for tests, independent of the networks
  options.variant = "tunable";
  options.ends_at_oops = options.ends_at_panic = false;
  options.slab_checks = false;
  options.log_file = wanted.log_file;
  dut->prepared_ = std::make_unique<Guest>(options);
  if (auto ready = dut->prepared_->prepare(progress); !ready) return std::unexpected(ready.error());
  return dut;
}

Done Dut::start() {
  auto lab = Lab::with_tap();
  if (!lab) return std::unexpected(lab.error());
  lab_.emplace(std::move(*lab));
  auto tap = lab_->add_tap(management_interface, fmt::format("10.78.0.1/{}", prefix_length));
  if (!tap) return std::unexpected(tap.error());
  management_ = std::move(*tap);
  options_.further_ipv4 = fmt::format("{}/{}", lab_->iut().further_ipv4, prefix_length);
  options_.further_ipv6 = fmt::format("{}/64", lab_->iut().further_ipv6);
  options_.management_tap = management_.get();
  options_.management_ipv4 = fmt::format("{}/{}", management_ipv4, prefix_length);
  guest_ = std::make_unique<Guest>(options_);
  guest_->prepare_as(*prepared_);
  return power_on();
}

std::string Dut::path_with_ssh() const {
  const char* path = std::getenv("PATH");
  return ssh_.string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path);
}

Done Dut::set_link(Network network, bool plugged) {
  const std::string interface =
      network == Network::data ? tester().interface : std::string(management_interface);
  CommandOptions there;
  there.network_namespace = tester().network_namespace;
  // A link that is down loses its IPv6 addresses, unless it is configured to keep them.
  const auto kept = in_network_namespace(tester().network_namespace, [&]() -> Done {
    const std::string file = "/proc/sys/net/ipv6/conf/" + interface + "/keep_addr_on_down";
    if (std::ofstream(file) << "1" << std::flush) return {};
    return std::unexpected("cannot write " + file);
  });
  if (!kept) return kept;
  const auto set = run_command({"ip", "link", "set", interface, plugged ? "up" : "down"}, there);
  if (!set) return std::unexpected(set.error());
  return {};
}

void Dut::power_off() { guest_->shutdown(std::chrono::milliseconds(0)); }

Done Dut::power_on() { return guest_->boot(lab_->tap()); }

std::expected<std::string, std::string> Dut::run(const std::string& line) {
  return run_command(guest_->agent_command(0, {"/bin/sh", "-c", line}));
}

}  // namespace suite::lab
