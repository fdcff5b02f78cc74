// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_endpoint.hpp"

#include <fmt/format.h>

#include <thread>

namespace suite::cases::dat {

namespace {

void need(DAT_RETURN got, const char* what) {
  if (got != DAT_SUCCESS)
    throw CaseStop{Verdict::inconclusive, fmt::format("{}: {}", what, return_text(got))};
}

DAT_COUNT count_of(const Segments& segments, const PostOptions& options) {
  return options.count.value_or(static_cast<DAT_COUNT>(segments.size()));
}
DAT_LMR_TRIPLET* pointer_of(Segments& segments) {
  return segments.empty() ? nullptr : segments.data();
}
DAT_PVOID pointer_of(const std::vector<std::byte>& data) {
  return data.empty() ? nullptr : const_cast<std::byte*>(data.data());
}

void need_event(const Evd& evd, DAT_EVENT_NUMBER number) {
  const DAT_EVENT event = next_event(evd);
  if (event.event_number != number)
    throw CaseStop{
        Verdict::inconclusive,
        fmt::format("{} instead of {}", event_text(event.event_number), event_text(number))};
}

}  // namespace

DAT_DTO_COOKIE cookie(DAT_UINT64 id) {
  DAT_DTO_COOKIE made{};
  made.as_64 = id;
  return made;
}

std::vector<std::byte> octets_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// ---------------------------------------------------------------- posts

PostOptions with_flags(unsigned flags) { return {.flags = flags_of<DAT_COMPLETION_FLAGS>(flags)}; }

DAT_RETURN post_send(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id, PostOptions options) {
  return CALL(dat_ep_post_send, ep, count_of(segments, options), pointer_of(segments), cookie(id),
              options.flags);
}

DAT_RETURN post_recv(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id, PostOptions options) {
  return CALL(dat_ep_post_recv, ep, count_of(segments, options), pointer_of(segments), cookie(id),
              options.flags);
}

DAT_RETURN post_write(DAT_EP_HANDLE ep, Segments segments, DAT_RMR_TRIPLET to, DAT_UINT64 id,
                      PostOptions options) {
  return CALL(dat_ep_post_rdma_write, ep, count_of(segments, options), pointer_of(segments),
              cookie(id), &to, options.flags);
}

DAT_RETURN post_read(DAT_EP_HANDLE ep, Segments segments, DAT_RMR_TRIPLET from, DAT_UINT64 id,
                     PostOptions options) {
  return CALL(dat_ep_post_rdma_read, ep, count_of(segments, options), pointer_of(segments),
              cookie(id), &from, options.flags);
}

DAT_RETURN post_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET* to,
                            const DAT_RMR_TRIPLET* from, DAT_UINT64 id, PostOptions options) {
  return called("dat_ep_post_rdma_read_to_rmr", [&] {
    return DAT_EP_POST_RDMA_READ_TO_RMR(ep, to, cookie(id), from, options.flags);
  });
}

DAT_RETURN post_send_with_invalidate(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id,
                                     DAT_RMR_CONTEXT context, PostOptions options) {
  return called("dat_ep_post_send_with_invalidate", [&] {
    return DAT_EP_POST_SEND_WITH_INVALIDATE(ep, count_of(segments, options), pointer_of(segments),
                                            cookie(id), options.flags, DAT_TRUE, context);
  });
}

DAT_RMR_TRIPLET Window::triplet(const Lmr& over, std::size_t length) const {
  DAT_RMR_TRIPLET triplet = over.remote(0, length);
  triplet.rmr_context = context;
  return triplet;
}

