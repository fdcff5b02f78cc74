// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Another host as the doctor sees it: asked through ssh, or through any command that runs a program
// there, by words that no shell over there takes for anything but words.
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
  std::vector<std::string> shell_;  ///< a line for a shell over there is put after these words
};

/// What helps, by what ssh said when it could not run a program.
[[nodiscard]] std::string remedy_for_ssh(const std::string& said);
/// Whether the host runs a program at all.
[[nodiscard]] Finding examine_reach(const System& host);
/// Whether an agent that the suite brings can be started there, by what its --help says.
[[nodiscard]] Finding examine_agent(const System& host, const std::string& program);

}  // namespace suite::doctor
