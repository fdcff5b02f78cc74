// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/preflight.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "plugfest/capture_point.hpp"
#include "plugfest/cell_runner.hpp"
#include "plugfest/run.hpp"
#include "plugfest/scenarios/scenario_run.hpp"
#include "reference_rnic/llp/tcp_socket.hpp"
#include "suite/doctor/host_path.hpp"
#include "suite/doctor/port_mapper.hpp"
#include "suite/doctor/remote_system.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/jobs/progress.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

namespace doctor = suite::doctor;
using doctor::fail;
using doctor::Finding;
using doctor::ok;
using doctor::Severity;
using doctor::warn;
using Findings = std::vector<Finding>;

constexpr std::chrono::seconds agent_patience{20}, step_patience{10};

std::string suite_command() { return base::typed_command("suite/runner/rnic-suite"); }

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

/// One participant's agent: started as a cell would start it, and asked for what every cell needs
/// first.
class AgentExamination {
 public:
  AgentExamination(const Participant& one, std::vector<std::string> command, const Host& host,
                   const Event& event)
      : one_(one), command_(std::move(command)), host_(host), event_(event) {}

  Findings all();

 private:
  void listens(AgentSide& side);
  void reaches_us(AgentSide& side);

  const Participant& one_;
  std::vector<std::string> command_;
  const Host& host_;
  const Event& event_;
  base::EpollLoop loop_;
  Findings findings_;
};

void AgentExamination::listens(AgentSide& side) {
  std::uint16_t port = 0;
  const auto stopped = stop_of([&] { port = side.listen(); });
  if (!stopped) return findings_.push_back(ok("port", fmt::format("it listens, on port {}", port)));
  findings_.push_back(fail("port", stopped->reason,
                           fmt::format("see that {} is an address of its RNIC, and that a port is "
                                       "free there: ss -ltn",
                                       side.address())));
}

/// Its RNIC connects to a listener of ours, and may ask the port mapper here before it does.
void AgentExamination::reaches_us(AgentSide& side) {
  using base::Address;
  const auto to = Address::parse(side.address());
  if (!to) return;
  const rnic::llp::SocketAddress target(to->with_port(9));
  rnic::llp::SocketAddress own;
  const int family = is_ipv6(side.address()) ? AF_INET6 : AF_INET;
  const base::FileDescriptor probe(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), target.data(), target.size) != 0 ||
      ::getsockname(probe.get(), own.data(), &own.size) != 0)
    return findings_.push_back(warn("to here",
                                    fmt::format("no route from here to {}", side.address()),
                                    "only a monitor host does not need one"));
  const std::string here = own.address().host();
  const rnic::llp::SocketAddress at(own.address().with_port(0));
  const base::FileDescriptor listener(
      ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::bind(listener.get(), at.data(), at.size) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), own.data(), &own.size) != 0)
    return;
  auto mapper = doctor::PortMapperServer::open(here, own.address().port);
  bool came = false;
  loop_.watch(listener.get(), EPOLLIN, [&](std::uint32_t) { came = true; });
  if (mapper) loop_.watch(mapper->fd(), EPOLLIN, [&](std::uint32_t) { mapper->serve(); });
  const auto stopped = stop_of([&] {
    side.connect(side.create_endpoint(), own.address());
    loop_.run_until(loop_.now() + step_patience, [&] { return came; });
  });
  const std::string why = stopped ? stopped->reason : "no connection arrives";
  loop_.unwatch(listener.get());
  if (mapper) loop_.unwatch(mapper->fd());
  const unsigned asked = mapper ? mapper->requests() : 0;
  if (!came)
    return findings_.push_back(
        warn("to here",
             fmt::format("its RNIC does not reach {}: {}{}", here, why,
                         asked > 0 ? ", although it asked the port mapper here" : ""),
             "see that the network of the RNICs is cabled and no firewall drops TCP; only a "
             "monitor host does not need it"));
  findings_.push_back(
      ok("to here", asked > 0 ? "its RNIC connects to this host, and asks the port mapper first"
                              : "its RNIC connects to this host without asking a port mapper"));
}

