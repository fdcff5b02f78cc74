/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The types of kDAPL 2.0. Names and values are those of the interface; the
 * members that only multipathing and extensions use are left out.
 */
#ifndef KDAT_TYPES_H
#define KDAT_TYPES_H

#include <linux/bits.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "kdat_error.h"

#define DAT_NAME_MAX_LENGTH 256

typedef u32 DAT_UINT32;
typedef u64 DAT_UINT64;
typedef void *DAT_PVOID;
typedef int DAT_COUNT;
typedef u64 DAT_PADDR;
typedef u64 DAT_VLEN;
typedef u64 DAT_VADDR;
typedef u32 DAT_SEG_LENGTH;
typedef u32 DAT_TIMEOUT; /* microseconds */
typedef u64 DAT_CONN_QUAL;
typedef u64 DAT_PORT_QUAL;
typedef u32 DAT_LMR_CONTEXT;
typedef u32 DAT_RMR_CONTEXT;
typedef char *DAT_NAME_PTR;
typedef struct sockaddr *DAT_IA_ADDRESS_PTR;
typedef bool DAT_BOOLEAN;

#define DAT_FALSE false
#define DAT_TRUE true
#define DAT_TIMEOUT_INFINITE ((DAT_TIMEOUT)~0)
typedef DAT_PVOID DAT_HANDLE;
typedef DAT_HANDLE DAT_CR_HANDLE;
typedef DAT_HANDLE DAT_EP_HANDLE;
typedef DAT_HANDLE DAT_EVD_HANDLE;
typedef DAT_HANDLE DAT_IA_HANDLE;
typedef DAT_HANDLE DAT_LMR_HANDLE;
typedef DAT_HANDLE DAT_PSP_HANDLE;
typedef DAT_HANDLE DAT_RMR_HANDLE;
typedef DAT_HANDLE DAT_RSP_HANDLE;
typedef DAT_HANDLE DAT_PZ_HANDLE;
typedef DAT_HANDLE DAT_SRQ_HANDLE;
typedef DAT_HANDLE DAT_CSP_HANDLE;
#define DAT_HANDLE_NULL ((DAT_HANDLE)NULL)

typedef enum dat_handle_type {
	DAT_HANDLE_TYPE_CR,
	DAT_HANDLE_TYPE_EP,
	DAT_HANDLE_TYPE_EVD,
	DAT_HANDLE_TYPE_IA,
	DAT_HANDLE_TYPE_LMR,
	DAT_HANDLE_TYPE_PSP,
	DAT_HANDLE_TYPE_PZ,
	DAT_HANDLE_TYPE_RMR,
	DAT_HANDLE_TYPE_RSP,
	DAT_HANDLE_TYPE_SRQ,
	DAT_HANDLE_TYPE_CSP,
} DAT_HANDLE_TYPE;

typedef union dat_context {
	DAT_PVOID as_ptr;
	DAT_UINT64 as_64;
	unsigned long long as_index;
} DAT_CONTEXT;

typedef DAT_CONTEXT DAT_DTO_COOKIE;
typedef DAT_CONTEXT DAT_LMR_COOKIE;
typedef DAT_CONTEXT DAT_RMR_COOKIE;

/* Sums of the flags travel in the type of the enumeration, as in C they may. */
typedef enum dat_completion_flags {
	DAT_COMPLETION_DEFAULT_FLAG = 0x00,
	DAT_COMPLETION_SUPPRESS_FLAG = 0x01,
	DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,
	DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04,
	DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08,
	DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG = 0x20,
} DAT_COMPLETION_FLAGS;

typedef enum dat_dtos {
	DAT_DTO_SEND,
	DAT_DTO_RDMA_WRITE,
	DAT_DTO_RDMA_READ,
	DAT_DTO_RECEIVE,
	DAT_DTO_RECEIVE_WITH_INVALIDATE,
	DAT_DTO_BIND_MW,
	DAT_DTO_LMR_FMR,
	DAT_DTO_LMR_INVALIDATE,
} DAT_DTOS;

