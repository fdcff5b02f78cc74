// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver itself: open, capabilities, dispatch, reset.
#include "suite/upper_tester/dat/dat_driver.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>

#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {
namespace {

constexpr DAT_COUNT asynchronous_length = 64;

/// All events that are in a dispatcher.
void empty(const Dispatcher& dispatcher, std::vector<DAT_EVENT>& events) {
  DAT_EVENT event{};
  while (dat_evd_dequeue(dispatcher.get(), &event) == DAT_SUCCESS) events.push_back(event);
}

bool is_implemented(DAT_RETURN code) {
  const DAT_RETURN type = DAT_GET_TYPE(code);
  return type != DAT_NOT_IMPLEMENTED && type != DAT_MODEL_NOT_SUPPORTED;
}

}  // namespace

DatDriver::DatDriver(const DriverOptions& options, Sink sink)
    : Driver(std::move(sink)), options_(options) {}

std::unique_ptr<DatDriver> DatDriver::open(const DriverOptions& options, Sink sink,
                                           std::string& error) {
  std::unique_ptr<DatDriver> driver(new DatDriver(options, std::move(sink)));
  error = driver->prepare();
  if (!error.empty()) return nullptr;
  return driver;
}

std::string DatDriver::prepare() {
  std::string name = options_.device;
  DAT_RETURN code = DAT_SUCCESS;
  // A thread of ours waits, so the provider that is safe for threads comes first.
  for (const DAT_BOOLEAN safe : {DAT_TRUE, DAT_FALSE}) {
    asynchronous_ = DAT_HANDLE_NULL;
    code = dat_ia_openv(name.data(), asynchronous_length, &asynchronous_, &ia_, DAT_VERSION_MAJOR,
                        DAT_VERSION_MINOR, safe);
    if (code == DAT_SUCCESS) break;
  }
  if (code != DAT_SUCCESS)
    return return_text("dat_ia_open " + name, code) +
           "; is there a line for it in the dat.conf that DAT_OVERRIDE names (else /etc/dat.conf)?";
  code = dat_ia_query(ia_, nullptr, DAT_IA_FIELD_ALL, &attr_, DAT_PROVIDER_FIELD_ALL, &provider_);
  if (code != DAT_SUCCESS) return return_text("dat_ia_query", code);
  if (options_.sockets && attr_.extension_supported != DAT_EXTENSION_IW)
    return options_.device + " has no iWARP extension: leave out --sockets";
  if (std::string error = notifier_.start(ia_); !error.empty()) return error;
  if (std::string error = options_.sockets ? sockets_.start(notifier_.fd()) : ""; !error.empty())
    return error;
  if (dat_evd_modify_cno(asynchronous_, notifier_.notifier()) != DAT_SUCCESS)
    asynchronous_ = nullptr;  // some providers do not give theirs to the consumer
  code = dat_pz_create(ia_, domains_[0].out());
  if (code != DAT_SUCCESS) return return_text("dat_pz_create", code);
  return {};
}

DatDriver::~DatDriver() {
  if (ia_ == nullptr) return;
  static_cast<void>(run(iut::Reset{}));
  domains_.clear();
  if (asynchronous_ != nullptr)
    static_cast<void>(dat_evd_modify_cno(asynchronous_, DAT_HANDLE_NULL));
  notifier_.stop();
  static_cast<void>(dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG));
}

// ---------------------------------------------------------------- what it is

/// Calls the function of the provider's own table without an endpoint, to which it has to reply.
bool DatDriver::implements_send_with_invalidate() const {
  DAT_IA_HANDLE own = nullptr;
  if (dats_get_ia_handle(ia_, &own) != DAT_SUCCESS) return false;
  const auto function = DAT_HANDLE_TO_PROVIDER(own)->ep_post_send_with_invalidate_func;
  return function != nullptr &&
         is_implemented(function(DAT_HANDLE_NULL, 0, nullptr, DAT_DTO_COOKIE{},
                                 DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, 0));
}