Findings AgentExamination::all() {
  auto client = suite::iut::AgentClient::start(loop_, agent_at(host_.network_namespace, command_),
                                               {.hello = agent_patience, .reply = step_patience});
  if (!client) {
    std::string words;
    for (const std::string& word : command_) words += (words.empty() ? "" : " ") + word;
    return {fail("agent", client.error().detail,
                 fmt::format("make this say hello (docs/porting.md; this program speaks version {} "
                             "of the protocol): {}",
                             suite::iut::protocol_version, words))};
  }
  const auto& hello = (*client)->hello();
  findings_.push_back(
      ok("agent", fmt::format("speaks version {}, driver {} {}, {}{}", hello.version, hello.driver,
                              hello.driver_version, hello.implementation,
                              hello.kernel.empty() ? "" : ", " + hello.kernel)));
  Record record{loop_, loop_.now(), loop_.now() + 3 * step_patience, step_patience};
  AgentSide side(Side::initiator, **client, host_.address, record);
  listens(side);
  if (!plays_in_lab(event_)) reaches_us(side);
  return std::move(findings_);
}

Findings examine_captures(const std::vector<CapturePlace>& places) {
  const char* nothing = "cells without a capture are inconclusive at best: give \"capture\"";
  if (places.empty()) return {warn("capture", "the event names no interface", nothing)};
  base::EpollLoop loop;
  Findings findings;
  for (const Captured& captured : CellCapture(loop, places).finish()) {
    const bool here = captured.place.find(':') == std::string::npos;
    findings.push_back(
        captured.trouble.empty()
            ? ok("capture", fmt::format("{} is captured", captured.place))
            : fail(
                  "capture", fmt::format("{}: {}", captured.place, captured.trouble),
                  here
                      ? "run as root, or setcap cap_net_raw+ep on rnic-plugfest; name an interface "
                        "that `ip link` shows and that is up"
                      : "see that ssh reaches the host without a password, that `rnic-plugfest "
                        "capture INTERFACE </dev/null` works there, and that the interface is up"));
  }
  return findings;
}

/// What a doctor on that host would look at.
doctor::Request request_for(const Participant& one, const std::vector<std::string>& peers) {
  doctor::Request request;
  const bool device = one.driver == "verbs" && !one.device.empty();
  request.iut = device ? doctor::Request::Iut::device : doctor::Request::Iut::remote;
  request.device = one.device;
  if (const auto* remote = std::get_if<SshAgent>(&one.agent)) request.agent = {remote->program};
  request.addresses = peers;
  request.capture = false;
  return request;
}

/// The host of a participant; nothing where only its agent is known.
std::unique_ptr<doctor::System> system_of(const Participant& one) {
  if (const auto* remote = std::get_if<SshAgent>(&one.agent))
    return std::make_unique<doctor::RemoteSystem>(doctor::RemoteSystem::by_ssh(remote->host));
  if (std::holds_alternative<LocalReference>(one.agent))
    return std::make_unique<doctor::HostSystem>();
  return nullptr;
}

class Preflight {
 public:
  Preflight(const Event& event, const Options& options)
      : event_(event), agent_(own_agent(options)) {}

  std::vector<Examined> all();

 private:
  void in_labs();
  void on_the_network();
  void host(std::size_t at, Findings& into);
  [[nodiscard]] std::vector<std::size_t> peers_of(std::size_t at) const;
  void agents(TestNetwork& network);

  const Event& event_;
  std::string agent_;
  std::vector<Examined> found_;  ///< as the participants, then the event
  std::vector<std::string> links_;
};

std::vector<std::size_t> Preflight::peers_of(std::size_t at) const {
  std::vector<std::size_t> peers;
  for (const Cell& cell : cells_of(event_, [](std::string_view) { return 1.0; })) {
    if (cell.initiator != at && cell.responder != at) continue;
    const std::size_t peer = cell.initiator == at ? cell.responder : cell.initiator;
    if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
  }
  return peers;
}