Window bind_window(const Pz& pz, const Side& side, const Lmr& lmr, DAT_MEM_PRIV_FLAGS privileges) {
  Window window;
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN made =
      called("dat_rmr_create_for_ep", [&] { return DAT_RMR_CREATE_FOR_EP(pz.get(), &handle); });
  if (DAT_GET_TYPE(made) == DAT_NOT_IMPLEMENTED || DAT_GET_TYPE(made) == DAT_MODEL_NOT_SUPPORTED)
    throw CaseStop{Verdict::not_applicable, "the provider has no windows: " + return_text(made)};
  need(made, "no window");
  window.rmr = Rmr(handle);
  const DAT_LMR_TRIPLET over = lmr.triplet();
  need(CALL(dat_rmr_bind, handle, lmr.get(), &over, privileges, DAT_VA_TYPE_VA, side.ep.get(),
            cookie(0), DAT_COMPLETION_DEFAULT_FLAG, &window.context),
       "no bind");
  need_event(side.requests, DAT_RMR_BIND_COMPLETION_EVENT);
  return window;
}

// ---------------------------------------------------------------- connections

DAT_RETURN start_connect(const Ia& ia, DAT_EP_HANDLE ep, DAT_CONN_QUAL qualifier,
                         const ConnectOptions& options) {
  return CALL(dat_ep_connect, ep, ia.address(), qualifier, options.timeout,
              static_cast<DAT_COUNT>(options.data.size()), pointer_of(options.data), options.qos,
              options.flags);
}

DAT_RETURN common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                          const ConnectOptions& options) {
  return called("dat_ep_common_connect", [&] {
    return DAT_EP_COMMON_CONNECT(ep, address, options.timeout,
                                 static_cast<DAT_COUNT>(options.data.size()),
                                 pointer_of(options.data));
  });
}

DAT_RETURN dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE model, const ConnectOptions& options) {
  return CALL(dat_ep_dup_connect, ep, model, options.timeout,
              static_cast<DAT_COUNT>(options.data.size()), pointer_of(options.data), options.qos);
}

Listener::Listener(const Ia& ia, DAT_PSP_FLAGS flags) : requests(ia.evd(DAT_EVD_CR_FLAG)) {
  auto [made, chosen] = ia.psp(requests, flags);
  psp = std::move(made);
  qualifier = chosen;
}

DAT_CR_HANDLE Listener::next() const {
  const DAT_EVENT event = next_event(requests);
  if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
    throw CaseStop{Verdict::inconclusive, event_text(event.event_number) + " instead of a request"};
  return event.event_data.cr_arrival_event_data.cr_handle;
}

