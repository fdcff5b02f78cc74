// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Examines the hosts before a run: what would prevent it or weaken its evidence, and the remedy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/doctor/finding.hpp"
#include "suite/doctor/system.hpp"

namespace suite::doctor {

/// What the run would use.
struct Request {
  enum class Iut : std::uint8_t {
    reference,  ///< in namespaces of ours
    siw_vm,     ///< the guest, on a network of ours
    device,     ///< an RDMA device of this host
    remote,     ///< an agent on another host, or one that is reached by a command
  } iut = Iut::reference;
  std::string device;                    ///< its RDMA name, e.g. cxgb4_0, if that is known
  std::vector<std::string> agent;        ///< for `remote`: the argv that reaches the agent
  std::string dut_agent = "rnic-agent";  ///< the agent's program on the IUT's host
  std::vector<std::string> addresses;    ///< of the IUT, if it is not in a lab of ours
  std::string capture_interface;         ///< empty: that of the route to the first address
  bool capture = true;
  std::filesystem::path guest_cache;  ///< for `siw_vm`
  /// Why the suite's own files (known issues, report templates) cannot be used, if they cannot.
  std::optional<std::string> files_fault;
  /// The command that starts rnic-lab, for people.
  std::string lab_command = "rnic-lab";
};

/// All findings, in the order of the checks. `dut`: the host of a remote IUT, if programs can be
/// started there; it is examined as well. Changes nothing on the hosts and takes a few seconds at most.
[[nodiscard]] std::vector<Finding> examine(const Request& request, const System& system,
                                           const System* dut = nullptr);

}  // namespace suite::doctor
