// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The host as the doctor sees it: programs to run, files to read, rights to try. Tests replace it.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace suite::doctor {

class System {
 public:
  virtual ~System() = default;

  /// The output of a program of this host, or one line that says
  /// why it failed. Only for programs that change nothing.
  [[nodiscard]] virtual std::expected<std::string, std::string> ask(
      const std::vector<std::string>& argv) const = 0;
  [[nodiscard]] virtual bool has_program(std::string_view name) const = 0;
  /// A file's text without the final line end; nothing if it cannot be read.
  [[nodiscard]] virtual std::optional<std::string> read(
      const std::filesystem::path& path) const = 0;
  [[nodiscard]] virtual std::vector<std::string> names_in(
      const std::filesystem::path& folder) const = 0;
  [[nodiscard]] virtual bool may_read_and_write(const std::filesystem::path& path) const = 0;

  /// Makes a lab as a run does, in a process of its own; the error says what prevents it.
  [[nodiscard]] virtual std::expected<void, std::string> try_lab(bool with_tap) const = 0;
  /// Whether this process can open a packet socket.
  [[nodiscard]] virtual bool may_capture() const = 0;
  /// How many octets this process may lock in memory.
  [[nodiscard]] virtual std::uint64_t lockable_memory() const = 0;
  /// Free octets on the file system of the path, which need not exist yet.
  [[nodiscard]] virtual std::uint64_t free_space(const std::filesystem::path& path) const = 0;
};

/// The real host.
class HostSystem final : public System {
 public:
  [[nodiscard]] std::expected<std::string, std::string> ask(
      const std::vector<std::string>& argv) const override;
  [[nodiscard]] bool has_program(std::string_view name) const override;
  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path) const override;
  [[nodiscard]] std::vector<std::string> names_in(
      const std::filesystem::path& folder) const override;
  [[nodiscard]] bool may_read_and_write(const std::filesystem::path& path) const override;
  [[nodiscard]] std::expected<void, std::string> try_lab(bool with_tap) const override;
  [[nodiscard]] bool may_capture() const override;
  [[nodiscard]] std::uint64_t lockable_memory() const override;
  [[nodiscard]] std::uint64_t free_space(const std::filesystem::path& path) const override;
};

}  // namespace suite::doctor
