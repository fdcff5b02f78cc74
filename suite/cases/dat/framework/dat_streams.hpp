// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// TCP connections of the consumer's own, and the endpoints that are to use them through the iWARP
// extension of DAT.
#pragma once

#include <unistd.h>

#include <string>

#include "suite/cases/dat/framework/dat_iwarp.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat::iwarp {

inline void need_extension(DatBody& body) {
  if (body.ia().attributes().extension_supported != DAT_EXTENSION_IW)
    body.stop(Verdict::not_applicable, "the IA does not have the iWARP extension");
}

/// Two ends of one TCP connection at the IA's address, and an endpoint for each.
struct Streams {
  explicit Streams(DatBody& body) : Streams(body, *body.ia().address()) {}
  /// At another local address, without a port.
  Streams(DatBody& body, const sockaddr& at) {
    need_extension(body);
    sockaddr_storage where{};
    std::memcpy(&where, &at, at.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    auto* address = reinterpret_cast<sockaddr*>(&where);
    socklen_t size = where.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const int listener = ::socket(where.ss_family, SOCK_STREAM, 0);
    active_socket = ::socket(where.ss_family, SOCK_STREAM, 0);
    if (::bind(listener, address, size) != 0 || ::bind(active_socket, address, size) != 0 ||
        ::listen(listener, 1) != 0 || ::getsockname(listener, address, &size) != 0 ||
        ::connect(active_socket, address, size) != 0)
      body.stop(Verdict::inconclusive, "no TCP connection at the IA's address");
    passive_socket = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    pz = body.ia().pz();
    requests = body.ia().evd(DAT_EVD_CR_FLAG);
    active = make_side(body.ia(), pz);
    passive = make_side(body.ia(), pz);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    if (ssp != DAT_HANDLE_NULL) (void)dat_iw_ssp_free(ssp);
    ::close(active_socket);
    ::close(passive_socket);
  }
  DAT_RETURN create(DatBody& body, std::string message = {}) {
    return create(body, passive_socket, passive.ep.get(), requests.get(),
                  message.empty() ? nullptr : message.data(),
                  static_cast<DAT_COUNT>(message.size()));
  }
  DAT_RETURN create(DatBody& body, int socket, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd,
                    DAT_PVOID message = nullptr, DAT_COUNT length = 0) {
    return CALL(dat_iw_ssp_create, body.ia().get(), socket, ep, evd, message, length, &ssp);
  }
  DAT_RETURN free() {
    const Ssp handle = std::exchange(ssp, DAT_HANDLE_NULL);
    return CALL(dat_iw_ssp_free, handle);
  }
  DAT_RETURN connect(std::vector<std::byte> data = {}, DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE) {
    return CALL(dat_iw_socket_connect, active.ep.get(), active_socket, timeout,
                static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data());
  }
  SspParam query(DatBody& body) {
    SspParam param{};
    body.expect(CALL(dat_iw_ssp_query, ssp, ssp_field_all, &param), succeeds);
    return param;
  }

  int active_socket = -1, passive_socket = -1;
  Pz pz;
  Evd requests;
  Side active, passive;
  Ssp ssp = DAT_HANDLE_NULL;
};

/// The sockets carry the consumers' octets, both ways.
inline void expect_streaming(DatBody& body, const Streams& streams) {
  const std::pair<int, int> ways[] = {{streams.active_socket, streams.passive_socket},
                                      {streams.passive_socket, streams.active_socket}};
  for (const auto& [from, to] : ways) {
    const std::string text = "as you were";
    std::string got(text.size(), ' ');
    const bool sent =
        ::send(from, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    const bool came =
        sent && ::recv(to, got.data(), got.size(), MSG_WAITALL) == static_cast<ssize_t>(got.size());
    body.expect_that(came && got == text, text, came ? got : "nothing");
  }
}

[[nodiscard]] inline Ssp freed_ssp(DatBody& body) {
  Streams streams(body);
  body.need(streams.create(body), "no SSP");
  const Ssp handle = streams.ssp;
  body.need(streams.free(), "not freed");
  return handle;
}

}  // namespace suite::cases::dat::iwarp
