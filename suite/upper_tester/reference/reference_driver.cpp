// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands of connections, and the driver itself; those of objects and of work are in files of
// their own.
#include "suite/upper_tester/reference/reference_driver.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/lawful/decisions.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"
#include "suite/upper_tester/reference/replies.hpp"
#include "suite/upper_tester/reference/translation.hpp"

namespace suite::upper_tester::reference {

namespace access = rnic::access;
namespace verbs = rnic::verbs;
namespace llp = rnic::llp;

namespace {

constexpr std::uint64_t first_base =
    0x1000'0000;  // tagged offsets do not depend on where the process has its memory

std::unique_ptr<verbs::Rnic> make_rnic(base::EventLoop& loop, const DriverOptions& options,
                                       const rnic::lawful::Offer& offer) {
  verbs::SoftRnicOptions rnic_options = offer.rnic;
  rnic_options.stag_seed = options.stag_seed;
  verbs::RnicDecisions decisions = rnic::lawful::rnic_decisions(options.behaviour.lawful);
  decisions.append(rnic::deviants::rnic_decisions(options.behaviour.deviations));
  return std::make_unique<verbs::SoftRnic>(access::host_in(loop), rnic_options,
                                           std::move(decisions));
}

access::ConnectionDecisions connection_decisions(const Behaviour& behaviour) {
  access::ConnectionDecisions decisions = rnic::lawful::connection_decisions(behaviour.lawful);
  decisions.append(rnic::deviants::connection_decisions(behaviour.deviations));
  return decisions;
}

/// Adds the name of an implementation with this behaviour.
void describe(const Behaviour& behaviour, std::string& implementation) {
  const char* separator = " with deviations ";
  for (const auto deviation : behaviour.deviations) {
    implementation += separator + std::string(info(deviation).name);
    separator = ", ";
  }
  separator = " with lawful variants ";
  for (const auto lawful : behaviour.lawful) {
    implementation += separator + std::string(info(lawful).name);
    separator = ", ";
  }
}

}  // namespace

ReferenceDriver::ReferenceDriver(base::EventLoop& loop, llp::Network& network,
                                 const DriverOptions& options, Sink sink)
    : Driver(std::move(sink)),
      loop_(loop),
      network_(network),
      options_(options),
      offer_(rnic::lawful::offer_of(options.behaviour.lawful)),
      rnic_(make_rnic(loop, options, offer_)),
      connections_(std::make_unique<access::ConnectionManager>(
          loop, network, *rnic_,
          [this](const access::ConnectionEvent& event) {
            std::visit([this](const auto& each) { handle(each); }, event);
          },
          connection_decisions(options.behaviour))) {
  rnic_->set_async_handler([this](const verbs::AsyncEvent& event) { handle(event); });
  startup_ = offer_.startup;
  startup_.startup_timeout = options.startup_timeout;
  if (offer_.emss) network_.limit_segments(offer_.emss);
  create_default_domain();
}

ReferenceDriver::~ReferenceDriver() { release_everything(); }

iut::Hello ReferenceDriver::hello() {
  const verbs::RnicAttributes& attributes = rnic_->attributes();
  iut::Hello hello;
  hello.driver = "reference";
  hello.implementation = "reference software RNIC";
  describe(options_.behaviour, hello.implementation);
  hello.driver_version = attributes.version;
  hello.capabilities = capabilities_of(offer_);
  hello.limits = {{"max_pages", attributes.max_pages},
                  {"page_size", static_cast<std::int64_t>(verbs::region_page)},
                  {"max_ird", attributes.max_ird},
                  {"max_ord", attributes.max_ord},
                  {"max_private_data", static_cast<std::int64_t>(offer_.max_private_data)},
                  {"max_pieces", attributes.max_pieces},
                  {"max_send_depth", attributes.max_queue_depth},
                  {"max_receive_depth", attributes.max_queue_depth},
                  {"max_shared_depth", attributes.max_queue_depth},
                  {"max_shared_pieces", attributes.max_pieces},
                  {"max_inline", max_inline_octets},
                  {"max_region", static_cast<std::int64_t>(max_region_octets)}};
  return hello;
}

void ReferenceDriver::execute(std::uint64_t number, const iut::Command& command) {
  iut::Reply reply = std::visit([this](const auto& known) { return perform(known); }, command);
  reply.command = number;
  emit(std::move(reply));
}

// ---- configuration, reset ----

iut::Reply ReferenceDriver::perform(const iut::Configure& command) {
  if (command.revision && *command.revision != 1 && *command.revision != 2)
    return failed(EINVAL,
                  "MPA revision " + std::to_string(*command.revision) + " is not one of 1, 2");
  if (command.revision == 2 && !offer_.enhanced_startup)
    return failed(EOPNOTSUPP, "MPA revision 2 is not spoken");
  if (command.crc == false && !offer_.crc_configurable)
    return failed(EOPNOTSUPP, "CRCs cannot be turned off");
  if (command.markers.value_or(offer_.startup.markers) != offer_.startup.markers &&
      !offer_.markers_configurable)
    return failed(EOPNOTSUPP, "Markers are always asked for");
  if (command.peer_to_peer == false && !offer_.peer_to_peer_configurable)
    return failed(EOPNOTSUPP, "the peer-to-peer model is always asked for");
  access::StartupOptions wanted = startup_;
  if (command.revision) wanted.revision = static_cast<std::uint8_t>(*command.revision);
  if (command.crc) wanted.crc = *command.crc;
  if (command.markers) wanted.markers = *command.markers;
  if (command.peer_to_peer) wanted.peer_to_peer = *command.peer_to_peer;
  if (command.rtr) {
    const auto kinds = rtr_of(*command.rtr);
    if (!kinds) return failed(EINVAL, "RTR kinds are send, write, read");
    const rnic::stream::RtrKinds& known = offer_.startup.rtr;
    if ((kinds->send && !known.send) || (kinds->write && !known.write) ||
        (kinds->read && !known.read))
      return failed(EOPNOTSUPP, "an RTR kind that is not known");
    wanted.rtr = *kinds;
  }
  startup_ = wanted;
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::Reset&) {
  release_everything();
  create_default_domain();
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::Cancel&) {
  return {};  // all earlier commands have been answered when this one is read
}

void ReferenceDriver::create_default_domain() {
  next_base_ = first_base;
  const verbs::DomainHandle handle = *rnic_->create_domain();
  const Resource resource = resources_.add([this, handle] { must(rnic_->destroy_domain(handle)); });
  domains_[0] = {handle, resource};
}

void ReferenceDriver::release_everything() {
  for (const auto& [handle, listening] : listeners_) resources_.release(listening.resource);
  connections_->reset();
  // Before their regions, which they refer to.
  for (const auto& [handle, window] : windows_) resources_.release(window.resource);
  resources_.release_all();
  endpoints_.clear();
  listeners_.clear();
  requests_.clear();
  windows_.clear();
  shared_queues_.clear();
  completion_queues_.clear();
  domains_.clear();
  regions_.clear();  // the memory itself, now that nothing is registered
}

// ---- connections ----

iut::Reply ReferenceDriver::perform(const iut::Listen& command) {
  if (command.listener == 0 || listeners_.contains(command.listener))
    return bad_handle("listener", command.listener);
  const auto family = family_of(command.family);
  if (!family) return failed(EINVAL, "family is ipv4 or ipv6");
  base::Address local = network_.address(*family).with_port(command.port);
  if (!command.address.empty()) {
    const auto parsed = base::Address::parse(command.address, command.port);
    if (!parsed) return failed(EINVAL, parsed.error());
    local = *parsed;
  }
  const auto listening = connections_->listen(local, startup_);
  if (!listening) return failed(listening.error().code, listening.error().message);
  const access::ListenerId id = listening->listener;
  listeners_[command.listener] = {
      id, resources_.add([this, id] { must(connections_->stop_listening(id)); })};
  iut::Reply reply;
  reply.address = listening->local.host();
  reply.port = listening->local.port;
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::StopListening& command) {
  const auto found = listeners_.find(command.listener);
  if (found == listeners_.end()) return bad_handle("listener", command.listener);
  resources_.release(found->second.resource);
  listeners_.erase(found);
  return {};
}

std::expected<access::ConnectParameters, iut::Reply> ReferenceDriver::parameters_of(
    const iut::ConnectParameters& parameters) const {
  const auto admissible = [](const std::optional<int>& depth, std::uint16_t most) {
    return !depth || (*depth >= 0 && *depth <= most) ||
           *depth == rnic::wire::read_depth_unnegotiated;
  };
  const verbs::RnicAttributes& limits = rnic_->attributes();
  if (!admissible(parameters.ird, limits.max_ird) || !admissible(parameters.ord, limits.max_ord))
    return std::unexpected(failed(
        EINVAL, "IRD and ORD go from 0 to " + std::to_string(limits.max_ird) + ", or are 16383"));
  access::ConnectParameters result;
  if (parameters.ird) result.ird = static_cast<std::uint16_t>(*parameters.ird);
  if (parameters.ord) result.ord = static_cast<std::uint16_t>(*parameters.ord);
  result.private_data = parameters.private_data;
  return result;
}

iut::Reply ReferenceDriver::perform(const iut::Connect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  const auto remote = base::Address::parse(command.address, command.port);
  if (!remote) return failed(EINVAL, remote.error());
  const auto parameters = parameters_of(command.parameters);
  if (!parameters) return parameters.error();
  const auto started =
      connections_->connect(endpoint->second.queue_pair, *remote, startup_, *parameters);
  if (!started) return failed(started.error().code, started.error().message);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::Accept& command) {
  const auto request = requests_.find(command.request);
  const auto endpoint = endpoints_.find(command.endpoint);
  if (request == requests_.end()) return bad_handle("request", command.request);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  const auto parameters = parameters_of(command.parameters);
  if (!parameters) return parameters.error();
  const auto accepted =
      connections_->accept(request->second, endpoint->second.queue_pair, *parameters);
  if (!accepted) return failed(accepted.error().code, accepted.error().message);
  requests_.erase(request);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::Reject& command) {
  const auto request = requests_.find(command.request);
  if (request == requests_.end()) return bad_handle("request", command.request);
  const auto rejected = connections_->reject(request->second, command.private_data);
  if (!rejected) return failed(rejected.error().code, rejected.error().message);
  requests_.erase(request);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::Disconnect& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  const auto done = connections_->disconnect(endpoint->second.queue_pair, command.abortive);
  if (!done) return failed(done.error().code, done.error().message);
  return {};
}

// ---- events ----

void ReferenceDriver::handle(const access::ConnectionRequest& event) {
  for (const auto& [handle, listener] : listeners_) {
    if (listener.object != event.listener) continue;
    const iut::Handle request = next_request_++;
    requests_[request] = event.connection;
    iut::ConnectRequestEvent reported;
    reported.listener = handle;
    reported.request = request;
    reported.private_data = event.private_data;
    if (event.depths) {
      reported.ird = event.depths->ird;
      reported.ord = event.depths->ord;
    }
    return emit(std::move(reported));
  }
}

void ReferenceDriver::handle(const access::ConnectionEstablished& event) {
  iut::EstablishedEvent reported;
  reported.endpoint = endpoint_of(event.queue_pair);
  reported.private_data = event.private_data;
  if (event.depths) {
    reported.ird = event.depths->ird;
    reported.ord = event.depths->ord;
  }
  emit(std::move(reported));
}

void ReferenceDriver::handle(const access::ConnectionRejected& event) {
  iut::RejectedEvent reported;
  reported.endpoint = endpoint_of(event.queue_pair);
  reported.private_data = event.private_data;
  if (event.depths) {
    reported.ird = event.depths->ird;
    reported.ord = event.depths->ord;
  }
  emit(std::move(reported));
}

void ReferenceDriver::handle(const access::ConnectionFailed& event) {
  const iut::Handle endpoint = endpoint_of(event.queue_pair);
  drain_own(endpoint);
  emit(iut::ConnectFailedEvent{endpoint, name(event.failure)});
}

void ReferenceDriver::handle(const access::ConnectionEnded& event) {
  const iut::Handle endpoint = endpoint_of(event.queue_pair);
  drain_own(endpoint);  // flushes are reported first
  emit(iut::DisconnectedEvent{endpoint});
}

void ReferenceDriver::handle(const verbs::AsyncEvent& event) {
  iut::AsynchronousEvent reported;
  if (event.queue_pair) reported.endpoint = endpoint_of(event.queue_pair);
  if (event.completion_queue) {
    reported.endpoint = endpoint_of(event.completion_queue);
    reported.completion_queue = handle_of(completion_queues_, event.completion_queue);
  }
  if (event.shared_queue) reported.shared_queue = handle_of(shared_queues_, event.shared_queue);
  const bool gone = (event.queue_pair || event.completion_queue) && reported.endpoint == 0 &&
                    reported.completion_queue == 0;
  if (gone) return;
  reported.kind = kind_name(event.kind);
  reported.detail = event.detail;
  emit(std::move(reported));
}

void ReferenceDriver::completed(verbs::CompletionQueueHandle queue) {
  if (offer_.completion_delay.count() == 0) return drain(queue);
  loop_.schedule(loop_.now() + offer_.completion_delay,
                 [this, queue, alive = std::weak_ptr<char>(alive_)] {
                   if (!alive.expired()) drain(queue);
                 });
}

void ReferenceDriver::drain(verbs::CompletionQueueHandle queue) {
  const auto drained = drained_.find(queue);
  if (drained == drained_.end()) return;
  std::array<verbs::Completion, 16> completions;
  for (;;) {
    const auto count = rnic_->poll(queue, completions);
    if (!count || *count == 0) break;
    for (const verbs::Completion& each : std::span(completions).first(*count))
      if (const iut::Handle endpoint = endpoint_of(each.queue_pair); endpoint != 0)
        emit(completion_event(endpoint, each));
  }
  if (drained->second.again) must(rnic_->arm(queue, drained->second.arm));
}

void ReferenceDriver::drain_own(iut::Handle endpoint) {
  const auto found = endpoints_.find(endpoint);
  if (found != endpoints_.end() && !found->second.shares_completions)
    drain(found->second.completions);
}

}  // namespace suite::upper_tester::reference
