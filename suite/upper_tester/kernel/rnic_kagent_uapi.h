/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The interface of /dev/rnic_kagent: the verbs and the connection manager of
 * the Linux kernel, call by call, for one process per open file.
 *
 * A request is an ioctl whose structure is its argument and its result; it
 * fails with the errno of the call that it stands for. Objects are named by
 * handles, which a session never uses twice before it has used all others.
 * read() returns whole events; the file polls readable while there are some.
 * The pages of a memory object are mapped at the offset handle * page size.
 * All numbers are in host order. Reserved fields are zero.
 */
#ifndef RNIC_KAGENT_UAPI_H
#define RNIC_KAGENT_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RNIC_KAGENT_DEVICE "/dev/rnic_kagent"
#define RNIC_KAGENT_VERSION 4

#define RNIC_KAGENT_NAME_SIZE 64
#define RNIC_KAGENT_ADDRESS_SIZE 28 /* of a sockaddr_in6 */
#define RNIC_KAGENT_MAX_PRIVATE_DATA 255
#define RNIC_KAGENT_MAX_PIECES 32
#define RNIC_KAGENT_MAX_CHAIN 16

/* The first request: binds the session to a device. */
struct rnic_kagent_open {
	__u32 version; /* in: RNIC_KAGENT_VERSION; out: the module's */
	__u32 reserved;
	char device[RNIC_KAGENT_NAME_SIZE]; /* in/out; empty: the only RNIC */
	char firmware[RNIC_KAGENT_NAME_SIZE];
	/* out: struct ib_device_attr, in its words */
	__u64 device_cap_flags;
	__u64 kernel_cap_flags;
	__u64 max_mr_size;
	__u64 page_size_cap;
	__u32 vendor_id;
	__u32 vendor_part_id;
	__u32 hw_ver;
	__u32 node_type;
	__s32 max_qp;
	__s32 max_qp_wr;
	__s32 max_send_sge;
	__s32 max_recv_sge;
	__s32 max_sge_rd;
	__s32 max_cqe;
	__s32 max_mr;
	__s32 max_qp_rd_atom;
	__s32 max_qp_init_rd_atom;
	__s32 atomic_cap; /* enum ib_atomic_cap */
	__s32 max_srq;
	__s32 max_srq_wr;
	__s32 max_srq_sge;
	__u32 max_fast_reg_page_list_len;
	__u32 page_size;	     /* of the kernel, and of page lists */
	__u32 reads_with_invalidate; /* rdma_cap_read_inv */
};

/* Of requests that only make or name an object. */
struct rnic_kagent_object {
	__u32 handle;
	__u32 reserved;
};

/* Pages that the module owns, zeroed, for mmap() and memory regions. */
struct rnic_kagent_memory {
	__u64 length;
	__u32 handle; /* out */
	__u32 reserved;
};

/* ib_alloc_mr(IB_MR_TYPE_MEM_REG) */
struct rnic_kagent_mr {
	__u32 pd;
	__u32 max_pages;
	__u32 handle; /* out */
	__u32 lkey;   /* out */
	__u32 rkey;   /* out */
	__u32 reserved;
};

/*
 * ib_map_mr_sg with one page of `memory` per entry, then
 * ib_update_fast_reg_key. `iova` replaces the region's own if `set_iova`; it
 * has the page offset of `offset`.
 */
struct rnic_kagent_map {
	__u32 mr;
	__u32 memory;
	__u64 offset; /* into the memory, of the region's first octet */
	__u64 length;
	__u64 iova; /* in/out */
	__u8 set_iova;
	__u8 key; /* the consumer's octet of the STag from now on */
	__u8 reserved[2];
	__u32 lkey; /* out */
	__u32 rkey; /* out */
	__u32 reserved2;
};

enum rnic_kagent_poll {
	RNIC_KAGENT_POLL_SOFTIRQ = 0,
	RNIC_KAGENT_POLL_WORKQUEUE = 1,
	RNIC_KAGENT_POLL_UNBOUND_WORKQUEUE = 2,
	RNIC_KAGENT_POLL_DIRECT = 3, /* by RNIC_KAGENT_PROCESS_CQ alone */
	RNIC_KAGENT_POLL_NEVER = 4,  /* ib_create_cq, so that it can overflow */
};

