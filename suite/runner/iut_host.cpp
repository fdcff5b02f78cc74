// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/iut_host.hpp"

#include "suite/doctor/device_ports.hpp"

namespace suite::runner {

using doctor::RemoteSystem;

std::optional<RemoteSystem> other_host_of(const IutChoice& choice) {
  if (!choice.host || choice.over_tls()) return std::nullopt;
  return choice.host->ssh.empty() ? RemoteSystem::by_prefix(choice.host->prefix)
                                  : RemoteSystem::by_ssh(choice.host->ssh);
}

std::vector<results::PortRecord> ports_of_iut(const IutChoice& choice) {
  if (choice.kind != IutChoice::Kind::verbs || choice.over_tls()) return {};
  const doctor::HostSystem here;
  const auto other = other_host_of(choice);
  const doctor::System& host = other ? static_cast<const doctor::System&>(*other) : here;
  return doctor::ports_of(choice.device, host);
}

}  // namespace suite::runner
