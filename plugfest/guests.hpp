// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The participants that are soft-iWARP of a Linux kernel: each is a guest, and all are on one
// network with a host of ours. What their kernels log while a cell is played belongs to that cell.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/verdict.hpp"
#include "suite/lab/guest_kernel_log.hpp"
#include "suite/lab/namespaces.hpp"
#include "suite/lab/siw_guest.hpp"

namespace plugfest {

class Guests {
 public:
  /// The guests of the event; their kernel logs are kept in `folder`, unless that is empty. Nothing
  /// runs yet.
  Guests(const Event& event, const std::filesystem::path& folder, const std::string& agent);

  [[nodiscard]] bool empty() const { return guests_.empty(); }
  [[nodiscard]] bool has(std::size_t participant) const { return guests_.contains(participant); }

  /// Downloads and compiles what is missing: needs the host's own network and user.
  [[nodiscard]] std::expected<void, std::string> prepare(
      const std::function<void(const std::string&)>& tell);
  /// Makes the wire, in namespaces of the run's own.
  [[nodiscard]] std::expected<void, std::string> connect();

  /// Whether the participant's guest, which is in no cell, is not up; starts to boot it if
  /// necessary. Guests boot at the same time while others play. This and bring_up() must be called
  /// by the thread that lives longest: a guest ends with the thread that booted it.
  [[nodiscard]] bool away(std::size_t participant);
  /// Waits until the guest of the participant is up, if it has one.
  void bring_up(std::size_t participant);
  /// Why the participant cannot play now; empty: it can.
  [[nodiscard]] std::string trouble(std::size_t participant) const;
  /// Adds to the outcome what the kernels of the cell's guests have logged since it began, and
  /// whether they crashed.
  void look_back(const Cell& cell, Outcome& outcome);

  /// The host of ours on which the guests' peers run, unless they are guests themselves.
  [[nodiscard]] const suite::lab::LabHost& host() const { return bridge_->host(); }
  [[nodiscard]] const std::string& address(std::size_t participant) const;
  /// The interface in the host's namespace that sees everything that this guest sends and receives.
  [[nodiscard]] std::string interface(std::size_t participant) const;
  /// Starts its agent, with soft-iWARP in its usual configuration.
  [[nodiscard]] std::vector<std::string> agent_command(const Participant& one,
                                                       std::size_t participant) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct One {
    std::string name, address;
    std::size_t place = 0;  ///< on the bridge
    std::unique_ptr<suite::lab::Guest> guest;
    std::optional<suite::lab::GuestKernelLog> kernel_log;
    std::optional<Clock::time_point> starting;  ///< since when it boots
    int failed_boots = 0;                       ///< in a row
    std::string trouble;

    /// Neither up nor booting, and booting may still be tried.
    [[nodiscard]] bool wants_boot();
    void start(int tap);
    void await(std::chrono::milliseconds time_limit);
    void came_up(const std::expected<void, std::string>& booted);
  };
  std::string complaints(One& one, bool agent_may_hang);

  std::map<std::size_t, One> guests_;  ///< by participant
  std::optional<suite::lab::Bridge> bridge_;
};

}  // namespace plugfest