struct rnic_kagent_cq {
	__u32 entries;
	__u32 poll;   /* enum rnic_kagent_poll */
	__u32 handle; /* out */
	__u32 reserved;
};

/* ib_process_cq_direct */
struct rnic_kagent_process_cq {
	__u32 cq;
	__s32 budget; /* out: completions processed */
};

struct rnic_kagent_srq {
	__u32 pd;
	__u32 max_wr;
	__u32 max_sge;
	__u32 handle; /* out */
};

/* ib_modify_srq */
struct rnic_kagent_modify_srq {
	__u32 srq;
	__u32 mask; /* enum ib_srq_attr_mask: 1 max_wr, 2 srq_limit */
	__u32 max_wr;
	__u32 srq_limit;
};

/* A reliable connection with both queues on one completion queue. */
struct rnic_kagent_qp {
	__u32 pd;
	__u32 cq;
	__u32 srq; /* 0: none */
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 handle;	  /* out */
	__u32 qp_num;	  /* out */
	__u32 sq_sig_all; /* 1: IB_SIGNAL_ALL_WR, 0: IB_SIGNAL_REQ_WR */
};

/* enum ib_qp_state */
enum rnic_kagent_qp_state {
	RNIC_KAGENT_QPS_RESET = 0,
	RNIC_KAGENT_QPS_INIT = 1,
	RNIC_KAGENT_QPS_ERR = 6,
	RNIC_KAGENT_QPS_KEPT = 255, /* the state that it has */
};

/*
 * ib_modify_qp and ib_query_qp; to INIT with `access` as its access flags,
 * which KEPT changes alone.
 */
struct rnic_kagent_qp_attr {
	__u32 qp;
	__u32 state;  /* in: enum rnic_kagent_qp_state; out: enum ib_qp_state */
	__u32 access; /* enum ib_access_flags */
	__u32 reserved;
};

enum rnic_kagent_opcode {
	RNIC_KAGENT_WR_SEND = 1,
	RNIC_KAGENT_WR_SEND_WITH_INV = 2,
	RNIC_KAGENT_WR_RDMA_WRITE = 3,
	RNIC_KAGENT_WR_RDMA_READ = 4,
	RNIC_KAGENT_WR_RDMA_READ_WITH_INV = 5,
	RNIC_KAGENT_WR_ATOMIC_FETCH_AND_ADD = 6,
	RNIC_KAGENT_WR_ATOMIC_CMP_AND_SWP = 7,
	RNIC_KAGENT_WR_LOCAL_INV = 8,
	RNIC_KAGENT_WR_REG_MR = 9,
};

/* enum ib_send_flags */
enum rnic_kagent_send_flags {
	RNIC_KAGENT_SEND_FENCE = 1,
	RNIC_KAGENT_SEND_SIGNALED = 2,
	RNIC_KAGENT_SEND_SOLICITED = 4,
};

/*
 * A piece of a region, by its key; or, with `memory`, `address` is an offset
 * there, and the piece is used through local_dma_lkey: then it lies within one
 * page. A key that stands for all memory is refused.
 */
struct rnic_kagent_piece {
	__u64 address;
	__u32 length;
	__u32 lkey;
	__u32 memory;
	__u32 reserved;
};

/* ib_post_send */
struct rnic_kagent_send {
	__u64 wr_id;
	__u64 remote_addr;
	__u64 compare_add;
	__u64 swap;
	__u32 qp;
	__u32 opcode; /* enum rnic_kagent_opcode */
	__u32 flags;  /* enum rnic_kagent_send_flags */
	__u32 rkey; /* remote; of LOCAL_INV, *_WITH_INV and REG_MR see below */
	__u32 invalidate_rkey;
	__u32 mr;     /* REG_MR: which, always signaled */
	__u32 key;    /* REG_MR: the STag to make valid */
	__u32 access; /* REG_MR: enum ib_access_flags */
	__u32 pieces;
	__u32 reserved;
	struct rnic_kagent_piece piece[RNIC_KAGENT_MAX_PIECES];
};

