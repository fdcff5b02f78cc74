// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A device under test as a vendor has it, made by the lab: a host with soft-iWARP as its RNIC on a
// data network, reached by ssh on a management network, and with faults that a test can make.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "suite/lab/namespaces.hpp"
#include "suite/lab/siw_guest.hpp"

namespace suite::lab {

struct DutOptions {
  std::filesystem::path agent{};  ///< a program, installed there as rnic-agent
  /// In place of the agent: the host is a Debian on which this package of it is installed.
  std::filesystem::path package{};
  std::filesystem::path log_file{};  ///< the kernel's log is appended; empty: it is not
};

class Dut {
 public:
  enum class Network { management, data };

  /// Downloads, compiles and packs what is not in the cache yet, as Guest::prepare() does.
  [[nodiscard]] static std::expected<std::unique_ptr<Dut>, std::string> prepare(
      const DutOptions& wanted, const Progress& progress = {});
  /// Makes both networks and boots the host; after enter_private_namespaces().
  [[nodiscard]] std::expected<void, std::string> start();

  /// The tester's host: programs that run in its namespace reach both networks.
  [[nodiscard]] const LabHost& tester() const { return lab_->tester(); }
  /// PATH of a program that reaches the host as `ssh root@dut`.
  [[nodiscard]] std::string path_with_ssh() const;

  /// Connects the tester's end of a network, or disconnects it.
  [[nodiscard]] std::expected<void, std::string> set_link(Network network, bool plugged);
  /// The name of the environment variable by which programs know `reset_pipe()`.
  static constexpr const char* reset_variable = "RNIC_DUT_MONITOR";
  /// The host is reset by `echo system_reset` into this FIFO, also when its kernel has panicked.
  [[nodiscard]] std::string reset_pipe() const { return guest_->monitor(); }
  /// Stops the host as a power failure does.
  void power_off();
  [[nodiscard]] std::expected<void, std::string> power_on();
  /// Runs a line of shell on the host, independent of the networks; returns its output.
  [[nodiscard]] std::expected<std::string, std::string> run(const std::string& line);

  static constexpr const char* management_ipv4 = "10.78.0.2";
  static constexpr const char* data_ipv4 = "10.77.0.2";
  static constexpr const char* data_ipv6 = "fd77::2";

 private:
  Dut() = default;

  GuestOptions options_;
  std::filesystem::path ssh_;  ///< the folder of the program ssh
  std::unique_ptr<Guest> prepared_;
  std::optional<Lab> lab_;
  base::FileDescriptor management_;  ///< the tap device
  std::unique_ptr<Guest> guest_;
};

}  // namespace suite::lab