typedef enum dat_qos { DAT_QOS_BEST_EFFORT = 0x00 } DAT_QOS;
typedef enum dat_connect_flags {
	DAT_CONNECT_DEFAULT_FLAG = 0x00,
	DAT_CONNECT_MULTIPATH_REQUESTED_FLAG = 0x01,
	DAT_CONNECT_MULTIPATH_REQUIRED_FLAG = 0x02,
} DAT_CONNECT_FLAGS;
typedef enum dat_close_flags {
	DAT_CLOSE_ABRUPT_FLAG = 0x00,
	DAT_CLOSE_GRACEFUL_FLAG = 0x01,
} DAT_CLOSE_FLAGS;
typedef enum dat_psp_flags {
	DAT_PSP_CONSUMER_FLAG = 0x00,
	DAT_PSP_PROVIDER_FLAG = 0x01,
} DAT_PSP_FLAGS;

typedef struct dat_comm {
	int domain;
	int type;
	int protocol;
} DAT_COMM;

/* ---------------------------------------------------------------- memory */

typedef enum dat_mem_type {
	DAT_MEM_TYPE_VIRTUAL = 0x00,
	DAT_MEM_TYPE_LMR = 0x01,
	DAT_MEM_TYPE_PHYSICAL = 0x10,
	DAT_MEM_TYPE_PLATFORM = 0x20,
	DAT_MEM_TYPE_IA = 0x40,
	DAT_MEM_TYPE_BYPASS = 0x80,
	DAT_MEM_TYPE_PHYSICAL_VAR_PAGES = 0x100,
} DAT_MEM_TYPE;

typedef enum dat_mem_priv_flags {
	DAT_MEM_PRIV_NONE_FLAG = 0x00,
	DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x01,
	DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x02,
	DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,
	DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20,
	DAT_MEM_PRIV_ALL_FLAG = 0x33,
} DAT_MEM_PRIV_FLAGS;

typedef enum dat_va_type {
	DAT_VA_TYPE_VA = 0x0,
	DAT_VA_TYPE_ZB = 0x1,
} DAT_VA_TYPE;

typedef enum dat_mem_optimize_flags {
	DAT_MEM_OPTIMIZE_DONT_CARE = 0x00,
	DAT_MEM_OPTIMIZE_IA = 0x01,
	DAT_MEM_OPTIMIZE_MIN_EXPOSURE = 0x02,
	DAT_MEM_OPTIMIZE_EXACT_EXPOSURE = 0x04,
} DAT_MEM_OPTIMIZE_FLAGS;

/* `pages` is an array of DAT_PADDR; the size of its pages is the consumer's. */
typedef struct dat_physical_var_pages {
	DAT_VLEN page_size;
	void *pages;
} DAT_PHYSICAL_VAR_PAGES;

typedef union dat_region_description {
	DAT_PVOID for_va;
	DAT_LMR_HANDLE for_lmr_handle;
	void *for_platform;
	DAT_PHYSICAL_VAR_PAGES for_array;
	DAT_PADDR *for_physical; /* pages of the system's size */
	DAT_PADDR for_ia;
} DAT_REGION_DESCRIPTION;

typedef struct dat_lmr_triplet {
	DAT_VADDR virtual_address;
	DAT_SEG_LENGTH segment_length;
	DAT_LMR_CONTEXT lmr_context;
} DAT_LMR_TRIPLET;

typedef struct dat_rmr_triplet {
	DAT_VADDR virtual_address;
	DAT_SEG_LENGTH segment_length;
	DAT_RMR_CONTEXT rmr_context;
} DAT_RMR_TRIPLET;

typedef enum dat_rmr_scope {
	DAT_RMR_SCOPE_EP,
	DAT_RMR_SCOPE_PZ,
	DAT_RMR_SCOPE_ANY,
} DAT_RMR_SCOPE;

