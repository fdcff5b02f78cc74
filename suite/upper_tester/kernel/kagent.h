/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the parts of rnic_kagent share: sessions, their objects and events.
 *
 * A session's mutex serialises its requests and its end. Handlers of the
 * connection manager and of completion queues take only the locks of the
 * object table and of the event queue, so that destroying an object may wait
 * for its handlers under the mutex.
 */
#ifndef KAGENT_H
#define KAGENT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "rnic_kagent_uapi.h"

/* In the order in which a session destroys what is left. */
enum kagent_kind {
	KAGENT_LISTENER,
	KAGENT_QP,
	KAGENT_ID,
	KAGENT_SRQ,
	KAGENT_CQ,
	KAGENT_MR,
	KAGENT_PD,
	KAGENT_MEMORY,
	KAGENT_KINDS,
};

struct kagent_device {
	struct list_head entry;
	struct ib_device *ib;
	struct list_head sessions;
};

struct kagent_session {
	struct kref users;  /* the open file, and the removal of a device */
	struct mutex mutex; /* requests, one at a time */
	struct kagent_device *device; /* NULL: not opened, or removed */
	struct list_head of_device;

	struct xarray objects;
	u32 next_handle;
	struct list_head dead_work; /* of shared queues that are gone */

	spinlock_t event_lock;
	struct list_head events;
	unsigned int event_count;
	bool lost;
	wait_queue_head_t readable;
};

struct kagent_object {
	struct kagent_session *session;
	enum kagent_kind kind;
	u32 handle;
	unsigned int users; /* objects that need it */
};

struct kagent_pd {
	struct kagent_object object;
	struct ib_pd *ib;
};

struct kagent_memory {
	struct kagent_object object;
	u64 length;
	unsigned int page_count;
	struct page **pages;
};

/* One ib_map_mr_sg: mapped for the device until the region is destroyed. */
struct kagent_mapping {
	struct list_head entry;
	struct kagent_memory *memory;
	struct sg_table table;
};

struct kagent_mr {
	struct kagent_object object;
	struct kagent_pd *pd;
	struct ib_mr *ib;
	u32 max_pages;
	struct list_head mappings;
	atomic_t registering; /* work requests that name it */
};

struct kagent_cq {
	struct kagent_object object;
	struct ib_cq *ib;
	u32 poll;
	spinlock_t lock;	    /* of `pairs` */
	struct list_head pairs;	    /* the queue pairs that complete here */
	struct list_head dead_work; /* of those that are gone */
};

struct kagent_srq {
	struct kagent_object object;
	struct kagent_pd *pd;
	struct ib_srq *ib;
	struct list_head work;
};

struct kagent_qp {
	struct kagent_object object;
	struct kagent_pd *pd;
	struct kagent_cq *cq;
	struct kagent_srq *srq;
	struct ib_qp *ib;
	struct list_head of_cq;
	struct list_head work;
};

/*
 * A posted work request. It lives as long as a completion queue may hold its
 * completion, which is longer than its own queue; so a driver that completes it
 * twice, or late, or although it refused it, is seen and does no harm.
 */
struct kagent_work {
	struct list_head entry;
	struct ib_cqe cqe;
	struct kagent_session *session;
	struct kagent_mr *mr; /* of REG_MR, until it is done */
	u64 wr_id;
	u32 qp; /* 0: of a shared queue */
	bool receive;
	atomic_t done;
};

struct kagent_id {
	struct kagent_object object;
	struct rdma_cm_id *cm;
};

/* sessions.c: objects */
int kagent_add(struct kagent_session *session, struct kagent_object *object,
	       enum kagent_kind kind);
struct kagent_object *kagent_find(struct kagent_session *session, u32 handle,
				  enum kagent_kind kind);
#define KAGENT_FIND(session, handle, kind, type)                           \
	({                                                                 \
		struct kagent_object *_found =                             \
			kagent_find(session, handle, kind);                \
		_found ? container_of(_found, struct type, object) : NULL; \
	})

/* sessions.c: events; from any context */
void kagent_tell(struct kagent_session *session,
		 const struct rnic_kagent_event *event);
ssize_t kagent_read_events(struct kagent_session *session, char __user *place,
			   size_t size, bool wait);
bool kagent_has_events(struct kagent_session *session);

/* connections.c */
bool kagent_is_iwarp(const struct ib_device *ib);

/* sessions.c: devices */
extern struct ib_client kagent_client;
struct kagent_session *kagent_new_session(void);
void kagent_end_session(struct kagent_session *session);

/* Each destroys one object that nothing uses, also if the device is gone. */
void kagent_destroy_pd(struct kagent_pd *pd);
void kagent_destroy_memory(struct kagent_memory *memory);
int kagent_destroy_mr(struct kagent_mr *mr);
void kagent_destroy_cq(struct kagent_cq *cq);
void kagent_destroy_srq(struct kagent_srq *srq);
int kagent_destroy_qp(struct kagent_qp *qp);
void kagent_destroy_id(struct kagent_id *id);

void kagent_free_work(struct list_head *work);

/* Requests: the argument is in kernel memory and is copied back. */
#define KAGENT_REQUEST(name) \
	int kagent_##name(struct kagent_session *session, void *argument)
KAGENT_REQUEST(open_device);
KAGENT_REQUEST(destroy);
KAGENT_REQUEST(alloc_pd);
KAGENT_REQUEST(alloc_memory);
KAGENT_REQUEST(alloc_mr);
KAGENT_REQUEST(map_mr);
KAGENT_REQUEST(create_cq);
KAGENT_REQUEST(process_cq);
KAGENT_REQUEST(create_srq);
KAGENT_REQUEST(modify_srq);
KAGENT_REQUEST(create_qp);
KAGENT_REQUEST(modify_qp);
KAGENT_REQUEST(query_qp);
KAGENT_REQUEST(drain_qp);
KAGENT_REQUEST(post_send);
KAGENT_REQUEST(post_recv);
KAGENT_REQUEST(post_send_chain);
KAGENT_REQUEST(post_recv_chain);
KAGENT_REQUEST(create_id);
KAGENT_REQUEST(bind);
KAGENT_REQUEST(resolve_addr);
KAGENT_REQUEST(resolve_route);
KAGENT_REQUEST(connect);
KAGENT_REQUEST(accept);
KAGENT_REQUEST(establish);
KAGENT_REQUEST(reject);
KAGENT_REQUEST(disconnect);

struct vm_area_struct;
int kagent_map_pages(struct kagent_session *session,
		     struct vm_area_struct *area);

#endif /* KAGENT_H */
