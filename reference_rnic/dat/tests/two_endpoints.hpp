// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An open IA with two Endpoints that connect to one another over loopback, and functions that wait
// for their events.
#pragma once

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference_rnic/dat/api.hpp"

namespace rnic::dat::tests {

inline constexpr DAT_TIMEOUT patience = 10'000'000;  ///< microseconds, for what must come
inline char ia_name[] = "rnic0";

#define CHECK_DAT(call) BOOST_REQUIRE_EQUAL(static_cast<DAT_RETURN>(call), DAT_RETURN{DAT_SUCCESS})
#define CHECK_TYPE(call, type) BOOST_CHECK_EQUAL(DAT_GET_TYPE(call), static_cast<DAT_UINT32>(type))

/// An open IA, closed abruptly.
struct OpenIa {
  explicit OpenIa(char* name = ia_name) {
    CHECK_DAT(dat_ia_open(name, 16, &async_evd, &ia));
    CHECK_DAT(dat_pz_create(ia, &pz));
  }
  ~OpenIa() { BOOST_CHECK_EQUAL(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_RETURN{DAT_SUCCESS}); }
  OpenIa(const OpenIa&) = delete;
  OpenIa& operator=(const OpenIa&) = delete;

  DAT_EVD_HANDLE make_evd(unsigned flags, DAT_COUNT length = 64,
                          DAT_CNO_HANDLE cno = nullptr) const {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    CHECK_DAT(dat_evd_create(ia, length, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd));
    return evd;
  }

  DAT_IA_HANDLE ia{};
  DAT_EVD_HANDLE async_evd{};
  DAT_PZ_HANDLE pz{};
};

inline DAT_EVENT wait_for(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  CHECK_DAT(dat_evd_wait(evd, patience, 1, &event, &more));
  BOOST_REQUIRE_EQUAL(static_cast<unsigned>(event.event_number), static_cast<unsigned>(number));
  BOOST_CHECK_EQUAL(event.evd_handle, evd);
  return event;
}

inline DAT_DTO_COMPLETION_EVENT_DATA wait_for_dto(DAT_EVD_HANDLE evd) {
  return wait_for(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
}

inline DAT_CONTEXT cookie(DAT_UINT64 value) {
  DAT_CONTEXT context{};
  context.as_64 = value;
  return context;
}

inline DAT_PVOID bytes_of(const std::string& text) { return const_cast<char*>(text.data()); }

/// Memory that is registered with all privileges, or with those given.
struct Region {
  Region(const OpenIa& opened, std::size_t size, unsigned privileges = DAT_MEM_PRIV_ALL_FLAG,
         DAT_VA_TYPE va_type = DAT_VA_TYPE_VA)
      : memory(size),
        based_at(va_type == DAT_VA_TYPE_ZB ? 0 : reinterpret_cast<DAT_VADDR>(memory.data())) {
    DAT_REGION_DESCRIPTION where{};
    where.for_va = memory.data();
    DAT_VLEN length = 0;
    DAT_VADDR address = 0;
    CHECK_DAT(dat_lmr_create(opened.ia, DAT_MEM_TYPE_VIRTUAL, where, size, opened.pz,
                             static_cast<DAT_MEM_PRIV_FLAGS>(privileges), va_type, &lmr, &context,
                             &rmr_context, &length, &address));
    BOOST_CHECK_EQUAL(length, size);
  }
  [[nodiscard]] DAT_LMR_TRIPLET local(std::size_t offset, std::size_t length) const {
    return {based_at + offset, static_cast<DAT_SEG_LENGTH>(length), context};
  }
  [[nodiscard]] DAT_RMR_TRIPLET remote(std::size_t offset, std::size_t length) const {
    return {based_at + offset, static_cast<DAT_SEG_LENGTH>(length), rmr_context};
  }
  void write(std::size_t offset, std::string_view text) {
    std::memcpy(memory.data() + offset, text.data(), text.size());
  }
  [[nodiscard]] std::string read(std::size_t offset, std::size_t length) const {
    return {memory.data() + offset, length};
  }
  std::vector<char> memory;
  DAT_VADDR based_at;
  DAT_LMR_HANDLE lmr{};
  DAT_LMR_CONTEXT context{};
  DAT_RMR_CONTEXT rmr_context{};
};

/// One side: an Endpoint and an EVD for each of its streams.
struct Side {
  explicit Side(const OpenIa& opened, const DAT_EP_ATTR* attr = nullptr,
                DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL, DAT_COUNT receives = 64) {
    recv = opened.make_evd(DAT_EVD_DTO_FLAG, receives);
    request = opened.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    connection = opened.make_evd(DAT_EVD_CONNECTION_FLAG);
    if (srq == DAT_HANDLE_NULL)
      CHECK_DAT(dat_ep_create(opened.ia, opened.pz, recv, request, connection, attr, &ep));
    else
      CHECK_DAT(
          dat_ep_create_with_srq(opened.ia, opened.pz, recv, request, connection, srq, attr, &ep));
  }
  [[nodiscard]] DAT_EP_STATE state() const {
    DAT_EP_STATE now{};
    CHECK_DAT(dat_ep_get_status(ep, &now, nullptr, nullptr));
    return now;
  }
  DAT_EVD_HANDLE recv{}, request{}, connection{};
  DAT_EP_HANDLE ep{};
};

/// A PSP on a port that the provider chooses.
struct Service {
  explicit Service(const OpenIa& opened, DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) {
    requests = opened.make_evd(DAT_EVD_CR_FLAG);
    CHECK_DAT(dat_psp_create_any(opened.ia, &port, requests, flags, &psp));
  }
  [[nodiscard]] DAT_CR_ARRIVAL_EVENT_DATA next() const {
    return wait_for(requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  }
  DAT_EVD_HANDLE requests{};
  DAT_PSP_HANDLE psp{};
  DAT_CONN_QUAL port = 0;
};

inline DAT_IA_ADDRESS_PTR address_of(DAT_IA_HANDLE ia) {
  DAT_IA_ATTR attr{};
  CHECK_DAT(dat_ia_query(ia, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, nullptr));
  return attr.ia_address_ptr;
}

inline void ask(const OpenIa& opened, const Side& side, DAT_CONN_QUAL port,
                const std::string& data = {}) {
  CHECK_DAT(dat_ep_connect(side.ep, address_of(opened.ia), port, patience,
                           static_cast<DAT_COUNT>(data.size()), bytes_of(data), DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG));
}

/// Two connected Endpoints.
struct Connected : OpenIa {
  explicit Connected(const DAT_EP_ATTR* attr = nullptr)
      : client(*this, attr), server(*this, attr), service(*this) {
    connect();
  }
  void connect() {
    ask(*this, client, service.port);
    CHECK_DAT(dat_cr_accept(service.next().cr_handle, server.ep, 0, nullptr));
    wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    wait_for(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  Side client, server;
  Service service;
};

}  // namespace rnic::dat::tests
