// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver itself: open, dispatch, reset.
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"

#include <cerrno>
#include <cstring>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/device.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

KverbsDriver::KverbsDriver(const DriverOptions& options, Sink sink)
    : Driver(std::move(sink)), options_(options) {}

std::unique_ptr<KverbsDriver> KverbsDriver::open(const DriverOptions& options, Sink sink,
                                                 std::string& error) {
  std::unique_ptr<KverbsDriver> driver(new KverbsDriver(options, std::move(sink)));
  error = driver->prepare();
  if (!error.empty()) return nullptr;
  return driver;
}

std::string KverbsDriver::prepare() {
  if (options_.addresses.empty())
    return "--driver kverbs needs --address: memory is registered through a connection of the "
           "device with itself";
  for (const std::string& address : options_.addresses)
    if (!socket_address(address, 0)) return "--address " + address + " is no IPv4 or IPv6 literal";
  if (std::string error = open_device(file_, options_, device_); !error.empty()) return error;
  const iut::CreateDomain by_default;
  if (const Answer made = run(0, by_default); made->outcome != iut::Outcome::ok) return made->error;
  return {};
}

/// The module destroys what the session has left when the file is closed.
KverbsDriver::~KverbsDriver() { run(0, iut::Reset{}); }

iut::Hello KverbsDriver::hello() { return describe(device_, options_); }

void KverbsDriver::execute(std::uint64_t number, const iut::Command& command) {
  Answer answer = std::visit([&](const auto& each) { return run(number, each); }, command);
  if (!answer) return;
  answer->command = number;
  emit(std::move(*answer));
}

void KverbsDriver::dispatch() { take_events(0); }

void KverbsDriver::take_events(int wait_ms) {
  std::vector<rnic_kagent_event> events;
  if (const int error = file_.read(events, wait_ms); error != 0) {
    iut::AsynchronousEvent event;
    event.kind = "other";
    event.detail = failed(std::string("read ") + RNIC_KAGENT_DEVICE, error).error;
    emit(event);
  }
  for (const rnic_kagent_event& each : events) take(each);
}

void KverbsDriver::take(const rnic_kagent_event& event) {
  if ((event.flags & RNIC_KAGENT_EVENT_LOST) != 0) {
    iut::AsynchronousEvent lost;
    lost.kind = "other";
    lost.detail = "the kernel had no memory for events, so some were lost";
    emit(lost);
  }
  if (event.handle != 0)
    if (Domain* domain = domain_of_registrar(event.handle); domain != nullptr)
      return take(domain->registrar, event);
  switch (event.type) {
    case RNIC_KAGENT_EVENT_CM:
      return take_connection_event(event);
    case RNIC_KAGENT_EVENT_COMPLETION:
      return take_completion(event);
    default:
      return take_asynchronous_event(event);
  }
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Configure&) {
  return unsupported(
      "verbs cannot choose MPA revision, CRC, Markers or RTR; give the agent a --configure-script");
}

void KverbsDriver::note_failure(std::string& errors, const char* call, int error) const {
  // The objects of a device that was removed are gone already.
  if (error == 0 || error == ENOENT || error == ENODEV) return;
  errors += (errors.empty() ? "" : "; ") + failed(call, error).error;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::Reset&) {
  std::string errors;
  for (auto& [handle, endpoint] : endpoints_) {
    if (const auto cancelled = endpoint.link.cancelled()) emit(*cancelled);
    if (const std::string error = release(endpoint); !error.empty()) errors += "; " + error;
  }
  endpoints_.clear();
  for (const auto* ids : {&requests_, &listeners_})
    for (const auto& [handle, id] : *ids)
      note_failure(errors, "rdma_destroy_id", file_.destroy(id));
  requests_.clear();
  listeners_.clear();
  for (const auto& [handle, queue] : shared_queues_)
    note_failure(errors, "ib_destroy_srq", file_.destroy(queue));
  shared_queues_.clear();
  for (const auto& [handle, queue] : completion_queues_)
    note_failure(errors, "ib_free_cq", file_.destroy(queue));
  completion_queues_.clear();
  for (const auto& [handle, region] : regions_) {
    note_failure(errors, "ib_dereg_mr", file_.destroy(region.object));
    note_failure(errors, "the memory of a region", file_.destroy(region.memory.handle()));
  }
  regions_.clear();
  for (auto domain = domains_.upper_bound(0); domain != domains_.end(); ++domain) {
    destroy_registrar(domain->second.registrar);
    note_failure(errors, "ib_dealloc_pd", file_.destroy(domain->second.object));
  }
  domains_.erase(domains_.upper_bound(0), domains_.end());
  receives_.clear();
  if (errors.empty()) return iut::Reply{};
  return refused("not everything could be released: " + errors, EBUSY);
}

KverbsDriver::Endpoint* KverbsDriver::endpoint_of(Object object) {
  for (auto& [handle, endpoint] : endpoints_)
    if (object != 0 && (endpoint.queue_pair == object || endpoint.id == object ||
                        (endpoint.completions == object && !endpoint.shares_completions)))
      return &endpoint;
  return nullptr;
}

}  // namespace suite::upper_tester::kverbs

namespace suite::upper_tester {

Started start_kverbs(const DriverOptions& options, Sink sink) {
  Started started;
  auto driver = kverbs::KverbsDriver::open(options, std::move(sink), started.error);
  if (driver == nullptr) return started;
  started.talk = [raw = driver.get()](AgentSession& session) { run_polled(session, *raw); };
  started.driver = std::move(driver);
  return started;
}

}  // namespace suite::upper_tester
