// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Examines this host before a run: what would prevent it or weaken its evidence, and the remedy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/doctor/system.hpp"

namespace suite::doctor {

enum class Severity : std::uint8_t {
  ok,
  warning,  ///< a run can start, but some of its evidence or speed suffers
  failure,  ///< a run cannot start
};

struct Finding {
  Severity severity;
  std::string check;   ///< a short stable name: "route", "offloads", ...
  std::string what;    ///< what was found
  std::string remedy;  ///< what to do, often a command; empty if nothing is wrong
};

/// What the run would use.
struct Request {
  enum class Iut : std::uint8_t {
    reference,  ///< in namespaces of ours
    siw_vm,     ///< the guest, on a wire of ours
    device,     ///< an RDMA device or DAT provider of this host
    remote,     ///< an agent on another host
  } iut = Iut::reference;
  std::string device;                  ///< of `device`: its RDMA name, e.g. cxgb4_0
  std::vector<std::string> agent;      ///< of `remote`: the argv that reaches the agent
  std::vector<std::string> addresses;  ///< of the IUT, where it is not in a lab of ours
  std::string capture_interface;       ///< empty: the one that the route to the first address takes
  bool capture = true;
  std::filesystem::path guest_cache;  ///< of `siw_vm`
  /// Why the suite's own files (known issues, report templates) cannot be used, if they cannot.
  std::optional<std::string> files_fault;
  /// How a person starts rnic-lab.
  std::string lab_command = "rnic-lab";
};

/// All findings, in the order of the checks. Changes nothing
/// on the host and takes a few seconds at most.
[[nodiscard]] std::vector<Finding> examine(const Request& request, const System& system);

/// The worst of them.
[[nodiscard]] Severity worst(const std::vector<Finding>& findings);

/// For people: one line per finding, and the remedy on the next.
[[nodiscard]] std::string report_text(const std::vector<Finding>& findings, bool colour);

}  // namespace suite::doctor
