// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The DAT 2.0 headers, and DAT objects that free themselves.
#pragma once

#include <dat2/udat.h>
// After udat.h, which defines for which kind of consumer it is.
#include <dat2/udat_redirection.h>

#include <utility>

extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE ia, DAT_IA_HANDLE* other);

namespace suite::upper_tester::dat {

template <class Handle, DAT_RETURN (*Free)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { free_now(); }

  [[nodiscard]] Handle get() const { return handle_; }
  /// For a call that fills in the handle.
  [[nodiscard]] Handle* out() { return &handle_; }
  Handle release() { return std::exchange(handle_, nullptr); }
  /// Frees at once and returns the result; on failure the object remains.
  DAT_RETURN free_now() {
    if (handle_ == nullptr) return DAT_SUCCESS;
    const DAT_RETURN result = Free(handle_);
    if (result == DAT_SUCCESS) handle_ = nullptr;
    return result;
  }

 private:
  Handle handle_ = nullptr;
};

inline DAT_RETURN reject_request(DAT_CR_HANDLE request) {
  return dat_cr_reject(request, 0, nullptr);
}
/// In any state: a connection ends abruptly.
inline DAT_RETURN end_endpoint(DAT_EP_HANDLE endpoint) {
  static_cast<void>(dat_ep_disconnect(endpoint, DAT_CLOSE_ABRUPT_FLAG));
  return dat_ep_free(endpoint);
}

// The iWARP extension, whose macros in the installed header do not compile.
inline DAT_RETURN create_socket_point(DAT_IA_HANDLE ia, int socket, DAT_EP_HANDLE endpoint,
                                      DAT_EVD_HANDLE requests, DAT_HANDLE* point) {
  constexpr DAT_PVOID no_last_message = nullptr;
  return dat_extension_op(ia, 0, ia, socket, endpoint, requests, no_last_message, DAT_COUNT{0},
                          point);
}
inline DAT_RETURN free_socket_point(DAT_HANDLE point) { return dat_extension_op(point, 1); }
inline DAT_RETURN connect_socket(DAT_EP_HANDLE endpoint, int socket, DAT_TIMEOUT timeout,
                                 DAT_COUNT size, DAT_PVOID private_data) {
  return dat_extension_op(endpoint, 3, socket, timeout, size, private_data);
}

using Zone = Owned<DAT_PZ_HANDLE, dat_pz_free>;
using Dispatcher = Owned<DAT_EVD_HANDLE, dat_evd_free>;
using Notifier = Owned<DAT_CNO_HANDLE, dat_cno_free>;
using LocalRegion = Owned<DAT_LMR_HANDLE, dat_lmr_free>;
using RemoteRegion = Owned<DAT_RMR_HANDLE, dat_rmr_free>;
using SharedReceiveQueue = Owned<DAT_SRQ_HANDLE, dat_srq_free>;
using ServicePoint = Owned<DAT_PSP_HANDLE, dat_psp_free>;
using SocketPoint = Owned<DAT_HANDLE, free_socket_point>;
using Request = Owned<DAT_CR_HANDLE, reject_request>;
using EndpointObject = Owned<DAT_EP_HANDLE, end_endpoint>;

}  // namespace suite::upper_tester::dat