std::vector<std::string> DatDriver::capabilities() const {
  namespace capability = iut::capability;
  std::vector<std::string> names{capability::solicited, capability::endpoint_reset};
  if (implements_send_with_invalidate())
    names.insert(names.end(), {capability::send_invalidate, capability::remote_invalidate});
  if (attr_.max_rmrs > 0) names.emplace_back(capability::memory_windows);
  if (attr_.max_rmrs > 0 && provider_.rmr_scope_supported != DAT_RMR_SCOPE_PZ)
    names.emplace_back(capability::stream_windows);
  if (attr_.zb_supported == DAT_TRUE) names.emplace_back(capability::zero_based);
  if (provider_.srq_supported == DAT_TRUE)
    names.insert(names.end(), {capability::shared_receive_queue, capability::shared_queue_resize});
  if (attr_.ia_address_ptr->sa_family == AF_INET6) names.emplace_back(capability::ipv6);
  for (const std::string& each : options_.claims)
    if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
  return names;
}

iut::Hello DatDriver::hello() {
  iut::Hello hello;
  hello.driver = "dat";
  hello.implementation = options_.device + " (" + attr_.vendor_name + ", provider " +
                         provider_.provider_name + ")" +
                         (options_.sockets ? ", over sockets of the agent's own" : "");
  hello.driver_version = std::to_string(provider_.provider_version_major) + "." +
                         std::to_string(provider_.provider_version_minor);
  hello.firmware = std::to_string(attr_.firmware_version_major) + "." +
                   std::to_string(attr_.firmware_version_minor);
  utsname system{};
  if (::uname(&system) == 0) hello.kernel = std::string(system.release) + " " + system.version;
  hello.capabilities = capabilities();
  hello.limits = {
      {"max_ird", attr_.max_rdma_read_per_ep_in},
      {"max_ord", attr_.max_rdma_read_per_ep_out},
      {"max_private_data", provider_.max_private_data_size},
      {"max_pieces", attr_.max_iov_segments_per_dto},
      {"max_read_pieces", attr_.max_iov_segments_per_rdma_read},
      {"max_send_depth", attr_.max_dto_per_ep},
      {"max_receive_depth", attr_.max_dto_per_ep},
      {"max_shared_depth", attr_.max_recv_per_srq},
      {"max_shared_pieces", attr_.max_iov_segments_per_dto},
      {"max_endpoints", attr_.max_eps},
      {"max_regions", attr_.max_lmrs},
      {"max_region", attr_.max_lmr_block_size},
      {"max_message", attr_.max_message_size},
  };
  return hello;
}

// ---------------------------------------------------------------- commands and events

void DatDriver::execute(std::uint64_t number, const iut::Command& command) {
  if (const auto* work = std::get_if<iut::PostWork>(&command);
      work != nullptr && must_wait(*work)) {
    Endpoint& endpoint = endpoints_.at(work->endpoint);
    // Waiting work fills the send queue as posted work does.
    const bool full = endpoint.waiting.size() >= endpoint.most_requests;
    if (!full) endpoint.waiting.add(number, *work);
    if (!full && work->operation == iut::operation::bind_window) return;  // answered when bound
    iut::Reply reply =
        full ? refused("the endpoint takes no more requests", ENOBUFS) : iut::Reply{};
    reply.command = number;
    return emit(std::move(reply));
  }
  iut::Reply reply = std::visit([this](const auto& each) { return run(each); }, command);
  reply.command = number;
  emit(std::move(reply));
}

void DatDriver::dispatch() {
  notifier_.clear();
  if (options_.sockets) take_sockets();
  for (const auto& [handle, listener] : listeners_) take_requests(handle, listener);
  for (auto& [handle, endpoint] : endpoints_) take_endpoint(handle, endpoint);
  take_asynchronous();
}

/// In the order of a connection's events: it is established, work completes, it ends.
/// DAT keeps the order within one dispatcher only.
void DatDriver::take_endpoint(Handle handle, Endpoint& endpoint) {
  std::vector<DAT_EVENT> completions, connection_events, ends;
  const auto complete = [&] {
    if (!endpoint.drained) return;
    empty(endpoint.receives, completions);
    empty(endpoint.requests, completions);
  };
  complete();
  empty(endpoint.connection, connection_events);
  for (const DAT_EVENT& event : connection_events) {
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
      ends.push_back(event);
      continue;
    }
    take_connection(handle, event);
    post_waiting(endpoint);
  }
  if (!ends.empty()) {
    give_up_waiting(endpoint);
    complete();
  }
  for (const DAT_EVENT& event : completions) take_completion(event);
  for (const DAT_EVENT& event : ends) take_connection(handle, event);
}

