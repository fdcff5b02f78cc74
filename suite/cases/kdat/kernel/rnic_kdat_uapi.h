/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The interface of /dev/rnic_kdat: the calls of kDAPL 2.0, made by a consumer
 * in the kernel for one process per open file.
 *
 * A call is an ioctl with its arguments in `in`, in the order that stands
 * beside each call, and its results in `out`. Numbers are those of the DAT
 * headers. Handles are small numbers of the session: 0 is DAT_HANDLE_NULL, and
 * so is one that the session does not have (any more). read() returns UpCalls,
 * and the file polls readable while there are some. The pages of a memory
 * object are mapped at the offset handle * page size.
 */
#ifndef RNIC_KDAT_UAPI_H
#define RNIC_KDAT_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RNIC_KDAT_DEVICE "/dev/rnic_kdat"
#define RNIC_KDAT_VERSION 3

#define RNIC_KDAT_INS 12
#define RNIC_KDAT_OUTS 16
#define RNIC_KDAT_SEGMENTS 16
#define RNIC_KDAT_PAGES 16
#define RNIC_KDAT_DATA 512

enum rnic_kdat_context {
	RNIC_KDAT_PROCESS = 0,
	RNIC_KDAT_SOFTIRQ = 1,
	RNIC_KDAT_HARDIRQ = 2,
};

/* What is given as the UpCall of a dispatcher. */
enum rnic_kdat_upcall_kind {
	RNIC_KDAT_UPCALL_NULL = 0,    /* no object: DAT_UPCALL_SAME */
	RNIC_KDAT_UPCALL_EMPTY = 1,   /* an object without a function */
	RNIC_KDAT_UPCALL_REPORTS = 2, /* read() tells of each UpCall */
	/* It dequeues until the queue is empty, and tells of each event too. */
	RNIC_KDAT_UPCALL_DEQUEUES = 3,
};

/* A bit of `nulls`: the nth of these pointers is NULL. */
#define RNIC_KDAT_NULL(n) (1U << (n))