/* ib_post_recv or, with `srq`, ib_post_srq_recv */
struct rnic_kagent_recv {
	__u64 wr_id;
	__u32 qp;
	__u32 srq;
	__u32 pieces;
	__u32 reserved;
	struct rnic_kagent_piece piece[RNIC_KAGENT_MAX_PIECES];
};

/*
 * Requests of one queue, posted by one call of the kernel's. `posted` is also
 * given out if it fails: how many there are ahead of the bad one. If a request
 * cannot be made at all, none is posted.
 */
struct rnic_kagent_send_chain {
	__u32 count;
	__u32 posted; /* out */
	struct rnic_kagent_send request[RNIC_KAGENT_MAX_CHAIN];
};

struct rnic_kagent_recv_chain {
	__u32 count;
	__u32 posted; /* out */
	struct rnic_kagent_recv request[RNIC_KAGENT_MAX_CHAIN];
};

/* rdma_bind_addr and, with a backlog, rdma_listen */
struct rnic_kagent_bind {
	__u32 id;
	__u32 backlog;
	__u8 address[RNIC_KAGENT_ADDRESS_SIZE]; /* in/out: port 0 is chosen */
	__u8 afonly;
	__u8 reserved[3];
};

/* rdma_resolve_addr; `source` of family 0 is none. */
struct rnic_kagent_resolve {
	__u32 id;
	__u32 timeout_ms;
	__u8 source[RNIC_KAGENT_ADDRESS_SIZE];
	__u8 address[RNIC_KAGENT_ADDRESS_SIZE];
};

/* rdma_resolve_route */
struct rnic_kagent_resolve_route {
	__u32 id;
	__u32 timeout_ms;
};

/*
 * rdma_connect and rdma_accept; rdma_reject uses the private data alone. Of
 * InfiniBand, whose connection manager leaves the states of a queue pair to its
 * consumer, ACCEPT and ESTABLISH move it to RTS. ESTABLISH is the answer to
 * RDMA_CM_EVENT_CONNECT_RESPONSE, which no other transport has; and who
 * disconnects there moves the queue pair to ERR as well.
 */
struct rnic_kagent_connect {
	__u32 id;
	__u32 qp;
	__u8 responder_resources;
	__u8 initiator_depth;
	__u8 private_data_length;
	__u8 private_data[RNIC_KAGENT_MAX_PRIVATE_DATA];
	__u8 reserved[6];
};

enum rnic_kagent_event_type {
	RNIC_KAGENT_EVENT_CM = 1,
	RNIC_KAGENT_EVENT_COMPLETION = 2,
	RNIC_KAGENT_EVENT_ASYNC = 3,
	RNIC_KAGENT_EVENT_REMOVED =
		4, /* the device is gone, with all objects */
};

enum rnic_kagent_event_flags {
	RNIC_KAGENT_EVENT_LOST = 1,  /* before this one some found no memory */
	RNIC_KAGENT_EVENT_AGAIN = 2, /* the work request had completed before */
	RNIC_KAGENT_EVENT_RECEIVE = 4,	   /* the work request was a receive */
	RNIC_KAGENT_EVENT_INVALIDATED = 8, /* by the peer: invalidate_rkey */
};

struct rnic_kagent_event {
	__u32 type;   /* enum rnic_kagent_event_type */
	__u32 flags;  /* enum rnic_kagent_event_flags */
	__u32 handle; /* the id, QP, SRQ or CQ that it concerns; 0: the device */
	__u32 code;   /* rdma_cm_event_type, ib_wc_opcode or ib_event_type */
	__s32 status; /* of a CM event: an errno or a reason; ib_wc_status */
	__u32 new_id; /* RDMA_CM_EVENT_CONNECT_REQUEST: on our device */
	__u64 wr_id;
	__u32 byte_len;
	__u32 invalidate_rkey;
	__u8 responder_resources;
	__u8 initiator_depth;
	__u8 private_data_length;
	__u8 private_data[RNIC_KAGENT_MAX_PRIVATE_DATA];
	__u8 reserved[6];
};

#define RNIC_KAGENT_MAGIC 0xC7
#define RNIC_KAGENT_OPEN _IOWR(RNIC_KAGENT_MAGIC, 1, struct rnic_kagent_open)
#define RNIC_KAGENT_DESTROY \
	_IOWR(RNIC_KAGENT_MAGIC, 2, struct rnic_kagent_object)
