// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Event dispatchers: the queue of each, and its UpCalls, which run in softirq. */
#include <linux/slab.h>

#include "provider.h"

/* UpCalls in a row before other softirqs get their turn. */
#define UPCALLS_AT_A_TIME 64
/* A completion that is suppressed takes a place in the device's queue as well. */
#define LEAST_CQ_ENTRIES 256

/* ---------------------------------------------------------------- the queue */

static bool put(struct kdat_evd *evd, DAT_EVENT *event)
{
	unsigned long flags;
	bool room, run;

	event->evd_handle = evd;
	spin_lock_irqsave(&evd->lock, flags);
	room = evd->count < evd->qlen;
	if (room) {
		evd->ring[(evd->first + evd->count) % evd->qlen] = *event;
		evd->count++;
		evd->news = true;
	}
	run = room && evd->policy != DAT_UPCALL_DISABLE;
	spin_unlock_irqrestore(&evd->lock, flags);
	if (run)
		tasklet_schedule(&evd->tasklet);
	return room;
}

/* With the dispatcher's lock. */
static bool take(struct kdat_evd *evd, DAT_EVENT *event)
{
	if (!evd->count)
		return false;
	*event = evd->ring[evd->first];
	evd->first = (evd->first + 1) % evd->qlen;
	evd->count--;
	return true;
}

void kdat_tell_async(struct kdat_ia *ia, DAT_EVENT_NUMBER number,
		     struct kdat_object *object, DAT_COUNT reason)
{
	DAT_EVENT event = { .event_number = number };

	event.event_data.asynch_error_event_data.dat_handle = object;
	event.event_data.asynch_error_event_data.reason = reason;
	/* If this queue is full as well, nobody is left to be told. */
	put(ia->async_evd, &event);
}

bool kdat_tell(struct kdat_evd *evd, DAT_EVENT *event)
{
	if (put(evd, event))
		return true;
	kdat_tell_async(evd->object.ia, DAT_ASYNC_ERROR_EVD_OVERFLOW,
			&evd->object, DAT_EVD_OVERFLOW_ERROR);
	return false;
}

/* ---------------------------------------------------------------- UpCalls */

/* One UpCall, if one is due. */
static bool call_up(struct kdat_evd *evd)
{
	bool due = false, notify = false, more = false;
	DAT_UPCALL_OBJECT upcall;
	unsigned long flags;
	DAT_EVENT event;

	spin_lock_irqsave(&evd->lock, flags);
	upcall = evd->upcall;
	switch (evd->policy) {
	case DAT_UPCALL_NOTIFY:
		notify = true;
		due = evd->news;
		evd->news = false;
		break;
	case DAT_UPCALL_SINGLE_INSTANCE:
	case DAT_UPCALL_MANY:
		due = take(evd, &event);
		break;
	default:
		break;
	}
	more = evd->count > 0;
	spin_unlock_irqrestore(&evd->lock, flags);
	if (due)
		upcall.upcall_func(upcall.instance_data, notify ? NULL : &event,
				   more);
	return due;
}

/*
 * A tasklet never runs on two processors at once. So at most one UpCall of a
 * dispatcher is in progress, which DAT_UPCALL_MANY permits too.
 */
static void run_upcalls(struct tasklet_struct *tasklet)
{
	struct kdat_evd *evd = from_tasklet(evd, tasklet, tasklet);
	int left = UPCALLS_AT_A_TIME;

	while (call_up(evd))
		if (!--left) {
			tasklet_schedule(tasklet);
			return;
		}
}

static bool is_policy(DAT_UPCALL_POLICY policy)
{
	return policy == DAT_UPCALL_DISABLE || policy == DAT_UPCALL_NOTIFY ||
	       policy == DAT_UPCALL_SINGLE_INSTANCE ||
	       policy == DAT_UPCALL_MANY;
}

DAT_RETURN kdat_evd_modify_upcall(DAT_EVD_HANDLE handle,
				  DAT_UPCALL_POLICY policy,
				  const DAT_UPCALL_OBJECT *upcall,
				  DAT_UPCALL_FLAG flag)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);
	bool teardown = policy == DAT_UPCALL_TEARDOWN;
	DAT_RETURN result = DAT_SUCCESS;
	unsigned long flags;
	bool run = false;

	if (teardown)
		might_sleep();
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (!teardown && !is_policy(policy))
		return KDAT_INVALID(2);
	if (flag != DAT_UPCALL_INVOC_NEW && flag != DAT_UPCALL_INVOC_ANY)
		return KDAT_INVALID(4);
	spin_lock_irqsave(&evd->lock, flags);
	if (!teardown && policy != DAT_UPCALL_DISABLE &&
	    !(upcall ? upcall->upcall_func : evd->upcall.upcall_func)) {
		result = KDAT_INVALID(3);
	} else {
		if (upcall != DAT_UPCALL_SAME)
			evd->upcall = *upcall;
		evd->policy = teardown ? DAT_UPCALL_DISABLE : policy;
		evd->news = flag == DAT_UPCALL_INVOC_ANY && evd->count > 0;
		run = evd->news && evd->policy != DAT_UPCALL_DISABLE;
	}
	spin_unlock_irqrestore(&evd->lock, flags);
	if (run)
		tasklet_schedule(&evd->tasklet);
	if (teardown)
		tasklet_kill(&evd->tasklet);
	return result;
}

/* ---------------------------------------------------------------- the object */

static struct ib_cq *make_cq(struct kdat_evd *evd)
{
	struct ib_device *ib = evd->object.ia->device->ib;
	int entries =
		min_t(u32, max(evd->qlen, LEAST_CQ_ENTRIES), ib->attrs.max_cqe);

	return ib_alloc_cq(ib, evd, entries, 0, IB_POLL_SOFTIRQ);
}

