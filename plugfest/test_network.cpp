// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/test_network.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "suite/iut/agent_client.hpp"

namespace plugfest {

namespace lab = suite::lab;

std::expected<TestNetwork, std::string> TestNetwork::make(
    const Event& event, std::size_t slots, Guests guests,
    const std::function<void(const std::string&)>& tell) {
  TestNetwork network(std::move(guests));
  if (!plays_in_lab(event)) return network;
  if (auto prepared = network.guests_.prepare(tell); !prepared)
    return std::unexpected(prepared.error());
  if (auto entered = suite::lab::enter_private_namespaces(); !entered)
    return std::unexpected(entered.error());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    auto lab = suite::lab::Lab::with_veth();
    if (!lab) return std::unexpected(lab.error());
    network.labs_.push_back(std::move(*lab));
  }
  if (network.guests_.empty()) return network;
  if (auto connected = network.guests_.connect(); !connected)
    return std::unexpected(connected.error());
  return network;
}

/// In a cell with a guest; its peer may be one too.
Host TestNetwork::host_beside_guests(std::size_t participant) const {
  if (guests_.has(participant)) return {"", guests_.address(participant)};
  return {lab::namespace_path(guests_.host().network_namespace), guests_.host().ipv4};
}

CellHosts TestNetwork::hosts_for(const Event& event, std::size_t initiator, std::size_t responder,
                                 std::size_t slot) const {
  if (labs_.empty())
    return {{"", event.participants[initiator].address},
            {"", event.participants[responder].address},
            event.capture_interface,
            ""};
  for (const std::size_t guest : {initiator, responder})
    if (guests_.has(guest))
      return {host_beside_guests(initiator), host_beside_guests(responder),
              guests_.interface(guest), lab::namespace_path(guests_.host().network_namespace)};
  const lab::Lab& one = labs_[slot];
  return {{lab::namespace_path(one.tester().network_namespace), one.tester().ipv4},
          {lab::namespace_path(one.iut().network_namespace), one.iut().ipv4},
          one.tester().interface,
          lab::namespace_path(one.tester().network_namespace)};
}

std::vector<std::string> agent_command(const Event& event, std::size_t at,
                                       const std::string& address, const std::string& own_agent) {
  const Participant& participant = event.participants[at];
  if (const auto* free = std::get_if<ArgvAgent>(&participant.agent)) return free->argv;
  if (const auto* remote = std::get_if<SshAgent>(&participant.agent)) {
    std::vector<std::string> argv = suite::iut::through_ssh(remote->host);
    argv.insert(argv.end(),
                {remote->program, "--driver", participant.driver, "--address", address});
    if (!participant.device.empty()) argv.insert(argv.end(), {"--device", participant.device});
    return argv;
  }
  // As patient with a slow peer as the event is.
  std::vector<std::string> argv{own_agent,
                                "--driver",
                                "reference",
                                "--address",
                                address,
                                "--startup-timeout",
                                std::to_string(event.step_timeout.count())};
  if (const auto* local = std::get_if<LocalReference>(&participant.agent))
    for (const std::string& deviation : local->deviations)
      argv.insert(argv.end(), {"--deviation", deviation});
  return argv;
}

}  // namespace plugfest
