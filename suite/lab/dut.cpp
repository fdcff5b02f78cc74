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

std::expected<Folders, std::string> make_folders() {
  const GuestPaths paths = default_guest_paths();
  CommandOptions command;
  command.time_limit = std::chrono::minutes(5);  // the first time it downloads packages
  const auto printed = run_command({base::shipped_file("suite/lab/dut/make_root.sh").string(),
                                    "--address", Dut::management_ipv4, paths.cache.string()},
                                   command);
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

std::expected<std::unique_ptr<Dut>, std::string> Dut::prepare(const std::filesystem::path& agent,
                                                              const std::filesystem::path& log_file,
                                                              const Progress& progress) {
  const auto folders = make_folders();
  if (!folders) return std::unexpected(folders.error());
  std::unique_ptr<Dut> dut(new Dut());
  dut->ssh_ = folders->ssh;
  GuestOptions& options = dut->options_;
  options.programs = {agent, find_program("dash")};
  options.root = folders->root;
  options.agent_channels = 1;  // for tests, independent of the networks
  options.variant = "tunable";
  options.ends_at_oops = options.ends_at_panic = false;
  options.slab_checks = false;
  options.log_file = log_file;
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
