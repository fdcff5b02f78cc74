/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the parts of rnic_kdat_agent share.
 *
 * A session's mutex serialises its calls. UpCalls come in softirq: they read
 * the table of handles by RCU, add connection requests to it under its own
 * lock, and append to the list of what read() returns.
 */
#ifndef CONSUMER_H
#define CONSUMER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "kdat.h"
#include "rnic_kdat_uapi.h"

/* Of segments that a call may be said to have, so that it is refused. */
#define MAX_COUNT 128

struct session;

/* The consumer's side of a dispatcher: the instance data of its UpCalls. */
struct receiver {
	struct session *session;
	u32 evd; /* 0 until the dispatcher has its number */
	u32 kind;
	unsigned int takes_us;
	DAT_EVD_HANDLE handle;
	atomic_t begun, ended;
};

/* A handle, or memory, under its number. */
struct held {
	struct rcu_head rcu;
	u32 id;
	u32 ia; /* the number of its IA, 0: memory */
	DAT_HANDLE handle;
	struct receiver *receiver; /* of a dispatcher */
	u32 memory;		   /* that a region names */
	void *start;		   /* of memory */
	u64 length;
	unsigned int regions; /* that name it */
	bool kept;	      /* until the file is closed */
};

struct session {
	struct mutex mutex;
	struct xarray held;
	u32 next_id;
	/* Of the call in progress; what the process did not give is empty. */
	DAT_LMR_TRIPLET segments[MAX_COUNT];
	DAT_PROVIDER provider; /* for the registry, and without functions */
	DAT_PROVIDER_INFO info;
	bool registered;

	spinlock_t lock;
	struct list_head upcalls;
	unsigned int count;
	bool lost;
	wait_queue_head_t readable;
	struct work_struct device_gone;
};

/* session.c: handles */
u32 hold(struct session *session, DAT_HANDLE handle, u32 ia,
	 struct receiver *receiver);
void drop(struct session *session, u32 id);
void drop_ia(struct session *session, u32 ia);
struct held *find_held(struct session *session, u64 id);
DAT_HANDLE handle_of(struct session *session, u64 id);
u32 id_of(struct session *session, DAT_HANDLE handle);
u32 ia_of(struct session *session, u64 id);
/* A piece of memory; NULL if it is not within one. */
void *place_of(struct session *session, u64 memory, u64 offset, u64 length);
int alloc_memory(struct session *session, struct rnic_kdat_memory *memory);
int free_memory(struct session *session, u32 memory);
/* It is not freed before the region. */
void name_memory(struct session *session, u64 lmr, u64 memory);
/* It is not freed before the file is closed. */
void keep_memory(struct session *session, u64 memory);
void close_all(struct session *session);
void close_removed(struct work_struct *work);

/* upcalls.c */
void tell_upcall(struct session *session,
		 const struct rnic_kdat_upcall *upcall);
void translate(struct session *session, const DAT_EVENT *event,
	       struct rnic_kdat_event *told);
void take_upcall(DAT_PVOID instance_data, const DAT_EVENT *event,
		 DAT_BOOLEAN more_events);
u32 current_context(void);
ssize_t read_upcalls(struct session *session, char __user *place, size_t size,
		     bool wait);
bool has_upcalls(struct session *session);
void free_upcalls(struct session *session);

/* `anywhere`: the interface lets it be made in any context. */
struct call {
	DAT_RETURN (*make)(struct session *session, struct rnic_kdat_call *c);
	bool anywhere;
};
extern const struct call object_calls[RNIC_KDAT_END];
extern const struct call memory_calls[RNIC_KDAT_END];
extern const struct call endpoint_calls[RNIC_KDAT_END];
extern const struct call point_calls[RNIC_KDAT_END];

/* The nth result, or NULL where the process wants that. */
#define OUT(c, n, place) ((c)->nulls & RNIC_KDAT_NULL(n) ? NULL : (place))

/* endpoint_calls.c: the IPv4 address that is given, or that of an IA. */
struct sockaddr_in;
void take_address(struct session *session, u64 given, u64 ia,
		  struct sockaddr_in *address);

/* Fills in the session's triplets; false: the process may not name one. */
bool take_segments(struct session *session, const struct rnic_kdat_call *c,
		   DAT_COUNT count);
/* An error of the process, not of the call: no DAT_RETURN has this value. */
#define MISUSED ((DAT_RETURN)0x3FFE0000)

#endif /* CONSUMER_H */
