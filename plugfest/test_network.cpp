// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/test_network.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/lab/dat_conf.hpp"

namespace plugfest {

namespace lab = suite::lab;

namespace {

bool is_through_dat(const Participant& one) {
  return std::holds_alternative<LocalReference>(one.agent) && one.driver != "verbs";
}

/// Of the provider at this address, in our dat.conf.
std::string provider_name(const std::string& address) { return "rnic_" + address; }

CapturePlace here(const std::string& interface, const lab::LabHost& host) {
  return {.interface = interface,
          .host = {},
          .network_namespace = lab::namespace_path(host.network_namespace)};
}

}  // namespace

std::expected<TestNetwork, std::string> TestNetwork::make(
    const Event& event, std::size_t slots, Guests guests,
    const std::function<void(const std::string&)>& tell) {
  TestNetwork network(std::move(guests));
  const auto described = [&]() -> std::expected<TestNetwork, std::string> {
    if (auto done = network.describe_providers(event); !done) return std::unexpected(done.error());
    return std::move(network);
  };
  if (!plays_in_lab(event)) return described();
  if (auto prepared = network.guests_.prepare(tell); !prepared)
    return std::unexpected(prepared.error());
  if (auto entered = suite::lab::enter_private_namespaces(); !entered)
    return std::unexpected(entered.error());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    auto lab = suite::lab::Lab::with_veth();
    if (!lab) return std::unexpected(lab.error());
    network.labs_.push_back(std::move(*lab));
  }
  if (network.guests_.empty()) return described();
  if (auto connected = network.guests_.connect(); !connected)
    return std::unexpected(connected.error());
  return described();
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
            event.captures};
  for (const std::size_t guest : {initiator, responder})
    if (guests_.has(guest))
      return {host_beside_guests(initiator),
              host_beside_guests(responder),
              {here(guests_.interface(guest), guests_.host())}};
  const lab::Lab& one = labs_[slot];
  return {{lab::namespace_path(one.tester().network_namespace), one.tester().ipv4},
          {lab::namespace_path(one.iut().network_namespace), one.iut().ipv4},
          {here(one.tester().interface, one.tester())}};
}

/// A provider learns its address from dat.conf: a line for each address that a reference may have,
/// in a file of this process's memory.
std::expected<void, std::string> TestNetwork::describe_providers(const Event& event) {
  std::set<std::string> addresses;
  for (std::size_t at = 0; at < event.participants.size(); ++at) {
    const Participant& one = event.participants[at];
    if (!is_through_dat(one)) continue;
    if (!guests_.empty()) addresses.insert(host_beside_guests(at).address);
    for (const lab::Lab& each : labs_) addresses.insert({each.tester().ipv4, each.iut().ipv4});
    if (labs_.empty()) addresses.insert(one.address);
  }
  if (addresses.empty()) return {};
  std::string lines;
  for (const std::string& address : addresses) {
    const auto conf = lab::own_dat_conf(provider_name(address), address);
    if (!conf) return std::unexpected(conf.error());
    lines += *conf;
  }
  dat_conf_ = base::FileDescriptor(::memfd_create("dat.conf", MFD_CLOEXEC));
  if (!dat_conf_ ||
      ::write(dat_conf_.get(), lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()))
    return std::unexpected(fmt::format("a dat.conf in memory: {}", std::strerror(errno)));
  return {};
}

std::vector<std::string> TestNetwork::agent_command(const Event& event, std::size_t at,
                                                    const std::string& address,
                                                    const std::string& own_agent) const {
  const Participant& participant = event.participants[at];
  if (guests_.has(at)) return guests_.agent_command(participant, at);
  if (!is_through_dat(participant)) return plugfest::agent_command(event, at, address, own_agent);
  std::vector<std::string> argv{
      "env", fmt::format("DAT_OVERRIDE=/proc/{}/fd/{}", ::getpid(), dat_conf_.get())};
  argv.insert(argv.end(), {own_agent, "--driver", "dat", "--ia", provider_name(address)});
  argv.insert(argv.end(), {"--claim", "enhanced_startup"});  // no call of DAT reports it
  if (participant.driver == "dat_sockets") argv.emplace_back("--sockets");
  return argv;
}

std::vector<std::string> agent_command(const Event& event, std::size_t at,
                                       const std::string& address, const std::string& own_agent) {
  const Participant& participant = event.participants[at];
  if (const auto* free = std::get_if<ArgvAgent>(&participant.agent)) return free->argv;
  if (const auto* caller = std::get_if<TlsAgent>(&participant.agent))
    return {base::built_program("suite/iut/rnic-await-agent").string(),
            "--listen",
            caller->listen,
            "--peer",
            caller->name,
            "--certificate",
            event.tls.certificate,
            "--key",
            event.tls.key,
            "--ca",
            event.tls.authority};
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