enum rnic_kdat_number {
	/* size; out: count; data: the names, by line; nulls: count, list */
	RNIC_KDAT_LIST_PROVIDERS = 1,
	/* data: the name of a provider of the module; nulls: provider, info */
	RNIC_KDAT_ADD_PROVIDER,
	/* ia, whose provider it is, or 0: the module's; data, nulls: as above */
	RNIC_KDAT_REMOVE_PROVIDER,
	/*
	 * qlen, major, minor, thread_safe; data: name; out: ia, async_evd,
	 * whose UpCalls report; nulls: async_evd, ia, name
	 */
	RNIC_KDAT_IA_OPEN,
	/* ia, flags */
	RNIC_KDAT_IA_CLOSE,
	/* ia, mask, provider_mask; out: rnic_kdat_ia_out; nulls: attr, provider
	 */
	RNIC_KDAT_IA_QUERY,
	/* ia, type, length, flags; out: length, alignment; nulls: those */
	RNIC_KDAT_IA_MEMTYPE_HINT,
	/* ia; out: lmr, context; nulls: those */
	RNIC_KDAT_IA_RESERVED_LMR,
	/* handle, context */
	RNIC_KDAT_SET_CONSUMER_CONTEXT,
	/* handle; out: context; nulls: that */
	RNIC_KDAT_GET_CONSUMER_CONTEXT,
	/* handle; out: type; nulls: that */
	RNIC_KDAT_GET_HANDLE_TYPE,
	/* code; data: the name of its type; nulls: major, minor */
	RNIC_KDAT_STRERROR,
	/* ia; out: pz; nulls: that */
	RNIC_KDAT_PZ_CREATE,
	/* pz, mask; out: ia; nulls: param */
	RNIC_KDAT_PZ_QUERY,
	/* pz */
	RNIC_KDAT_PZ_FREE,
	/*
	 * ia, qlen, policy, flags, rnic_kdat_upcall_kind, microseconds that an
	 * UpCall takes; out: evd; nulls: that
	 */
	RNIC_KDAT_EVD_KCREATE,
	/*
	 * evd, policy, rnic_kdat_upcall_kind, flag; out: UpCalls begun and
	 * ended when it returned
	 */
	RNIC_KDAT_EVD_MODIFY_UPCALL,
	/* evd, mask; out: ia, qlen, policy, flags, has a function; nulls: param
	 */
	RNIC_KDAT_EVD_QUERY,
	/* evd, event_number, pointer; nulls: event */
	RNIC_KDAT_EVD_POST_SE,
	/* evd; event; nulls: event */
	RNIC_KDAT_EVD_DEQUEUE,
	/* evd, qlen */
	RNIC_KDAT_EVD_RESIZE,
	/* evd */
	RNIC_KDAT_EVD_FREE,
	/*
	 * ia, type, length, pz, privileges, va_type, flags, memory (or lmr),
	 * offset, page_size; page: offsets into the memory; out: lmr,
	 * lmr_context, rmr_context, length, address; nulls: those, then the
	 * region's pointer
	 */
	RNIC_KDAT_LMR_KCREATE,
	/* ia, pz, max_pages, scope; out: lmr; nulls: that */
	RNIC_KDAT_LMR_ALLOCATE,
	/* lmr, mask; out: rnic_kdat_lmr_out; nulls: param */
	RNIC_KDAT_LMR_QUERY,
	/*
	 * lmr, type, page_count, privileges, va_type, ep, cookie, flags,
	 * memory, page_size; page; out: lmr_context, rmr_context; nulls: those,
	 * then the region's pointer
	 */
	RNIC_KDAT_LMR_FMR,
	/* lmr, ep, cookie, flags */
	RNIC_KDAT_LMR_INVALIDATE,
	/* lmr */
	RNIC_KDAT_LMR_FREE,
	/* ia, count; segment; nulls: segments */
	RNIC_KDAT_LMR_SYNC_RDMA_READ,
	RNIC_KDAT_LMR_SYNC_RDMA_WRITE,
	/* pz; out: rmr; nulls: that */
	RNIC_KDAT_RMR_CREATE,
	RNIC_KDAT_RMR_CREATE_FOR_EP,
	/*
	 * rmr, mask; out: ia, pz, address, length, lmr_context, privileges,
	 * rmr_context, scope, va_type; nulls: param
	 */
	RNIC_KDAT_RMR_QUERY,
	/*
	 * rmr, lmr, privileges, va_type, ep, cookie, flags; the first segment;
	 * out: rmr_context; nulls: segment, context
	 */
	RNIC_KDAT_RMR_BIND,
	/* rmr */
	RNIC_KDAT_RMR_FREE,
	/*
	 * ia, pz, recv_evd, request_evd, connect_evd, whether there are
	 * attributes, max_recv_dtos, max_request_dtos, max_recv_iov,
	 * max_request_iov, and of the second call srq; out: ep; nulls: that
	 */
	RNIC_KDAT_EP_CREATE,
	RNIC_KDAT_EP_CREATE_WITH_SRQ,
	/* ep, mask; out: rnic_kdat_ep_out; nulls: param */
	RNIC_KDAT_EP_QUERY,
	/* ep; out: state, recv_idle, request_idle */
	RNIC_KDAT_EP_GET_STATUS,
	/*
	 * ep, IPv4 address in network order (0: that of the ia), ia, qualifier,
	 * timeout, private_data_size, qos, flags; data; nulls: address, data
	 */
	RNIC_KDAT_EP_CONNECT,
	/* ep, address, port, ia, timeout, private_data_size; data; nulls */
	RNIC_KDAT_EP_COMMON_CONNECT,
	/* ep, the other ep, timeout, private_data_size, qos; data; nulls: data */
	RNIC_KDAT_EP_DUP_CONNECT,
	/*
	 * ep, mask, pz, recv_evd, request_evd, connect_evd, max_recv_dtos,
	 * max_request_dtos, max_recv_iov, max_request_iov; nulls: param
	 */
	RNIC_KDAT_EP_MODIFY,
	/* ep; out: buffers, span; nulls: those */
	RNIC_KDAT_EP_RECV_QUERY,
	/* ep, soft, hard */
	RNIC_KDAT_EP_SET_WATERMARK,
	/* ep, flags */
	RNIC_KDAT_EP_DISCONNECT,
	/* ep */
	RNIC_KDAT_EP_RESET,
	RNIC_KDAT_EP_FREE,
	/* ep, count, cookie, flags; segment; nulls: segments */
	RNIC_KDAT_EP_POST_SEND,
	/* and invalidate, rmr_context */
	RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE,
	RNIC_KDAT_EP_POST_RECV,
	/* and remote address, length, rmr_context; nulls: segments, remote */
	RNIC_KDAT_EP_POST_RDMA_READ,
	RNIC_KDAT_EP_POST_RDMA_WRITE,
	/*
	 * ep, cookie, flags, address, length and rmr_context of the sink, and
	 * of the remote memory; nulls: sink, remote
	 */
	RNIC_KDAT_EP_POST_RDMA_READ_TO_RMR,
	/* ia, pz, max_recv_dtos, max_recv_iov, low_watermark; out: srq; nulls:
	 * that, attr
	 */
	RNIC_KDAT_SRQ_CREATE,
	/* srq, mask; out: ia, pz, dtos, iov, low_watermark, outstanding; nulls */
	RNIC_KDAT_SRQ_QUERY,
	/* srq, count, cookie; segment; nulls: segments */
	RNIC_KDAT_SRQ_POST_RECV,
	/* srq, max_recv_dtos */
	RNIC_KDAT_SRQ_RESIZE,
	/* srq, watermark */
	RNIC_KDAT_SRQ_SET_LW,
	/* srq */
	RNIC_KDAT_SRQ_FREE,
	/* ia, qualifier, evd, flags; out: psp, qualifier; nulls: those */
	RNIC_KDAT_PSP_CREATE,
	RNIC_KDAT_PSP_CREATE_ANY,
	/* psp, mask; out: ia, qualifier, evd, flags; nulls: param */
	RNIC_KDAT_PSP_QUERY,
	/* psp */
	RNIC_KDAT_PSP_FREE,
	/* ia, qualifier, ep, evd; out: rsp; nulls: that */
	RNIC_KDAT_RSP_CREATE,
	/* rsp, mask; out: ia, qualifier, evd, ep; nulls: param */
	RNIC_KDAT_RSP_QUERY,
	/* rsp */
	RNIC_KDAT_RSP_FREE,
	/*
	 * ia, domain, type and protocol of the communicator, IPv4 address in
	 * network order (0: that of the ia), port, evd; out: csp; nulls: that,
	 * communicator, address
	 */
	RNIC_KDAT_CSP_CREATE,
	/*
	 * csp, mask; out: ia, domain, type, protocol, address, port, evd;
	 * nulls: param
	 */
	RNIC_KDAT_CSP_QUERY,
	/* csp */
	RNIC_KDAT_CSP_FREE,
	/* cr, mask; out: port, private_data_size, ep; data; nulls: param */
	RNIC_KDAT_CR_QUERY,
	/* cr, ep, private_data_size; data; nulls: data */
	RNIC_KDAT_CR_ACCEPT,
	/* cr, private_data_size; data; nulls: data */
	RNIC_KDAT_CR_REJECT,
	/* cr, qualifier */
	RNIC_KDAT_CR_HANDOFF,
	RNIC_KDAT_END,
};

