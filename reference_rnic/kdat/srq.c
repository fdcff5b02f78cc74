// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Shared receive queues. */
#include <linux/slab.h>

#include "provider.h"

static void srq_event(struct ib_event *event, void *context)
{
	struct kdat_srq *srq = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		kdat_tell_async(srq->object.ia,
				DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
				&srq->object, DAT_SRQ_LOW_WATERMARK_EVENT);
	else
		kdat_tell_async(srq->object.ia,
				DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
				&srq->object, DAT_SRQ_OTHER_ERROR);
}

static bool is_possible(const struct ib_device_attr *limits,
			const DAT_SRQ_ATTR *attr)
{
	return attr->max_recv_dtos >= 1 &&
	       attr->max_recv_dtos <= limits->max_srq_wr &&
	       attr->max_recv_iov >= 1 &&
	       attr->max_recv_iov <=
		       min(limits->max_srq_sge, KDAT_MAX_SEGMENTS) &&
	       attr->low_watermark >= 0 &&
	       attr->low_watermark <= attr->max_recv_dtos;
}

static DAT_RETURN make_srq(struct kdat_pz *pz, const DAT_SRQ_ATTR *attr,
			   struct kdat_srq **made)
{
	struct ib_srq_init_attr attributes = {
		.event_handler = srq_event,
		.attr = { .max_wr = attr->max_recv_dtos,
			  .max_sge = attr->max_recv_iov,
			  .srq_limit = attr->low_watermark },
		.srq_type = IB_SRQT_BASIC,
	};
	struct kdat_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL);

	if (!srq)
		return KDAT_NO_MEMORY;
	srq->pz = pz;
	srq->attr = *attr;
	INIT_LIST_HEAD(&srq->works);
	atomic_set(&srq->outstanding, 0);
	kdat_add(pz->object.ia, &srq->object, DAT_HANDLE_TYPE_SRQ);
	attributes.srq_context = srq;
	srq->srq = ib_create_srq(pz->pd, &attributes);
	if (IS_ERR(srq->srq)) {
		kdat_forget(&srq->object);
		kfree(srq);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
	}
	atomic_inc(&pz->object.users);
	*made = srq;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_srq_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz_handle,
			   const DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_pz *pz = KDAT_FIND(pz_handle, PZ);

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!pz || pz->object.ia != ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	if (!ia->device->ib->attrs.max_srq)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (!attr || !is_possible(&ia->device->ib->attrs, attr))
		return KDAT_INVALID(3);
	if (!made)
		return KDAT_INVALID(4);
	return make_srq(pz, attr, (struct kdat_srq **)made);
}

DAT_RETURN kdat_srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask,
			  DAT_SRQ_PARAM *param)
{
	struct kdat_srq *srq = KDAT_FIND(handle, SRQ);

	if (!srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	if (mask & ~DAT_SRQ_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_SRQ_PARAM){
		.ia_handle = srq->object.ia,
		.srq_state = DAT_SRQ_STATE_OPERATIONAL,
		.pz_handle = srq->pz,
		.max_recv_dtos = srq->attr.max_recv_dtos,
		.max_recv_iov = srq->attr.max_recv_iov,
		.low_watermark = srq->attr.low_watermark,
		.available_dto_count = srq->attr.max_recv_dtos -
				       atomic_read(&srq->outstanding),
		.outstanding_dto_count = atomic_read(&srq->outstanding),
	};
	return DAT_SUCCESS;
}

/* Few devices can: what is larger already serves as it is. */
DAT_RETURN kdat_srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT dtos)
{
	struct kdat_srq *srq = KDAT_FIND(handle, SRQ);
	struct ib_srq_attr attributes = { .max_wr = dtos };

	might_sleep();
	if (!srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	if (dtos < 1 || dtos > srq->object.ia->device->ib->attrs.max_srq_wr)
		return KDAT_INVALID(2);
	if (dtos < atomic_read(&srq->outstanding) ||
	    dtos < srq->attr.low_watermark)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	if (dtos <= srq->attr.max_recv_dtos)
		return DAT_SUCCESS;
	if (ib_modify_srq(srq->srq, &attributes, IB_SRQ_MAX_WR))
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
	srq->attr.max_recv_dtos = dtos;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT watermark)
{
	struct kdat_srq *srq = KDAT_FIND(handle, SRQ);
	struct ib_srq_attr attributes = { .srq_limit = watermark };

	might_sleep();
	if (!srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	if (watermark < 0 || watermark > srq->attr.max_recv_dtos)
		return KDAT_INVALID(2);
	if (ib_modify_srq(srq->srq, &attributes, IB_SRQ_LIMIT))
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	srq->attr.low_watermark = watermark;
	return DAT_SUCCESS;
}

/* A completion queue may still hold completions of what was posted. */
static void retire_works(struct kdat_srq *srq)
{
	struct kdat_ia *ia = srq->object.ia;
	struct kdat_work *each;

	spin_lock_irq(&ia->lock);
	list_for_each_entry(each, &srq->works, entry)
		each->srq = NULL;
	list_splice_init(&srq->works, &ia->dead_works);
	spin_unlock_irq(&ia->lock);
}

void kdat_destroy_srq(struct kdat_srq *srq)
{
	ib_destroy_srq(srq->srq);
	kdat_forget(&srq->object);
	retire_works(srq);
	atomic_dec(&srq->pz->object.users);
	kfree(srq);
}

DAT_RETURN kdat_srq_free(DAT_SRQ_HANDLE handle)
{
	struct kdat_srq *srq = KDAT_FIND(handle, SRQ);

	might_sleep();
	if (!srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	if (atomic_read(&srq->object.users))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_SRQ_IN_USE);
	kdat_destroy_srq(srq);
	return DAT_SUCCESS;
}