#define RNIC_KAGENT_ALLOC_PD \
	_IOWR(RNIC_KAGENT_MAGIC, 3, struct rnic_kagent_object)
#define RNIC_KAGENT_ALLOC_MEMORY \
	_IOWR(RNIC_KAGENT_MAGIC, 4, struct rnic_kagent_memory)
#define RNIC_KAGENT_ALLOC_MR _IOWR(RNIC_KAGENT_MAGIC, 5, struct rnic_kagent_mr)
#define RNIC_KAGENT_MAP_MR _IOWR(RNIC_KAGENT_MAGIC, 6, struct rnic_kagent_map)
#define RNIC_KAGENT_CREATE_CQ _IOWR(RNIC_KAGENT_MAGIC, 7, struct rnic_kagent_cq)
#define RNIC_KAGENT_PROCESS_CQ \
	_IOWR(RNIC_KAGENT_MAGIC, 8, struct rnic_kagent_process_cq)
#define RNIC_KAGENT_CREATE_SRQ \
	_IOWR(RNIC_KAGENT_MAGIC, 9, struct rnic_kagent_srq)
#define RNIC_KAGENT_MODIFY_SRQ \
	_IOWR(RNIC_KAGENT_MAGIC, 10, struct rnic_kagent_modify_srq)
#define RNIC_KAGENT_CREATE_QP \
	_IOWR(RNIC_KAGENT_MAGIC, 11, struct rnic_kagent_qp)
#define RNIC_KAGENT_MODIFY_QP \
	_IOWR(RNIC_KAGENT_MAGIC, 12, struct rnic_kagent_qp_attr)
#define RNIC_KAGENT_QUERY_QP \
	_IOWR(RNIC_KAGENT_MAGIC, 13, struct rnic_kagent_qp_attr)
#define RNIC_KAGENT_DRAIN_QP \
	_IOWR(RNIC_KAGENT_MAGIC, 14, struct rnic_kagent_object)
#define RNIC_KAGENT_POST_SEND \
	_IOWR(RNIC_KAGENT_MAGIC, 15, struct rnic_kagent_send)
#define RNIC_KAGENT_POST_RECV \
	_IOWR(RNIC_KAGENT_MAGIC, 16, struct rnic_kagent_recv)
#define RNIC_KAGENT_CREATE_ID \
	_IOWR(RNIC_KAGENT_MAGIC, 17, struct rnic_kagent_object)
#define RNIC_KAGENT_BIND _IOWR(RNIC_KAGENT_MAGIC, 18, struct rnic_kagent_bind)
#define RNIC_KAGENT_RESOLVE_ADDR \
	_IOWR(RNIC_KAGENT_MAGIC, 19, struct rnic_kagent_resolve)
#define RNIC_KAGENT_RESOLVE_ROUTE \
	_IOWR(RNIC_KAGENT_MAGIC, 20, struct rnic_kagent_resolve_route)
#define RNIC_KAGENT_CONNECT \
	_IOWR(RNIC_KAGENT_MAGIC, 21, struct rnic_kagent_connect)
#define RNIC_KAGENT_ACCEPT \
	_IOWR(RNIC_KAGENT_MAGIC, 22, struct rnic_kagent_connect)
#define RNIC_KAGENT_REJECT \
	_IOWR(RNIC_KAGENT_MAGIC, 23, struct rnic_kagent_connect)
#define RNIC_KAGENT_DISCONNECT \
	_IOWR(RNIC_KAGENT_MAGIC, 24, struct rnic_kagent_object)
#define RNIC_KAGENT_POST_SEND_CHAIN \
	_IOWR(RNIC_KAGENT_MAGIC, 25, struct rnic_kagent_send_chain)
#define RNIC_KAGENT_POST_RECV_CHAIN \
	_IOWR(RNIC_KAGENT_MAGIC, 26, struct rnic_kagent_recv_chain)
#define RNIC_KAGENT_ESTABLISH \
	_IOWR(RNIC_KAGENT_MAGIC, 27, struct rnic_kagent_connect)

#endif /* RNIC_KAGENT_UAPI_H */