enum rnic_kdat_ia_out {
	RNIC_KDAT_IA_ASYNC_EVD,
	RNIC_KDAT_IA_MAX_EVD_QLEN,
	RNIC_KDAT_IA_MAX_DTO_PER_EP,
	RNIC_KDAT_IA_MAX_IOV,
	RNIC_KDAT_IA_MAX_BLOCK,
	RNIC_KDAT_IA_ZB_SUPPORTED,
	RNIC_KDAT_IA_RESERVED_SUPPORTED,
	RNIC_KDAT_IA_MEM_TYPES,
	RNIC_KDAT_IA_MAX_PRIVATE_DATA,
	RNIC_KDAT_IA_UPCALL_POLICY,
	RNIC_KDAT_IA_INTERRUPT_SAFE,
	RNIC_KDAT_IA_FMR_SUPPORTED,
	RNIC_KDAT_IA_FMR_SCOPE,
	RNIC_KDAT_IA_SRQ_SUPPORTED,
	RNIC_KDAT_IA_WRITE_FOR_READ,
	RNIC_KDAT_IA_ADDRESS, /* IPv4, in network order */
};

enum rnic_kdat_lmr_out {
	RNIC_KDAT_LMR_IA,
	RNIC_KDAT_LMR_TYPE,
	RNIC_KDAT_LMR_LENGTH,
	RNIC_KDAT_LMR_PZ,
	RNIC_KDAT_LMR_PRIVILEGES,
	RNIC_KDAT_LMR_VA_TYPE,
	RNIC_KDAT_LMR_CONTEXT,
	RNIC_KDAT_LMR_RMR_CONTEXT,
	RNIC_KDAT_LMR_SIZE,
	RNIC_KDAT_LMR_ADDRESS,
	RNIC_KDAT_LMR_FMR_SUPPORT,
	RNIC_KDAT_LMR_BOUND,
};