DAT_RETURN kdat_make_evd(struct kdat_ia *ia, DAT_COUNT qlen,
			 DAT_UPCALL_POLICY policy,
			 const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags,
			 struct kdat_evd **made)
{
	struct kdat_evd *evd = kzalloc(sizeof(*evd), GFP_KERNEL);

	if (!evd)
		return KDAT_NO_MEMORY;
	evd->flags = flags;
	evd->qlen = qlen;
	evd->policy = policy;
	if (upcall)
		evd->upcall = *upcall;
	spin_lock_init(&evd->lock);
	INIT_LIST_HEAD(&evd->streams);
	INIT_LIST_HEAD(&evd->works);
	tasklet_setup(&evd->tasklet, run_upcalls);
	evd->ring = kvcalloc(qlen, sizeof(*evd->ring), GFP_KERNEL);
	if (!evd->ring) {
		kfree(evd);
		return KDAT_NO_MEMORY;
	}
	kdat_add(ia, &evd->object, DAT_HANDLE_TYPE_EVD);
	if (flags & DAT_EVD_DTO_FLAG)
		evd->cq = make_cq(evd);
	if (IS_ERR(evd->cq)) {
		kdat_forget(&evd->object);
		kvfree(evd->ring);
		kfree(evd);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	}
	*made = evd;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_evd_kcreate(DAT_IA_HANDLE handle, DAT_COUNT qlen,
			    DAT_UPCALL_POLICY policy,
			    const DAT_UPCALL_OBJECT *upcall,
			    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *made)
{
	const unsigned int known = DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG;
	struct kdat_ia *ia = KDAT_FIND(handle, IA);

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (qlen < 1 || qlen > ia->device->ib->attrs.max_cqe)
		return KDAT_INVALID(2);
	if (!is_policy(policy))
		return KDAT_INVALID(3);
	if (policy != DAT_UPCALL_DISABLE && (!upcall || !upcall->upcall_func))
		return KDAT_INVALID(4);
	if (!flags || (flags & ~known))
		return KDAT_INVALID(5);
	if (!made)
		return KDAT_INVALID(6);
	return kdat_make_evd(ia, qlen, policy, upcall, flags,
			     (struct kdat_evd **)made);
}

DAT_RETURN kdat_evd_query(DAT_EVD_HANDLE handle, DAT_EVD_PARAM_MASK mask,
			  DAT_EVD_PARAM *param)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);
	unsigned long flags;

	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (mask & ~DAT_EVD_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	param->ia_handle = evd->object.ia;
	param->evd_qlen = evd->qlen;
	param->evd_flags = evd->flags;
	spin_lock_irqsave(&evd->lock, flags);
	param->upcall_policy = evd->policy;
	param->upcall = evd->upcall;
	spin_unlock_irqrestore(&evd->lock, flags);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_evd_post_se(DAT_EVD_HANDLE handle, const DAT_EVENT *event)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);
	DAT_EVENT copy;

	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (!event || event->event_number != DAT_SOFTWARE_EVENT)
		return KDAT_INVALID(2);
	if (!(evd->flags & DAT_EVD_SOFTWARE_FLAG))
		return KDAT_INVALID(1);
	copy = *event;
	return put(evd, &copy) ? DAT_SUCCESS
			       : DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE);
}

DAT_RETURN kdat_evd_dequeue(DAT_EVD_HANDLE handle, DAT_EVENT *event)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);
	unsigned long flags;
	bool taken;

	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (!event)
		return KDAT_INVALID(2);
	spin_lock_irqsave(&evd->lock, flags);
	taken = take(evd, event);
	spin_unlock_irqrestore(&evd->lock, flags);
	return taken ? DAT_SUCCESS : DAT_ERROR(DAT_QUEUE_EMPTY, DAT_NO_SUBTYPE);
}

/* With the dispatcher's lock: false if its events do not fit. */
static bool change_ring(struct kdat_evd *evd, DAT_EVENT **ring, DAT_COUNT qlen)
{
	DAT_COUNT i;

	if (evd->count > qlen)
		return false;
	for (i = 0; i < evd->count; i++)
		(*ring)[i] = evd->ring[(evd->first + i) % evd->qlen];
	swap(evd->ring, *ring);
	evd->first = 0;
	evd->qlen = qlen;
	return true;
}

/* The device's queue holds only what softirq has not fetched yet: it stays. */
DAT_RETURN kdat_evd_resize(DAT_EVD_HANDLE handle, DAT_COUNT qlen)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);
	DAT_EVENT *ring;
	bool changed;

	might_sleep();
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (qlen < 1)
		return KDAT_INVALID(2);
	if (qlen > evd->object.ia->device->ib->attrs.max_cqe)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	ring = kvcalloc(qlen, sizeof(*ring), GFP_KERNEL);
	if (!ring)
		return KDAT_NO_MEMORY;
	spin_lock_irq(&evd->lock);
	changed = change_ring(evd, &ring, qlen);
	spin_unlock_irq(&evd->lock);
	kvfree(ring);
	return changed ? DAT_SUCCESS
		       : DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
}

void kdat_destroy_evd(struct kdat_evd *evd)
{
	/* Until it is gone, completions arrive and schedule UpCalls. */
	if (evd->cq)
		ib_free_cq(evd->cq);
	kdat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME,
			       DAT_UPCALL_INVOC_NEW);
	kdat_forget(&evd->object);
	kdat_free_works(&evd->works);
	kvfree(evd->ring);
	kfree(evd);
}

DAT_RETURN kdat_evd_free(DAT_EVD_HANDLE handle)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);

	might_sleep();
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (atomic_read(&evd->object.users))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EVD_IN_USE);
	kdat_destroy_evd(evd);
	return DAT_SUCCESS;
}