void Preflight::host(std::size_t at, Findings& into) {
  const Participant& one = event_.participants[at];
  const auto system = system_of(one);
  if (!system)
    return into.push_back(warn("host", "nothing is known of its host, only of its agent",
                               "run `rnic-suite doctor` there yourself, or name the host by ssh"));
  const bool ours = std::holds_alternative<LocalReference>(one.agent);
  if (!ours) {
    into.push_back(doctor::examine_reach(*system));
    if (into.back().severity == Severity::failure) return;
    std::vector<std::string> addresses;
    for (const std::size_t peer : peers_of(at))
      addresses.push_back(event_.participants[peer].address);
    for (Finding& found : doctor::examine(request_for(one, addresses), *system))
      if (found.check != "report tools" && found.check != "suite files")  // both are used here only
        into.push_back(std::move(found));
    into.push_back(doctor::examine_clock(*system));
  }
  for (const std::size_t peer : peers_of(at))
    for (Finding& found :
         doctor::examine_path(*system, {.name = event_.participants[peer].name,
                                        .address = event_.participants[peer].address,
                                        .links = links_[peer]}))
      into.push_back(std::move(found));
}

void Preflight::agents(TestNetwork& network) {
  for (std::size_t at = 0; at < event_.participants.size(); ++at) {
    const auto peers = peers_of(at);
    if (peers.empty()) {
      found_[at].findings.push_back(
          warn("pairs", "it plays with no other participant", "see \"pairs\""));
      continue;
    }
    network.guests().bring_up(at);
    const CellHosts hosts = network.hosts_for(event_, at, peers.front(), 0);
    const Participant& one = event_.participants[at];
    const auto command = command_of(event_, network, agent_, at, hosts.initiator);
    const std::string trouble = network.guests().trouble(at);
    Findings seen =
        trouble.empty()
            ? AgentExamination(one, command, hosts.initiator, event_).all()
            : Findings{fail("guest", trouble, suite_command() + " doctor --iut siw-vm")};
    found_[at].findings.insert(found_[at].findings.begin(), seen.begin(), seen.end());
    if (at == 0 || network.guests().has(at))
      for (Finding& found : examine_captures(hosts.captures))
        found_[at].findings.push_back(std::move(found));
  }
}

void Preflight::in_labs() {
  Findings& whole = found_.back().findings;
  const bool guests = std::ranges::any_of(event_.participants, [](const Participant& one) {
    return std::holds_alternative<SiwGuest>(one.agent);
  });
  doctor::Request request;
  request.iut = guests ? doctor::Request::Iut::siw_vm : doctor::Request::Iut::reference;
  request.guest_cache = suite::lab::default_guest_paths().cache;
  request.files_fault = base::shipped_files_fault();
  request.lab_command = base::typed_command("suite/lab/rnic-lab");
  whole = doctor::examine(request, doctor::HostSystem());
  if (doctor::worst(whole) == Severity::failure) return;
  auto network =
      TestNetwork::make(event_, 1, Guests(event_, "", agent_),
                        [](const std::string& line) { base::say(stderr, "{}\n", line); });
  if (!network) return whole.push_back(fail("lab", network.error(), suite_command() + " doctor"));
  agents(*network);
}

void Preflight::on_the_network() {
  for (const Participant& one : event_.participants) {
    const auto system = system_of(one);
    links_.push_back(system ? system->ask({"ip", "-j", "addr", "show"}).value_or("") : "");
  }
  for (std::size_t at = 0; at < event_.participants.size(); ++at) {
    host(at, found_[at].findings);
    found_[at].findings.push_back(doctor::examine_port_mapper(event_.participants[at].address));
  }
  auto network =
      TestNetwork::make(event_, 1, Guests(event_, "", agent_), [](const std::string&) {});
  if (network) agents(*network);
}

std::vector<Examined> Preflight::all() {
  for (const Participant& one : event_.participants) found_.push_back({one.name, {}});
  found_.push_back({"this host", {}});
  plays_in_lab(event_) ? in_labs() : on_the_network();
  return std::move(found_);
}

}  // namespace

ExitCode preflight(const Event& event, const Options& options) {
  Severity severity = Severity::ok;
  for (const Examined& one : Preflight(event, options).all()) {
    severity = std::max(severity, doctor::worst(one.findings));
    if (one.findings.empty()) continue;
    Findings said = one.findings;
    for (Finding& found : said) found.what = suite::jobs::for_terminal(found.what);
    base::say(stdout, "{}\n{}", one.who, doctor::report_text(said, ::isatty(STDOUT_FILENO) != 0));
  }
  if (severity == Severity::failure)
    base::say(stdout, "the event cannot be played: correct what FAILs\n");
  return severity == Severity::failure ? ExitCode::harness : ExitCode::good;
}

}  // namespace plugfest
