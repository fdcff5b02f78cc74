/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The iWARP transport specific extension of DAT 2.0, for consumers written in C or C++: service
 * points and connects over a TCP socket that the consumer already has. The IA's attribute extension_supported is DAT_EXTENSION_IW. */
#ifndef RNIC_DAT_EXTENSIONS_H
#define RNIC_DAT_EXTENSIONS_H

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Operations of dat_extension_op. */
enum {
  DAT_IW_SSP_CREATE_OP = 0,
  DAT_IW_SSP_FREE_OP = 1,
  DAT_IW_SSP_QUERY_OP = 2,
  DAT_IW_SOCKET_CONNECT_OP = 3
};

enum {
  /* dat_get_handle_type of an SSP */
  DAT_IW_HANDLE_TYPE_SSP = DAT_HANDLE_TYPE_EXTENSION_BASE,
  /* On the SSP's EVD, with connect_event_data and no EP: its socket was disconnected. */
  DAT_CONNECTION_EVENT_SOCKET_DOWN = 0x80001,
  /* On the asynchronous EVD: a watermark was passed. dat_handle is the EP or SRQ, reason is
   * DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT or DAT_SRQ_LOW_WATERMARK_EVENT. */
  DAT_IW_ASYNC_WATERMARK = 0x80002
};

/* Names of provider specific attributes. */
#define DAT_IW_ATTR_EXTENSION_INTERFACE "DAT_EXTENSION_INTERFACE"
#define DAT_IW_ATTR_EXTENSION_VERSION "DAT_EXTENSION_VERSION"
#define DAT_IW_ATTR_SSP "DAT_IW_ATTR_SSP"

typedef int DAT_IW_SOCKET; /* a connected TCP socket */
typedef DAT_HANDLE DAT_IW_SSP_HANDLE;

typedef enum dat_iw_ssp_state {
  DAT_IW_SSP_STATE_OPERATIONAL,
  DAT_IW_SSP_STATE_NON_OPERATIONAL
} DAT_IW_SSP_STATE;

typedef struct dat_iw_ssp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_IW_SOCKET socket_id;
  DAT_EVD_HANDLE evd_handle;
  DAT_EP_HANDLE ep_handle;
  DAT_IW_SSP_STATE ssp_state;
} DAT_IW_SSP_PARAM;

typedef enum dat_iw_ssp_param_mask {
  DAT_IW_SSP_FIELD_IA_HANDLE = 0x01,
  DAT_IW_SSP_FIELD_SOCKET_ID = 0x02,
  DAT_IW_SSP_FIELD_EVD_HANDLE = 0x04,
  DAT_IW_SSP_FIELD_EP_HANDLE = 0x08,
  DAT_IW_SSP_FIELD_SSP_STATE = 0x10,
  DAT_IW_SSP_FIELD_ALL = 0x1F
} DAT_IW_SSP_PARAM_MASK;

/* Waits on `socket_id` for a connection request to `ep_handle` (DAT_HANDLE_NULL: the provider makes
 * an EP), after sending `final_message` on it. */
static inline DAT_RETURN dat_iw_ssp_create(DAT_IA_HANDLE ia_handle, DAT_IW_SOCKET socket_id,
                                           DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                                           DAT_PVOID final_message, DAT_COUNT final_message_length,
                                           DAT_IW_SSP_HANDLE* ssp_handle) {
  return dat_extension_op(ia_handle, DAT_IW_SSP_CREATE_OP, ia_handle, socket_id, ep_handle,
                          evd_handle, final_message, final_message_length, ssp_handle);
}

/* Gives the socket back to the consumer, if no request has come. */
static inline DAT_RETURN dat_iw_ssp_free(DAT_IW_SSP_HANDLE ssp_handle) {
  return dat_extension_op(ssp_handle, DAT_IW_SSP_FREE_OP);
}

static inline DAT_RETURN dat_iw_ssp_query(DAT_IW_SSP_HANDLE ssp_handle, DAT_IW_SSP_PARAM_MASK mask,
                                          DAT_IW_SSP_PARAM* param) {
  return dat_extension_op(ssp_handle, DAT_IW_SSP_QUERY_OP, (int)mask, param);
}

/* Asks the peer at the other end of `socket_id` for an RDMA connection. */
static inline DAT_RETURN dat_iw_socket_connect(DAT_EP_HANDLE ep_handle, DAT_IW_SOCKET socket_id,
                                               DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
                                               const DAT_PVOID private_data) {
  return dat_extension_op(ep_handle, DAT_IW_SOCKET_CONNECT_OP, socket_id, timeout,
                          private_data_size, private_data);
}

#ifdef __cplusplus
}
#endif

#endif /* RNIC_DAT_EXTENSIONS_H */