typedef struct dat_rmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_PZ_HANDLE pz_handle;
	DAT_LMR_TRIPLET lmr_triplet;
	DAT_MEM_PRIV_FLAGS mem_priv;
	DAT_RMR_CONTEXT rmr_context;
	DAT_RMR_SCOPE rmr_scope;
	DAT_VA_TYPE va_type;
} DAT_RMR_PARAM;
typedef u32 DAT_RMR_PARAM_MASK;
#define DAT_RMR_FIELD_ALL 0x7FU

typedef enum dat_lmr_scope {
	DAT_LMR_SCOPE_EP,
	DAT_LMR_SCOPE_PZ,
	DAT_LMR_SCOPE_ANY,
} DAT_LMR_SCOPE;

typedef struct dat_lmr_state {
	DAT_BOOLEAN fmr_support;
	DAT_BOOLEAN bound;
} DAT_LMR_STATE;

typedef struct dat_lmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_MEM_TYPE mem_type;
	DAT_REGION_DESCRIPTION region_desc;
	DAT_VLEN length;
	DAT_PZ_HANDLE pz_handle;
	DAT_MEM_PRIV_FLAGS mem_priv;
	DAT_VA_TYPE va_type;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VLEN registered_size;
	DAT_VADDR registered_address;
	DAT_LMR_STATE lmr_state;
} DAT_LMR_PARAM;

typedef u32 DAT_LMR_PARAM_MASK;
#define DAT_LMR_FIELD_ALL 0xFFFU

/* ---------------------------------------------------------------- queries */

typedef struct dat_ia_attr {
	char adapter_name[DAT_NAME_MAX_LENGTH];
	char vendor_name[DAT_NAME_MAX_LENGTH];
	DAT_IA_ADDRESS_PTR ia_address_ptr;
	DAT_COUNT max_eps;
	DAT_COUNT max_dto_per_ep;
	DAT_COUNT max_rdma_read_per_ep_in;
	DAT_COUNT max_rdma_read_per_ep_out;
	DAT_COUNT max_evds;
	DAT_COUNT max_evd_qlen;
	DAT_COUNT max_iov_segments_per_dto;
	DAT_COUNT max_lmrs;
	DAT_VLEN max_lmr_block_size;
	DAT_COUNT max_pzs;
	DAT_SEG_LENGTH max_message_size;
	DAT_SEG_LENGTH max_rdma_size;
	DAT_COUNT max_rmrs;
	DAT_COUNT max_srqs;
	DAT_COUNT max_recv_per_srq;
	DAT_COUNT max_iov_segments_per_rdma_read;
	DAT_COUNT max_iov_segments_per_rdma_write;
	DAT_BOOLEAN zb_supported;
	DAT_BOOLEAN reserved_lmr_supported;
} DAT_IA_ATTR;

typedef u64 DAT_IA_ATTR_MASK;
typedef u64 DAT_PROVIDER_ATTR_MASK;
#define DAT_IA_FIELD_ALL GENMASK_ULL(38, 0)
#define DAT_PROVIDER_FIELD_ALL GENMASK_ULL(32, 0)

typedef enum dat_upcall_policy {
	DAT_UPCALL_DISABLE = 0,
	DAT_UPCALL_SINGLE_INSTANCE = 1,
	DAT_UPCALL_NORIFY = 2,
	DAT_UPCALL_NOTIFY = DAT_UPCALL_NORIFY, /* as it is meant */
	DAT_UPCALL_MANY = 100,
	DAT_UPCALL_TEARDOWN = -1,
} DAT_UPCALL_POLICY;

typedef enum dat_upcall_flag {
	DAT_UPCALL_INVOC_NEW = 0,
	DAT_UPCALL_INVOC_ANY = 1,
} DAT_UPCALL_FLAG;

