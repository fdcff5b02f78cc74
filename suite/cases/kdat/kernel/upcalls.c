// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* UpCalls: what is done in one, and how the process learns of it. */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "consumer.h"

#define MAX_UPCALLS 16384

struct kept {
	struct list_head entry;
	struct rnic_kdat_upcall upcall;
};

u32 current_context(void)
{
	if (in_hardirq())
		return RNIC_KDAT_HARDIRQ;
	return in_serving_softirq() ? RNIC_KDAT_SOFTIRQ : RNIC_KDAT_PROCESS;
}

void tell_upcall(struct session *session, const struct rnic_kdat_upcall *upcall)
{
	struct kept *kept = kmalloc(sizeof(*kept), GFP_ATOMIC);
	unsigned long flags;

	if (kept)
		kept->upcall = *upcall;
	spin_lock_irqsave(&session->lock, flags);
	if (!kept || session->count >= MAX_UPCALLS) {
		session->lost = true;
	} else {
		kept->upcall.lost = session->lost;
		session->lost = false;
		list_add_tail(&kept->entry, &session->upcalls);
		session->count++;
		kept = NULL;
	}
	spin_unlock_irqrestore(&session->lock, flags);
	kfree(kept);
	wake_up_interruptible(&session->readable);
}

/* ---------------------------------------------------------------- events */

static void copy_data(struct rnic_kdat_event *told, const void *data,
		      DAT_COUNT size)
{
	told->length = size;
	if (data && size > 0)
		memcpy(told->data, data, min(size, RNIC_KDAT_DATA));
}

/* A request that arrives becomes a handle of the session. */
static void translate_request(struct session *session, const DAT_EVENT *event,
			      struct rnic_kdat_event *told)
{
	const DAT_CR_ARRIVAL_EVENT_DATA *data =
		&event->event_data.cr_arrival_event_data;

	told->psp = id_of(session, data->sp_handle.psp_handle);
	told->cr =
		hold(session, data->cr_handle, ia_of(session, told->psp), NULL);
	told->qualifier = data->conn_qual;
	told->truncated = data->truncate_flag;
}

void translate(struct session *session, const DAT_EVENT *event,
	       struct rnic_kdat_event *told)
{
	const DAT_EVENT_DATA *data = &event->event_data;

	memset(told, 0, sizeof(*told));
	told->number = event->event_number;
	told->evd = id_of(session, event->evd_handle);
	switch (event->event_number & 0xff000) {
	case 0:
		told->ep = id_of(session,
				 data->dto_completion_event_data.ep_handle);
		told->cookie =
			data->dto_completion_event_data.user_cookie.as_64;
		told->status = data->dto_completion_event_data.status;
		told->length =
			data->dto_completion_event_data.transfered_length;
		told->operation = data->dto_completion_event_data.operation;
		told->rmr_context = data->dto_completion_event_data.rmr_context;
		break;
	case 0x01000:
		told->ep = id_of(session,
				 data->rmr_completion_event_data.rmr_handle);
		told->cookie =
			data->rmr_completion_event_data.user_cookie.as_64;
		told->status = data->rmr_completion_event_data.status;
		break;
	case 0x02000:
		translate_request(session, event, told);
		break;
	case 0x04000:
		told->ep = id_of(session, data->connect_event_data.ep_handle);
		copy_data(told, data->connect_event_data.private_data,
			  data->connect_event_data.private_data_size);
		break;
	case 0x08000:
		told->ep = id_of(session,
				 data->asynch_error_event_data.dat_handle);
		told->reason = data->asynch_error_event_data.reason;
		break;
	case 0x10000:
		told->cookie = (uintptr_t)data->software_event_data.pointer;
		break;
	}
}

/* ---------------------------------------------------------------- UpCalls */

static void dequeue_all(struct receiver *receiver)
{
	struct rnic_kdat_upcall told = {
		.evd = receiver->evd,
		.context = current_context(),
		.dequeued = 1,
		.has_event = 1,
	};
	DAT_EVENT event;

	while (dat_evd_dequeue(receiver->handle, &event) == DAT_SUCCESS) {
		translate(receiver->session, &event, &told.event);
		tell_upcall(receiver->session, &told);
	}
}

void take_upcall(DAT_PVOID instance_data, const DAT_EVENT *event,
		 DAT_BOOLEAN more_events)
{
	struct receiver *receiver = instance_data;
	struct session *session = receiver->session;
	struct rnic_kdat_upcall told = {
		.evd = READ_ONCE(receiver->evd),
		.context = current_context(),
		.has_event = event != NULL,
		.more = more_events,
	};

	atomic_inc(&receiver->begun);
	if (event)
		translate(session, event, &told.event);
	if (receiver->takes_us)
		udelay(receiver->takes_us);
	tell_upcall(session, &told);
	if (receiver->kind == RNIC_KDAT_UPCALL_DEQUEUES)
		dequeue_all(receiver);
	/* The provider waits for its consumers: this one lets go at once. */
	if (event && event->event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC)
		schedule_work(&session->device_gone);
	atomic_inc(&receiver->ended);
}

/* ---------------------------------------------------------------- read() */

bool has_upcalls(struct session *session)
{
	return READ_ONCE(session->count) > 0;
}

static struct kept *take(struct session *session)
{
	struct kept *kept;

	spin_lock_irq(&session->lock);
	kept = list_first_entry_or_null(&session->upcalls, struct kept, entry);
	if (kept) {
		list_del(&kept->entry);
		session->count--;
	}
	spin_unlock_irq(&session->lock);
	return kept;
}

void free_upcalls(struct session *session)
{
	struct kept *kept;

	while ((kept = take(session)))
		kfree(kept);
}

/* One at a time. */
ssize_t read_upcalls(struct session *session, char __user *place, size_t size,
		     bool wait)
{
	ssize_t given = sizeof(struct rnic_kdat_upcall);
	struct kept *kept;

	if (size < sizeof(struct rnic_kdat_upcall))
		return -EINVAL;
	if (wait &&
	    wait_event_interruptible(session->readable, has_upcalls(session)))
		return -ERESTARTSYS;
	kept = take(session);
	if (!kept)
		return -EAGAIN;
	if (copy_to_user(place, &kept->upcall, sizeof(kept->upcall)))
		given = -EFAULT;
	kfree(kept);
	return given;
}