void DatDriver::take_asynchronous() {
  DAT_EVENT event{};
  while (asynchronous_ != nullptr && dat_evd_dequeue(asynchronous_, &event) == DAT_SUCCESS) {
    const DAT_ASYNCH_ERROR_EVENT_DATA& data = event.event_data.asynch_error_event_data;
    iut::AsynchronousEvent reported;
    reported.kind = "other";
    if (event.event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW) reported.kind = "cq_error";
    if (event.event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC) reported.kind = "device_fatal";
    if (event.event_number == DAT_ASYNC_ERROR_EP_BROKEN) reported.kind = "qp_fatal";
    for (const auto& [handle, endpoint] : endpoints_)
      for (const DAT_HANDLE each : {static_cast<DAT_HANDLE>(endpoint.object.get()),
                                    static_cast<DAT_HANDLE>(endpoint.receives.get()),
                                    static_cast<DAT_HANDLE>(endpoint.requests.get())})
        if (each == data.dat_handle) reported.endpoint = handle;
    for (const auto& [handle, shared] : shared_queues_)
      if (shared.queue.get() == data.dat_handle && data.reason == DAT_SRQ_LOW_WATERMARK_EVENT) {
        reported.kind = "srq_limit";
        reported.detail = "on shared queue " + std::to_string(handle);
      }
    if (reported.detail.empty())
      reported.detail = "DAT event " + std::to_string(event.event_number) + ", reason " +
                        std::to_string(data.reason);
    emit(reported);
  }
}

std::string DatDriver::make(Dispatcher& dispatcher, std::uint64_t length, unsigned flags) const {
  const auto most = static_cast<std::uint64_t>(attr_.max_evd_qlen);
  const auto entries = static_cast<DAT_COUNT>(std::clamp<std::uint64_t>(length, 1, most));
  const DAT_RETURN code = dat_evd_create(ia_, entries, notifier_.notifier(),
                                         static_cast<DAT_EVD_FLAGS>(flags), dispatcher.out());
  return code == DAT_SUCCESS ? std::string() : return_text("dat_evd_create", code);
}

iut::Reply DatDriver::run(const iut::Configure&) {
  return unsupported("DAT cannot choose MPA revision, CRC, Markers or RTR");
}

iut::Reply DatDriver::run(const iut::Reset&) {
  connecting_.clear();
  if (options_.sockets) requests_.clear();  // what holds an endpoint goes before it
  for (auto& [handle, listener] : listeners_) listener.points.clear();
  std::string errors;
  const auto free_all = [&errors](const char* call, auto& object) {
    if (const DAT_RETURN code = object.free_now(); code != DAT_SUCCESS)
      errors += (errors.empty() ? "" : "; ") + return_text(call, code);
  };
  for (auto& [handle, endpoint] : endpoints_) {
    give_up_waiting(endpoint);
    free_all("dat_ep_free", endpoint.object);
  }
  endpoints_.clear();
  requests_.clear();  // a peer may have withdrawn one, so that there is nothing to reject
  for (auto& [handle, listener] : listeners_) free_all("dat_psp_free", listener.point);
  listeners_.clear();
  for (auto& [handle, shared] : shared_queues_) free_all("dat_srq_free", shared.queue);
  shared_queues_.clear();
  for (auto& [handle, window] : windows_) free_all("dat_rmr_free", window);
  windows_.clear();
  for (auto& [handle, region] : regions_) free_all("dat_lmr_free", region.registration);
  regions_.clear();
  for (auto zone = domains_.upper_bound(0); zone != domains_.end(); ++zone)
    free_all("dat_pz_free", zone->second);
  domains_.erase(domains_.upper_bound(0), domains_.end());
  posted_.clear();
  sockets_.close_all();
  DAT_EVENT late{};
  while (asynchronous_ != nullptr && dat_evd_dequeue(asynchronous_, &late) == DAT_SUCCESS) {
  }
  if (errors.empty()) return {};
  return refused("not everything could be released: " + errors, EBUSY);
}

}  // namespace suite::upper_tester::dat

namespace suite::upper_tester {

Started start_dat(const DriverOptions& options, Sink sink) {
  Started started;
  auto driver = dat::DatDriver::open(options, std::move(sink), started.error);
  if (driver == nullptr) return started;
  started.talk = [raw = driver.get()](AgentSession& session) { run_polled(session, *raw); };
  started.driver = std::move(driver);
  return started;
}

}  // namespace suite::upper_tester