typedef struct dat_provider_attr {
	char provider_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 provider_version_major;
	DAT_UINT32 provider_version_minor;
	DAT_UINT32 dapl_version_major;
	DAT_UINT32 dapl_version_minor;
	DAT_MEM_TYPE lmr_mem_types_supported;
	DAT_BOOLEAN is_thread_safe;
	DAT_COUNT max_private_data_size;
	DAT_UPCALL_POLICY upcall_policy;
	DAT_BOOLEAN srq_supported;
	DAT_BOOLEAN lmr_sync_req;
	DAT_BOOLEAN rdma_write_for_rdma_read_req;
	DAT_BOOLEAN is_interrupt_safe;
	DAT_BOOLEAN fmr_supported;
	DAT_LMR_SCOPE lmr_for_fmr_scope_supported;
} DAT_PROVIDER_ATTR;

typedef struct dat_provider_info {
	char ia_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 dapl_version_major;
	DAT_UINT32 dapl_version_minor;
	DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

typedef struct dat_pz_param {
	DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;
typedef u32 DAT_PZ_PARAM_MASK;
#define DAT_PZ_FIELD_ALL 0x01U
typedef struct dat_psp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;
typedef u32 DAT_PSP_PARAM_MASK;
#define DAT_PSP_FIELD_ALL 0x0FU

typedef struct dat_rsp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;
typedef u32 DAT_RSP_PARAM_MASK;
#define DAT_RSP_FIELD_ALL 0x0FU

typedef struct dat_csp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_COMM *comm;
	DAT_IA_ADDRESS_PTR address_ptr;
	DAT_EVD_HANDLE evd_handle;
} DAT_CSP_PARAM;
typedef u32 DAT_CSP_PARAM_MASK;
#define DAT_CSP_FIELD_ALL 0x0FU

typedef struct dat_cr_param {
	DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
	DAT_PORT_QUAL remote_port_qual;
	DAT_COUNT private_data_size;
	DAT_PVOID private_data;
	DAT_EP_HANDLE local_ep_handle;
} DAT_CR_PARAM;
typedef u32 DAT_CR_PARAM_MASK;
#define DAT_CR_FIELD_ALL 0x1FU

typedef enum dat_srq_state {
	DAT_SRQ_STATE_ERROR,
	DAT_SRQ_STATE_OPERATIONAL,
	DAT_SRQ_STATE_SHUTDOWN,
} DAT_SRQ_STATE;

typedef struct dat_srq_attr {
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT low_watermark;
} DAT_SRQ_ATTR;

typedef struct dat_srq_param {
	DAT_IA_HANDLE ia_handle;
	DAT_SRQ_STATE srq_state;
	DAT_PZ_HANDLE pz_handle;
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT low_watermark;
	DAT_COUNT available_dto_count;
	DAT_COUNT outstanding_dto_count;
} DAT_SRQ_PARAM;
typedef u32 DAT_SRQ_PARAM_MASK;
#define DAT_SRQ_FIELD_ALL 0xFFU
#define DAT_VALUE_UNKNOWN ((DAT_COUNT)~0 - 1)
#define DAT_WATERMARK_INFINITE ((DAT_COUNT)~0)

/* ---------------------------------------------------------------- endpoints */

typedef struct dat_ep_attr {
	DAT_SEG_LENGTH max_message_size;
	DAT_SEG_LENGTH max_rdma_size;
	DAT_COMPLETION_FLAGS recv_completion_flags;
	DAT_COMPLETION_FLAGS request_completion_flags;
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_request_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT max_request_iov;
	DAT_COUNT max_rdma_read_in;
	DAT_COUNT max_rdma_read_out;
} DAT_EP_ATTR;

typedef enum dat_ep_state {
	DAT_EP_STATE_UNCONNECTED,
	DAT_EP_STATE_UNCONFIGURED_UNCONNECTED,
	DAT_EP_STATE_RESERVED,
	DAT_EP_STATE_UNCONFIGURED_RESERVED,
	DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
	DAT_EP_STATE_UNCONFIGURED_PASSIVE,
	DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
	DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
	DAT_EP_STATE_UNCONFIGURED_TENTATIVE,
	DAT_EP_STATE_CONNECTED,
	DAT_EP_STATE_DISCONNECT_PENDING,
	DAT_EP_STATE_DISCONNECTED,
	DAT_EP_STATE_COMPLETION_PENDING,
} DAT_EP_STATE;

typedef struct dat_ep_param {
	DAT_IA_HANDLE ia_handle;
	DAT_EP_STATE ep_state;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr;
	DAT_PZ_HANDLE pz_handle;
	DAT_EVD_HANDLE recv_evd_handle;
	DAT_EVD_HANDLE request_evd_handle;
	DAT_EVD_HANDLE connect_evd_handle;
	DAT_SRQ_HANDLE srq_handle;
	DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;
typedef u64 DAT_EP_PARAM_MASK;
#define DAT_EP_FIELD_ALL 0x7FFFFFFFULL
#define DAT_EP_FIELD_PZ_HANDLE BIT_ULL(7)
#define DAT_EP_FIELD_RECV_EVD_HANDLE BIT_ULL(8)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE BIT_ULL(9)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE BIT_ULL(10)
#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE BIT_ULL(13)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE BIT_ULL(14)
#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS BIT_ULL(16)
#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS BIT_ULL(17)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS BIT_ULL(18)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS BIT_ULL(19)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV BIT_ULL(20)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV BIT_ULL(21)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN BIT_ULL(22)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT BIT_ULL(23)

/* ---------------------------------------------------------------- events */

typedef enum dat_evd_flags {
	DAT_EVD_SOFTWARE_FLAG = 0x001,
	DAT_EVD_CR_FLAG = 0x010,
	DAT_EVD_DTO_FLAG = 0x020,
	DAT_EVD_CONNECTION_FLAG = 0x040,
	DAT_EVD_RMR_BIND_FLAG = 0x080,
	DAT_EVD_ASYNC_FLAG = 0x100,
	DAT_EVD_DEFAULT_FLAG = 0x1F0,
} DAT_EVD_FLAGS;

typedef enum dat_dto_completion_status {
	DAT_DTO_SUCCESS = 0,
	DAT_DTO_ERR_FLUSHED = 1,
	DAT_DTO_ERR_LOCAL_LENGTH = 2,
	DAT_DTO_ERR_LOCAL_EP = 3,
	DAT_DTO_ERR_LOCAL_PROTECTION = 4,
	DAT_DTO_ERR_BAD_RESPONSE = 5,
	DAT_DTO_ERR_REMOTE_ACCESS = 6,
	DAT_DTO_ERR_REMOTE_RESPONDER = 7,
	DAT_DTO_ERR_TRANSPORT = 8,
	DAT_DTO_ERR_RECEIVER_NOT_READY = 9,
	DAT_DTO_ERR_PARTIAL_PACKET = 10,
	DAT_RMR_OPERATION_FAILED = 11,
	DAT_DTO_ERR_LOCAL_MM_ERROR = 12,
} DAT_DTO_COMPLETION_STATUS;
typedef DAT_DTO_COMPLETION_STATUS DAT_RMR_BIND_COMPLETION_STATUS;
#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS

typedef struct dat_dto_completion_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_DTO_COOKIE user_cookie;
	DAT_DTO_COMPLETION_STATUS status;
	DAT_SEG_LENGTH transfered_length;
	DAT_DTOS operation;
	DAT_RMR_CONTEXT rmr_context;
} DAT_DTO_COMPLETION_EVENT_DATA;

typedef struct dat_rmr_bind_completion_event_data {
	DAT_RMR_HANDLE rmr_handle;
	DAT_RMR_COOKIE user_cookie;
	DAT_RMR_BIND_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

typedef union dat_sp_handle {
	DAT_RSP_HANDLE rsp_handle;
	DAT_PSP_HANDLE psp_handle;
	DAT_CSP_HANDLE csp_handle;
} DAT_SP_HANDLE;

typedef struct dat_cr_arrival_event_data {
	DAT_SP_HANDLE sp_handle;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr;
	DAT_CONN_QUAL conn_qual;
	DAT_CR_HANDLE cr_handle;
	DAT_BOOLEAN truncate_flag;
} DAT_CR_ARRIVAL_EVENT_DATA;

typedef struct dat_connection_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_COUNT private_data_size;
	DAT_PVOID private_data;
} DAT_CONNECTION_EVENT_DATA;

typedef struct dat_asynch_error_event_data {
	DAT_HANDLE dat_handle;
	DAT_COUNT reason;
} DAT_ASYNCH_ERROR_EVENT_DATA;

enum { DAT_IA_CATASTROPHIC_ERROR, DAT_IA_OTHER_ERROR };
enum { DAT_EP_TRANSFER_TO_ERROR, DAT_EP_OTHER_ERROR };
enum { DAT_EVD_OVERFLOW_ERROR, DAT_EVD_OTHER_ERROR };
enum {
	DAT_SRQ_TRANSFER_TO_ERROR,
	DAT_SRQ_OTHER_ERROR,
	DAT_SRQ_LOW_WATERMARK_EVENT,
};

typedef struct dat_software_event_data {
	DAT_PVOID pointer;
} DAT_SOFTWARE_EVENT_DATA;

typedef enum dat_event_number {
	DAT_DTO_COMPLETION_EVENT = 0x00001,
	DAT_RMR_BIND_COMPLETION_EVENT = 0x01001,
	DAT_CONNECTION_REQUEST_EVENT = 0x02001,
	DAT_CONNECTION_EVENT_ESTABLISHED = 0x04001,
	DAT_CONNECTION_EVENT_PEER_REJECTED = 0x04002,
	DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x04003,
	DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x04004,
	DAT_CONNECTION_EVENT_DISCONNECTED = 0x04005,
	DAT_CONNECTION_EVENT_BROKEN = 0x04006,
	DAT_CONNECTION_EVENT_TIMED_OUT = 0x04007,
	DAT_CONNECTION_EVENT_UNREACHABLE = 0x04008,
	DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x08001,
	DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x08002,
	DAT_ASYNC_ERROR_EP_BROKEN = 0x08003,
	DAT_ASYNC_ERROR_TIMED_OUT = 0x08004,
	DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x08005,
	DAT_SOFTWARE_EVENT = 0x10001,
} DAT_EVENT_NUMBER;

typedef union dat_event_data {
	DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
	DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
	DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
	DAT_CONNECTION_EVENT_DATA connect_event_data;
	DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
	DAT_SOFTWARE_EVENT_DATA software_event_data;
} DAT_EVENT_DATA;

typedef struct dat_event {
	DAT_EVENT_NUMBER event_number;
	DAT_EVD_HANDLE evd_handle;
	DAT_EVENT_DATA event_data;
} DAT_EVENT;

/* Called in softirq. Under DAT_UPCALL_NOTIFY `event` is NULL. */
typedef void (*DAT_UPCALL_FUNC)(DAT_PVOID instance_data, const DAT_EVENT *event,
				DAT_BOOLEAN more_events);

typedef struct dat_upcall_object {
	DAT_PVOID instance_data;
	DAT_UPCALL_FUNC upcall_func;
} DAT_UPCALL_OBJECT;
#define DAT_UPCALL_SAME ((DAT_UPCALL_OBJECT *)NULL)

typedef struct dat_evd_param {
	DAT_IA_HANDLE ia_handle;
	DAT_COUNT evd_qlen;
	DAT_UPCALL_POLICY upcall_policy;
	DAT_UPCALL_OBJECT upcall;
	DAT_EVD_FLAGS evd_flags;
} DAT_EVD_PARAM;
typedef u32 DAT_EVD_PARAM_MASK;
#define DAT_EVD_FIELD_ALL 0x1FU

#endif /* KDAT_TYPES_H */
