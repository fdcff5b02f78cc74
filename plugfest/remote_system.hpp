// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Another host as the doctor sees it: asked through ssh, by words that no shell over there takes for
// anything but words.
#pragma once

#include <memory>

#include "plugfest/event.hpp"
#include "suite/doctor/system.hpp"

namespace plugfest {

class RemoteSystem final : public suite::doctor::System {
 public:
  explicit RemoteSystem(std::string host) : host_(std::move(host)) {}

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
  std::string host_;
};

/// The host of a participant; nothing where only its agent is known.
[[nodiscard]] std::unique_ptr<suite::doctor::System> system_of(const Participant& one);

}  // namespace plugfest
