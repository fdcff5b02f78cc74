// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver itself: open, capabilities, dispatch, reset.
#include "suite/upper_tester/kdat/kdat_driver.hpp"

#include <arpa/inet.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace suite::upper_tester::kdat {
namespace {

constexpr Word asynchronous_length = 64, single_instance = 1;
constexpr Word version_major = 2, version_minor = 0;

iut::Octets octets_of(const std::string& text) {
  const auto* start = reinterpret_cast<const std::byte*>(text.data());
  return {start, start + text.size()};
}

}  // namespace

KdatDriver::KdatDriver(const DriverOptions& options, Sink sink)
    : Driver(std::move(sink)), options_(options) {}

std::unique_ptr<KdatDriver> KdatDriver::open(const DriverOptions& options, Sink sink,
                                             std::string& error) {
  std::unique_ptr<KdatDriver> driver(new KdatDriver(options, std::move(sink)));
  error = driver->prepare();
  if (!error.empty()) return nullptr;
  return driver;
}

std::string KdatDriver::prepare() {
  if (options_.device.empty())
    return "--driver kdat needs --device: the IA has the name of its device";
  if (std::string error = kernel_.open(); !error.empty()) return error;
  const Result opened =
      kernel_.call(RNIC_KDAT_IA_OPEN, {asynchronous_length, version_major, version_minor, 1},
                   octets_of(options_.device));
  if (!opened.good()) return failed("dat_ia_open", opened).error;
  ia_ = opened.out(0);
  asynchronous_ = opened.out(1);
  const Result queried = kernel_.call(RNIC_KDAT_IA_QUERY, {ia_, 1, 1});
  if (!queried.good()) return failed("dat_ia_query", queried).error;
  attributes_ = queried.record;
  return run(iut::CreateDomain{}).error;
}

/// The module frees what the session has left when its file is closed.
KdatDriver::~KdatDriver() { static_cast<void>(run(iut::Reset{})); }

iut::Hello KdatDriver::hello() {
  namespace capability = iut::capability;
  iut::Hello hello;
  hello.driver = "kdat";
  hello.implementation = options_.device + " (kDAPL in the kernel)";
  utsname system{};
  if (::uname(&system) == 0) hello.kernel = std::string(system.release) + " " + system.version;
  hello.capabilities = {capability::solicited, capability::endpoint_reset,
                        capability::send_invalidate, capability::remote_invalidate,
                        capability::memory_windows};
  if (attributes_.out[RNIC_KDAT_IA_ZB_SUPPORTED] != 0)
    hello.capabilities.emplace_back(capability::zero_based);
  for (const auto* more : {&options_.configure_capabilities, &options_.claims})
    for (const std::string& each : *more)
      if (std::find(hello.capabilities.begin(), hello.capabilities.end(), each) ==
          hello.capabilities.end())
        hello.capabilities.push_back(each);
  const auto limit = [this](rnic_kdat_ia_out which) {
    return static_cast<std::int64_t>(attributes_.out[which]);
  };
  hello.limits = {
      {"max_private_data", limit(RNIC_KDAT_IA_MAX_PRIVATE_DATA)},
      {"max_pieces", limit(RNIC_KDAT_IA_MAX_IOV)},
      {"max_read_pieces", 1},
      {"max_send_depth", limit(RNIC_KDAT_IA_MAX_DTO_PER_EP)},
      {"max_receive_depth", limit(RNIC_KDAT_IA_MAX_DTO_PER_EP)},
      {"max_region", limit(RNIC_KDAT_IA_MAX_BLOCK)},
  };
  return hello;
}

// ---------------------------------------------------------------- commands and events

Word KdatDriver::make_dispatcher(Word flags, std::uint64_t length, iut::Reply& why) const {
  const Word entries = std::clamp<Word>(length, 1, attributes_.out[RNIC_KDAT_IA_MAX_EVD_QLEN]);
  const Result made = kernel_.call(
      RNIC_KDAT_EVD_KCREATE, {ia_, entries, single_instance, flags, RNIC_KDAT_UPCALL_REPORTS, 0});
  if (made.good()) return made.out(0);
  why = failed("dat_evd_kcreate", made);
  return 0;
}