enum rnic_kdat_ep_out {
	RNIC_KDAT_EP_IA,
	RNIC_KDAT_EP_STATE,
	RNIC_KDAT_EP_PZ,
	RNIC_KDAT_EP_RECV_EVD,
	RNIC_KDAT_EP_REQUEST_EVD,
	RNIC_KDAT_EP_CONNECT_EVD,
	RNIC_KDAT_EP_SRQ,
	RNIC_KDAT_EP_MAX_RECV_DTOS,
	RNIC_KDAT_EP_MAX_REQUEST_DTOS,
};

/*
 * With `memory`, `address` is an offset there, of which the host physical
 * address is given: only so can the context of the reserved LMR be used.
 */
struct rnic_kdat_segment {
	__u64 address;
	__u32 length;
	__u32 context;
	__u32 memory;
	__u32 reserved;
};

struct rnic_kdat_event {
	__u32 number;
	__u32 evd;
	/* Of a completion or connection; of others, and of binds, the object */
	__u32 ep;
	__u32 status;
	__u64 cookie; /* or the pointer of a software event */
	__u32 length; /* of the transfer, or of the private data */
	__u32 operation;
	__u32 rmr_context;
	__u32 cr;
	__u32 psp;
	__u32 truncated;
	__u64 qualifier;
	__u32 reason;
	__u32 reserved;
	__u8 data[RNIC_KDAT_DATA];
};

struct rnic_kdat_call {
	__u32 number;	/* enum rnic_kdat_number */
	__u32 context;	/* enum rnic_kdat_context; out: where it ran */
	__u32 returned; /* DAT_RETURN */
	__u32 nulls;
	__u64 in[RNIC_KDAT_INS];
	__u64 out[RNIC_KDAT_OUTS];
	struct rnic_kdat_segment segment[RNIC_KDAT_SEGMENTS];
	__u64 page[RNIC_KDAT_PAGES]; /* ~0: an address that is no memory */
	__u32 data_length;	     /* in and out */
	__u32 reserved;
	__u8 data[RNIC_KDAT_DATA];
	struct rnic_kdat_event event;
};

/* What read() returns. */
struct rnic_kdat_upcall {
	__u32 evd;
	__u32 context;	 /* enum rnic_kdat_context */
	__u32 has_event; /* 0: it was a notification */
	__u32 more;
	__u32 dequeued; /* 1: no UpCall, but what one dequeued */
	__u32 lost;	/* before this one some found no memory */
	struct rnic_kdat_event event;
};

/* Pages that the module owns, contiguous and zeroed. */
struct rnic_kdat_memory {
	__u64 length;
	__u64 address; /* out: the kernel's virtual address */
	__u32 handle;  /* out */
	__u32 page_size;
};

#define RNIC_KDAT_MAGIC 0xC8
#define RNIC_KDAT_GET_VERSION _IOR(RNIC_KDAT_MAGIC, 1, __u32)
#define RNIC_KDAT_CALL _IOWR(RNIC_KDAT_MAGIC, 2, struct rnic_kdat_call)
#define RNIC_KDAT_ALLOC_MEMORY \
	_IOWR(RNIC_KDAT_MAGIC, 3, struct rnic_kdat_memory)
/*
 * The handle of memory. EBUSY while a region names it; and until the file is
 * closed if a work request has named its pages: when the device is done with
 * them, only the provider knows.
 */
#define RNIC_KDAT_FREE_MEMORY _IOW(RNIC_KDAT_MAGIC, 4, __u32)

#endif /* RNIC_KDAT_UAPI_H */
