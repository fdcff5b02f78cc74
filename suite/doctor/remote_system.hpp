// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Another host as the doctor sees it: examined through ssh, or through any command that runs a
// program there, with arguments quoted so that a shell there does not interpret them.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/finding.hpp"
#include "suite/doctor/system.hpp"

namespace suite::doctor {

class RemoteSystem final : public System {
 public:
  /// A host that ssh reaches without a password: [USER@]HOST, or an alias of ~/.ssh/config.
  [[nodiscard]] static RemoteSystem by_ssh(const std::string& host);
  /// A host, namespace or container that a program is started in by putting these words before it:
  /// `ip netns exec dut`.
  [[nodiscard]] static RemoteSystem by_prefix(std::vector<std::string> words);

  /// How its host is named in messages.
  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] std::expected<std::string, std::string> ask(
      const std::vector<std::string>& argv) const override;
  [[nodiscard]] bool has_program(std::string_view name) const override;
  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path) const override;
  [[nodiscard]] std::vector<std::string> names_in(
      const std::filesystem::path& folder) const override;
  [[nodiscard]] bool may_read_and_write(const std::filesystem::path& path) const override;
  [[nodiscard]] std::expected<void, std::string> try_lab(bool with_tap) const override;
  [[nodiscard]] bool may_capture() const override { return false; }
  [[nodiscard]] std::uint64_t lockable_memory() const override;
  [[nodiscard]] std::uint64_t free_space(const std::filesystem::path&) const override { return 0; }

 private:
  RemoteSystem(std::string name, std::vector<std::string> shell)
      : name_(std::move(name)), shell_(std::move(shell)) {}

  std::string name_;
  std::vector<std::string> shell_;  ///< a line for a shell on that host follows these words
};

/// The remedy, from the message of ssh when it could not run a program.
[[nodiscard]] std::string remedy_for_ssh(const std::string& said);
/// Whether the host runs a program at all.
[[nodiscard]] Finding examine_reach(const System& host);
/// Whether an agent of the suite can be started there, found by its --help.
[[nodiscard]] Finding examine_agent(const System& host, const std::string& program);

}  // namespace suite::doctor