void KdatDriver::execute(std::uint64_t number, const iut::Command& command) {
  if (const auto* work = std::get_if<iut::PostWork>(&command);
      work != nullptr && must_wait(*work)) {
    endpoints_.at(work->endpoint).waiting.add(number, *work);
    if (work->operation == iut::operation::bind_window) return;  // answered when it is bound
    iut::Reply reply;
    reply.command = number;
    return emit(std::move(reply));
  }
  iut::Reply reply = std::visit([this](const auto& each) { return run(each); }, command);
  reply.command = number;
  emit(std::move(reply));
}

void KdatDriver::dispatch() {
  while (const auto upcall = kernel_.next_upcall()) take(*upcall);
}

void KdatDriver::take(const rnic_kdat_upcall& upcall) {
  if (upcall.lost != 0) {
    iut::AsynchronousEvent lost;
    lost.kind = "other";
    lost.detail = "the kernel had no memory for UpCalls, so some were lost";
    emit(lost);
  }
  for (const auto& [handle, listener] : listeners_)
    if (listener.arrivals == upcall.evd) return take_request(handle, upcall.event);
  for (auto& [handle, endpoint] : endpoints_) {
    if (endpoint.connection == upcall.evd) return take_connection(handle, upcall.event);
    if (endpoint.receives == upcall.evd || endpoint.requests == upcall.evd)
      return take_completion(upcall.event);
  }
  if (upcall.evd != asynchronous_) return;  // of an endpoint that is gone
  iut::AsynchronousEvent reported;
  reported.kind = "other";
  if (upcall.event.number == DAT_ASYNC_ERROR_EVD_OVERFLOW) reported.kind = "cq_error";
  if (upcall.event.number == DAT_ASYNC_ERROR_IA_CATASTROPHIC) reported.kind = "device_fatal";
  if (upcall.event.number == DAT_ASYNC_ERROR_EP_BROKEN) reported.kind = "qp_fatal";
  for (const auto& [handle, endpoint] : endpoints_)
    if (endpoint.object == upcall.event.ep) reported.endpoint = handle;
  reported.detail = "DAT event " + std::to_string(upcall.event.number) + ", reason " +
                    std::to_string(upcall.event.reason);
  emit(reported);
}

iut::Reply KdatDriver::run(const iut::Reset&) {
  iut::Reply reply;
  const auto free = [&](const char* call, std::uint32_t number, Word object) {
    const Result freed = kernel_.call(number, {object});
    if (!freed.good()) reply = failed(call, freed);
  };
  for (auto& [handle, endpoint] : endpoints_) {
    give_up_waiting(endpoint);
    free_endpoint(endpoint);
  }
  endpoints_.clear();
  for (const auto& [handle, request] : requests_)
    static_cast<void>(kernel_.call(RNIC_KDAT_CR_REJECT, {request, 0}));
  requests_.clear();
  for (const auto& [handle, listener] : listeners_) {
    free("dat_psp_free", RNIC_KDAT_PSP_FREE, listener.point);
    free("dat_evd_free", RNIC_KDAT_EVD_FREE, listener.arrivals);
  }
  listeners_.clear();
  for (const auto& [handle, window] : windows_) free("dat_rmr_free", RNIC_KDAT_RMR_FREE, window);
  windows_.clear();
  for (const auto& [handle, region] : regions_) {
    if (region.lmr != 0) free("dat_lmr_free", RNIC_KDAT_LMR_FREE, region.lmr);
    if (const int error = kernel_.free_memory(region.memory.handle()); error != 0)
      reply = refused(std::string("the memory of a region: ") + std::strerror(error), error);
  }
  regions_.clear();
  for (auto domain = domains_.upper_bound(0); domain != domains_.end(); ++domain)
    free("dat_pz_free", RNIC_KDAT_PZ_FREE, domain->second);
  domains_.erase(domains_.upper_bound(0), domains_.end());
  posted_.clear();
  while (kernel_.next_upcall()) {  // of what is gone
  }
  return reply;
}

}  // namespace suite::upper_tester::kdat

namespace suite::upper_tester {

Started start_kdat(const DriverOptions& options, Sink sink) {
  Started started;
  auto driver = kdat::KdatDriver::open(options, std::move(sink), started.error);
  if (driver == nullptr) return started;
  started.talk = [raw = driver.get()](AgentSession& session) { run_polled(session, *raw); };
  started.driver = std::move(driver);
  return started;
}

}  // namespace suite::upper_tester
