// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver itself: open, dispatch, reset.
#include "suite/upper_tester/verbs/verbs_driver.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::verbs {
namespace {

std::string error_text(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

/// Makes a descriptor non-blocking and adds it to those that wake us.
bool watch(int poll, int fd) {
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return false;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

VerbsDriver::VerbsDriver(const DriverOptions& options, Sink sink)
    : Driver(std::move(sink)), options_(options) {}

std::unique_ptr<VerbsDriver> VerbsDriver::open(const DriverOptions& options, Sink sink,
                                               std::string& error) {
  std::unique_ptr<VerbsDriver> driver(new VerbsDriver(options, std::move(sink)));
  error = driver->prepare();
  if (!error.empty()) return nullptr;
  return driver;
}

std::string VerbsDriver::prepare() {
  for (const std::string& address : options_.addresses)
    if (!socket_address(address, 0)) return "--address " + address + " is no IPv4 or IPv6 literal";
  std::string error;
  device_ = open_device(options_.device, error);
  if (!error.empty()) return error;
  connection_channel_.reset(rdma_create_event_channel());
  if (connection_channel_ == nullptr)
    return error_text("rdma_create_event_channel") + "; load the kernel module rdma_ucm";
  completion_channel_.reset(ibv_create_comp_channel(device_.context.get()));
  if (completion_channel_ == nullptr) return error_text("ibv_create_comp_channel");
  domains_[0].reset(ibv_alloc_pd(device_.context.get()));
  if (domains_[0] == nullptr) return error_text("ibv_alloc_pd");
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll_ < 0) return error_text("epoll_create1");
  for (const int fd : {connection_channel_->fd, completion_channel_->fd, device_.context->async_fd})
    if (!watch(poll_, fd)) return error_text("epoll_ctl");
  return {};
}

VerbsDriver::~VerbsDriver() {
  run(0, iut::Reset{});
  if (poll_ >= 0) ::close(poll_);
  domains_.clear();
}

void VerbsDriver::execute(std::uint64_t number, const iut::Command& command) {
  Answer answer = std::visit([&](const auto& each) { return run(number, each); }, command);
  if (!answer) return;
  answer->command = number;
  emit(std::move(*answer));
}

void VerbsDriver::dispatch() {
  take_cm_events();
  take_completions();
  take_asynchronous_events();
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Configure&) {
  return unsupported(
      "verbs cannot choose MPA revision, CRC, Markers or RTR; give the agent a --configure-script");
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::Reset&) {
  std::string errors;
  const auto note = [&errors](const char* call, int error) {
    if (error != 0)
      errors += (errors.empty() ? "" : "; ") + failed(call, error < 0 ? errno : error).error;
  };
  for (auto& [handle, endpoint] : endpoints_) {
    if (const auto cancelled = endpoint.link.cancelled()) emit(*cancelled);
    if (const std::string error = release(endpoint); !error.empty()) errors += "; " + error;
  }
  endpoints_.clear();
  for (auto& [handle, shared] : completion_queues_)
    note("ibv_destroy_cq", destroy_now(shared.queue));
  completion_queues_.clear();
  for (auto& [handle, request] : requests_) note("rdma_destroy_id", destroy_now(request.id));
  requests_.clear();
  for (auto& [handle, listener] : listeners_) note("rdma_destroy_id", destroy_now(listener.id));
  listeners_.clear();
  for (auto& [handle, queue] : shared_queues_) note("ibv_destroy_srq", destroy_now(queue));
  shared_queues_.clear();
  for (auto& [handle, window] : windows_) note("ibv_dealloc_mw", destroy_now(window.window));
  windows_.clear();
  for (auto& [handle, region] : regions_) note("ibv_dereg_mr", destroy_now(region.registration));
  regions_.clear();
  for (auto domain = domains_.upper_bound(0); domain != domains_.end(); ++domain)
    note("ibv_dealloc_pd", destroy_now(domain->second));
  domains_.erase(domains_.upper_bound(0), domains_.end());
  receives_.clear();
  if (errors.empty()) return iut::Reply{};
  return refused("not everything could be released: " + errors, EBUSY);
}

VerbsDriver::Endpoint* VerbsDriver::endpoint_of(Token token) {
  for (auto& [handle, endpoint] : endpoints_)
    if (endpoint.token == token) return &endpoint;
  return nullptr;
}

VerbsDriver::Endpoint* VerbsDriver::endpoint_of(const ibv_wc& completion) {
  for (auto& [handle, endpoint] : endpoints_)
    if (endpoint.queue_pair->qp_num == completion.qp_num) return &endpoint;
  return nullptr;
}

const VerbsDriver::SharedCompletions* VerbsDriver::shared_completions_of(Token token) const {
  for (const auto& [handle, shared] : completion_queues_)
    if (shared.token == token) return &shared;
  return nullptr;
}

}  // namespace suite::upper_tester::verbs

namespace suite::upper_tester {

Started start_verbs(const DriverOptions& options, Sink sink) {
  Started started;
  auto driver = verbs::VerbsDriver::open(options, std::move(sink), started.error);
  if (driver == nullptr) return started;
  started.talk = [raw = driver.get()](AgentSession& session) { run_polled(session, *raw); };
  started.driver = std::move(driver);
  return started;
}

}  // namespace suite::upper_tester
