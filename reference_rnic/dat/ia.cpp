// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The layers below an IA, and the dispatch of their events.
#include "reference_rnic/dat/ia.hpp"

#include <cerrno>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/dat/ep.hpp"
#include "reference_rnic/dat/srq.hpp"

namespace rnic::dat {

namespace {

llp::TcpHost host_of(const base::Address& address) {
  llp::TcpHost host;
  (address.family == base::Family::ipv4 ? host.ipv4 : host.ipv6) = address;
  return host;
}

verbs::SoftRnicOptions options() {
  return {.stag_seed = access::secret_seed(),
          .max_ird = limits::read_depth,
          .max_ord = limits::read_depth};
}

}  // namespace

ServicePoint::~ServicePoint() { ia->stop_listening(*this); }

Ia::Ia(Engine& engine, const Registration& registration)
    : Object(its_kind, this),
      engine_(engine),
      registration_(registration),
      address_(registration.address),
      network_(engine.loop(), host_of(registration.address)),
      rnic_(access::host_in(engine.loop()), options()),
      manager_(engine.loop(), network_, rnic_,
               [this](const access::ConnectionEvent& event) { happened(event); }) {
  rnic_.set_async_handler([this](const verbs::AsyncEvent& event) { happened(event); });
  completions_ = *rnic_.create_completion_queue(rnic_.attributes().max_completions,
                                                [this](verbs::CompletionQueueHandle) { drain(); });
  static_cast<void>(rnic_.arm(completions_, verbs::Arm::next));
}

Ia::~Ia() = default;

DAT_IA_HANDLE Ia::consumers_handle() const {
  DAT_IA_HANDLE number = DAT_HANDLE_NULL;
  return dats_get_ia_handle(handle, &number) == DAT_SUCCESS ? number : handle;
}

// ---- completions ----

void Ia::drain() {
  for (;;) {
    const auto count = rnic_.poll(completions_, taken_);
    if (!count || *count == 0) break;
    for (std::size_t i = 0; i < *count; ++i)
      if (Ep* ep = owner(taken_[i].queue_pair)) ep->completed(taken_[i]);
  }
  static_cast<void>(rnic_.arm(completions_, verbs::Arm::next));
}

Ep* Ia::owner(verbs::QueuePairHandle pair) const {
  const auto found = by_pair.find(pair.value);
  return found == by_pair.end() ? nullptr : found->second;
}

// ---- asynchronous events ----

void Ia::report(DAT_EVENT_NUMBER number, const Object& object, DAT_COUNT reason) {
  if (!async_evd || async_evd.get() == &object) return;
  DAT_EVENT event{};
  event.event_number = number;
  event.event_data.asynch_error_event_data = {.dat_handle = object.handle, .reason = reason};
  async_evd->post(event);
}

void Ia::happened(const verbs::AsyncEvent& event) {
  using enum verbs::AsyncKind;
  Ep* ep = owner(event.queue_pair);
  switch (event.kind) {
    case queue_pair_fatal:
    case queue_pair_access_error:
    case queue_pair_request_error:
    case terminate_received:
      if (ep != nullptr) ep->faulted(event);
      return;
    case last_buffer:
      // The EP will take nothing from its SRQ any more, so it may be reset or freed safely.
      if (ep != nullptr) report(DAT_ASYNC_ERROR_EP_BROKEN, *ep, DAT_EP_TRANSFER_TO_ERROR);
      return;
    case shared_queue_limit:
      Srq::limit_passed(*this, event.shared_queue);
      return;
    case completion_queue_error:
    case device_fatal:
      return report(DAT_ASYNC_ERROR_IA_CATASTROPHIC, *this, DAT_IA_CATASTROPHIC_ERROR);
  }
}

// ---- connections ----

void Ia::happened(const access::ConnectionEvent& event) {
  drain();  // earlier completions are reported first
  if (const auto* request = std::get_if<access::ConnectionRequest>(&event)) {
    const auto found = listeners_.find(static_cast<std::uint64_t>(request->listener));
    if (found == listeners_.end()) return static_cast<void>(manager_.refuse(request->connection));
    ServicePoint& point = *found->second;
    if (point.listener != request->listener) listeners_.erase(found);  // passed on: its only one
    return point.requested(*request);
  }
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.queue_pair; })
          if (Ep* ep = owner(one.queue_pair)) ep->happened(one);
      },
      event);
}

std::expected<void, int> Ia::listen(ServicePoint& point, DAT_CONN_QUAL conn_qual) {
  const auto port = static_cast<std::uint16_t>(conn_qual);
  const auto listening =
      manager_.listen(registration_.address.with_port(port), access::consumer_startup());
  if (!listening) return std::unexpected(listening.error().code);
  point.listener = listening->listener;
  point.conn_qual = listening->local.port;
  listeners_[static_cast<std::uint64_t>(listening->listener)] = &point;
  point.handoff =
      HandoffListener::open(engine_.loop(), listening->local,
                            [this, &point](std::unique_ptr<llp::Connection> connection) {
                              handed_over(point, std::move(connection));
                            });
  return {};
}

void Ia::handed_over(ServicePoint& point, std::unique_ptr<llp::Connection> connection) {
  if (const auto serving = manager_.serve(std::move(connection), access::consumer_startup()))
    listeners_[static_cast<std::uint64_t>(*serving)] = &point;
}

bool Ia::serve(ServicePoint& point, std::unique_ptr<llp::Connection> connection,
               const access::StartupOptions& options) {
  point.conn_qual = connection->local().port;
  const auto serving = manager_.serve(std::move(connection), options);
  if (!serving) return false;
  point.listener = *serving;
  listeners_[static_cast<std::uint64_t>(*serving)] = &point;
  return true;
}

void Ia::forget_listener(ServicePoint& point) {
  std::erase_if(listeners_, [&](const auto& item) { return item.second == &point; });
  point.listener.reset();
  point.handoff.reset();
}

void Ia::stop_listening(ServicePoint& point) {
  if (!point.listener) return;
  static_cast<void>(
      manager_.stop_listening(*point.listener, access::ConnectionManager::Requests::keep));
  forget_listener(point);
}

ServicePoint* Ia::listening_on(DAT_CONN_QUAL conn_qual) const {
  for (const auto& [id, point] : listeners_)
    if (point->conn_qual == conn_qual) return point;
  return nullptr;
}

}  // namespace rnic::dat
