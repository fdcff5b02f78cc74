// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connection requests, sent and received: the first steps of the cases of service points and of
// CRs.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

/// Octets without a short period.
[[nodiscard]] inline std::vector<std::byte> private_octets(std::size_t size) {
  std::vector<std::byte> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
  return octets;
}

/// What the provider says.
[[nodiscard]] inline DAT_COUNT most_private_data(const Ia& ia) {
  DAT_PROVIDER_ATTR attr{};
  if (CALL(dat_ia_query, ia.get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE,
           &attr) != DAT_SUCCESS)
    throw CaseStop{Verdict::inconclusive,
                   "the provider does not report its limit for private data"};
  return attr.max_private_data_size;
}

inline DAT_RETURN ask(const Ia& ia, const Ep& ep, DAT_CONN_QUAL qualifier,
                      std::vector<std::byte> data = {}) {
  return CALL(dat_ep_connect, ep.get(), ia.address(), qualifier, DAT_TIMEOUT_INFINITE,
              static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data(),
              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/// The next request for a connection.
[[nodiscard]] inline DAT_CR_ARRIVAL_EVENT_DATA arrival(DatBody& body, const Evd& requests) {
  return body.expect_event(requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
}

/// Of two requests at a service point whose EVD has room for one, one waits and the other is refused;
/// then the place is free again. `listen` makes the service point, and returns its qualifier.
template <typename Listen>
void expect_overrun_refused(DatBody& body, const Evd& requests, const Listen& listen) {
  DAT_EVD_PARAM param{};
  body.need(CALL(dat_evd_query, requests.get(), DAT_EVD_FIELD_ALL, &param), "no EVD query");
  if (param.evd_qlen > 1) body.stop(Verdict::inconclusive, "the provider makes the queue longer");
  const DAT_CONN_QUAL qualifier = listen();
  const Pz pz = body.ia().pz();
  const std::array<Side, 2> sides{make_side(body.ia(), pz), make_side(body.ia(), pz)};
  for (const Side& side : sides) body.need(ask(body.ia(), side.ep, qualifier), "no connect");
  DAT_EVENT event{};
  while (dat_evd_dequeue(sides[0].connection.get(), &event) != DAT_SUCCESS &&
         dat_evd_dequeue(sides[1].connection.get(), &event) != DAT_SUCCESS)
    std::this_thread::yield();
  body.expect_that(event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
                   event_text(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
                   event_text(event.event_number));
  const auto request = arrival(body, requests);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
  const Side later = make_side(body.ia(), pz);
  body.need(ask(body.ia(), later.ep, qualifier), "no connect");
  (void)dat_cr_reject(arrival(body, requests).cr_handle, 0, nullptr);
}

/// A connection request of an endpoint that has arrived at its service point.
struct PendingRequest {
  explicit PendingRequest(DatBody& body, const std::vector<std::byte>& data = {})
      : pz(body.ia().pz()),
        requests(body.ia().evd(DAT_EVD_CR_FLAG)),
        active(make_side(body.ia(), pz)),
        passive(make_side(body.ia(), pz)) {
    auto [point, listening] = body.ia().psp(requests);
    psp = std::move(point);
    qualifier = listening;
    body.need(ask(body.ia(), active.ep, qualifier, data), "no connect");
    request = next_event(requests).event_data.cr_arrival_event_data;
    cr = request.cr_handle;
  }
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;
  ~PendingRequest() {
    if (cr != DAT_HANDLE_NULL) (void)dat_cr_reject(cr, 0, nullptr);
  }
  DAT_RETURN accept(std::vector<std::byte> data = {}) {
    return accept(passive.ep.get(), static_cast<DAT_COUNT>(data.size()),
                  data.empty() ? nullptr : data.data());
  }
  DAT_RETURN accept(DAT_EP_HANDLE ep, DAT_COUNT size, DAT_PVOID data) {
    const DAT_RETURN got = CALL(dat_cr_accept, cr, ep, size, data);
    if (got == DAT_SUCCESS) cr = DAT_HANDLE_NULL;
    return got;
  }
  DAT_RETURN reject(DAT_COUNT size = 0, DAT_PVOID data = nullptr) {
    const DAT_RETURN got = CALL(dat_cr_reject, cr, size, data);
    if (got == DAT_SUCCESS) cr = DAT_HANDLE_NULL;
    return got;
  }

  Pz pz;
  Evd requests;
  Side active, passive;
  Psp psp;
  DAT_CONN_QUAL qualifier = 0;
  DAT_CR_ARRIVAL_EVENT_DATA request{};
  /// Null once it is answered.
  DAT_CR_HANDLE cr = DAT_HANDLE_NULL;
};

/// An endpoint that is reserved or will be.
struct Reserved {
  explicit Reserved(DatBody& body)
      : pz(body.ia().pz()),
        requests(body.ia().evd(DAT_EVD_CR_FLAG)),
        passive(make_side(body.ia(), pz)),
        active(make_side(body.ia(), pz)),
        qualifier(free_qualifier(body.ia())) {}
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() {
    if (rsp != DAT_HANDLE_NULL) (void)dat_rsp_free(rsp);
  }
  DAT_RETURN create(DatBody& body) {
    return create(body.ia().get(), qualifier, passive.ep.get(), requests.get());
  }
  DAT_RETURN create(DAT_IA_HANDLE ia, DAT_CONN_QUAL at, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd) {
    return CALL(dat_rsp_create, ia, at, ep, evd, &rsp);
  }
  DAT_RETURN free() { return CALL(dat_rsp_free, std::exchange(rsp, DAT_HANDLE_NULL)); }

  Pz pz;
  Evd requests;
  Side passive, active;
  DAT_CONN_QUAL qualifier;
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
};

/// There is no listener: the provider reports that to the endpoint that asks.
inline void expect_nobody_listens(DatBody& body, DAT_CONN_QUAL qualifier, RuleRef rule = {}) {
  const Pz pz = body.ia().pz();
  const Side side = make_side(body.ia(), pz);
  body.need(ask(body.ia(), side.ep, qualifier), "no connect");
  body.expect_event(side.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, rule);
}

/// The event is about this endpoint.
inline void expect_endpoint(DatBody& body, const DAT_EVENT& event, const Ep& ep,
                            RuleRef rule = {}) {
  body.expect_that(event.event_data.connect_event_data.ep_handle == ep.get(), "the endpoint",
                   "another handle", rule);
}

[[nodiscard]] inline std::string octets_text(const void* data, DAT_COUNT size) {
  return fmt::format("{} octets at {}", size, data == nullptr ? "null" : "an address");
}
/// `got` begins with what was sent. A transport may pad private data at its end.
inline void expect_private_data(DatBody& body, const std::vector<std::byte>& sent, DAT_PVOID got,
                                DAT_COUNT size, RuleRef rule = {}) {
  const bool whole = size >= static_cast<DAT_COUNT>(sent.size()) && got != nullptr &&
                     std::memcmp(got, sent.data(), sent.size()) == 0;
  body.expect_that(whole, fmt::format("the {} octets sent", sent.size()), octets_text(got, size),
                   rule);
  body.advise_that(size == static_cast<DAT_COUNT>(sent.size()),
                   fmt::format("{} octets", sent.size()), fmt::format("{} octets", size), rule);
}

}  // namespace suite::cases::dat