void end_connection(const Pair& pair) {
  need(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), "no disconnect");
  need_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  need_event(pair.passive.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// ---------------------------------------------------------------- states

std::string phase_text(Phase phase) {
  switch (phase) {
    case Phase::unconfigured:
      return "unconfigured";
    case Phase::unconnected:
      return "unconnected";
    case Phase::reserved:
      return "reserved";
    case Phase::passive:
      return "passive connection pending";
    case Phase::tentative:
      return "tentative connection pending";
    case Phase::active:
      return "active connection pending";
    case Phase::connected:
      return "connected";
    case Phase::disconnected:
      return "disconnected";
  }
  return "?";
}

EndpointInState::EndpointInState(const Ia& ia, Phase phase) : ia_(ia), pz_(ia.pz()) {
  own_ = make_side(ia, pz_);
  handle_ = own_.ep.get();
  peer_ = make_side(ia, pz_);
  enter(phase);
}

void EndpointInState::enter(Phase phase) {
  switch (phase) {
    case Phase::unconfigured:
      return unconfigured();
    case Phase::unconnected:
      return;
    case Phase::reserved:
      return reserve();
    case Phase::passive:
      reserve();
      return request_from_peer();
    case Phase::tentative:
      return tentative();
    case Phase::active:
      listener_.emplace(ia_);
      need(start_connect(ia_, handle_, listener_->qualifier), "no connect");
      cr_ = listener_->next();
      return;
    case Phase::connected:
      return connect();
    case Phase::disconnected:
      connect();
      need(CALL(dat_ep_disconnect, handle_, DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
      need_event(own_.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
      need_event(peer_.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
      return;
  }
}

EndpointInState::~EndpointInState() {
  if (cr_ != DAT_HANDLE_NULL) (void)CALL(dat_cr_reject, cr_, 0, nullptr);
}

void EndpointInState::forget() {
  if (own_.ep.get() == handle_) own_.ep.release();
}

void EndpointInState::unconfigured() {
  DAT_EP_HANDLE bare = DAT_HANDLE_NULL;
  const DAT_RETURN made = CALL(dat_ep_create, ia_.get(), DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                               DAT_HANDLE_NULL, DAT_HANDLE_NULL, nullptr, &bare);
  if (made != DAT_SUCCESS)
    throw CaseStop{Verdict::not_applicable, "no endpoint without a zone: " + return_text(made)};
  own_.ep = Ep(bare);
  handle_ = bare;
}

void EndpointInState::reserve() {
  requests_ = ia_.evd(DAT_EVD_CR_FLAG);
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  const DAT_CONN_QUAL qualifier = free_qualifier(ia_);
  need(CALL(dat_rsp_create, ia_.get(), qualifier, handle_, requests_.get(), &rsp), "no RSP");
  rsp_ = Rsp(rsp);
  reserved_at_ = qualifier;
}

void EndpointInState::request_from_peer() {
  need(start_connect(ia_, peer_.ep.get(), reserved_at_), "no connect");
  const DAT_EVENT event = next_event(requests_);
  if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
    throw CaseStop{Verdict::inconclusive, event_text(event.event_number) + " instead of a request"};
  cr_ = event.event_data.cr_arrival_event_data.cr_handle;
}

void EndpointInState::tentative() {
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia_.get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no IA query");
  if (attr.ep_creator == DAT_PSP_CREATES_EP_NEVER)
    throw CaseStop{Verdict::not_applicable, "the provider says that it makes no endpoints"};
  listener_.emplace(ia_, DAT_PSP_PROVIDER_FLAG);
  need(start_connect(ia_, peer_.ep.get(), listener_->qualifier), "no connect");
  cr_ = listener_->next();
  DAT_CR_PARAM param{};
  need(CALL(dat_cr_query, cr_, DAT_CR_FIELD_ALL, &param), "no CR");
  if (param.local_ep_handle == DAT_HANDLE_NULL)
    throw CaseStop{Verdict::not_applicable, "the provider makes no endpoints"};
  handle_ = param.local_ep_handle;
}

void EndpointInState::connect() {
  listener_.emplace(ia_);
  need(start_connect(ia_, handle_, listener_->qualifier), "no connect");
  need(CALL(dat_cr_accept, listener_->next(), peer_.ep.get(), 0, nullptr), "no accept");
  need_event(own_.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  need_event(peer_.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// ---------------------------------------------------------------- events and waiters

DAT_RETURN post_software(const Evd& evd, std::uintptr_t number) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = reinterpret_cast<DAT_PVOID>(number);  // NOLINT
  return CALL(dat_evd_post_se, evd.get(), &event);
}

std::uintptr_t number_of(const DAT_EVENT& event) {
  return reinterpret_cast<std::uintptr_t>(event.event_data.software_event_data.pointer);
}

Waited wait_on(const Evd& evd, DAT_TIMEOUT timeout, DAT_COUNT threshold) {
  Waited waited;
  waited.more = -1;
  waited.code = CALL(dat_evd_wait, evd.get(), timeout, threshold, &waited.event, &waited.more);
  return waited;
}

Waiter::Waiter(const Evd& evd, DAT_COUNT threshold, DAT_TIMEOUT timeout) {
  future_ = std::async(std::launch::async,
                       [&evd, threshold, timeout] { return wait_on(evd, timeout, threshold); });
  DAT_EVENT event{};
  do {
    std::this_thread::yield();
    dequeued = CALL(dat_evd_dequeue, evd.get(), &event);
  } while (DAT_GET_TYPE(dequeued) == DAT_QUEUE_EMPTY && !is_back());
}

bool Waiter::is_back() const {
  return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace suite::cases::dat
