// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP extension of DAT 2.0 as a consumer calls it: service points and connects over a socket
// that the consumer has connected. No installed header defines it in a form that compiles.
#pragma once

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::cases::dat::iwarp {

enum Operation : int {
  ssp_create_op = 0,
  ssp_free_op = 1,
  ssp_query_op = 2,
  socket_connect_op = 3
};

using Ssp = DAT_HANDLE;
enum SspState : int { operational, non_operational };

struct SspParam {
  DAT_IA_HANDLE ia_handle;
  int socket_id;
  DAT_EVD_HANDLE evd_handle;
  DAT_EP_HANDLE ep_handle;
  SspState ssp_state;
};
inline constexpr int ssp_field_all = 0x1F;

/// No document gives DAT_CONNECTION_EVENT_SOCKET_DOWN its value, only the range.
[[nodiscard]] inline bool in_range(DAT_EVENT_NUMBER number) {
  return static_cast<unsigned>(number) >= DAT_IW_EXTENSION_RANGE_BASE;
}

inline DAT_RETURN dat_iw_ssp_create(DAT_IA_HANDLE ia, int socket, DAT_EP_HANDLE ep,
                                    DAT_EVD_HANDLE evd, DAT_PVOID message, DAT_COUNT length,
                                    Ssp* ssp) {
  return dat_extension_op(ia, ssp_create_op, ia, socket, ep, evd, message, length, ssp);
}
inline DAT_RETURN dat_iw_ssp_free(Ssp ssp) { return dat_extension_op(ssp, ssp_free_op); }
inline DAT_RETURN dat_iw_ssp_query(Ssp ssp, int mask, SspParam* param) {
  return dat_extension_op(ssp, ssp_query_op, mask, param);
}
inline DAT_RETURN dat_iw_socket_connect(DAT_EP_HANDLE ep, int socket, DAT_TIMEOUT timeout,
                                        DAT_COUNT size, DAT_PVOID data) {
  return dat_extension_op(ep, socket_connect_op, socket, timeout, size, data);
}

}  // namespace suite::cases::dat::iwarp
