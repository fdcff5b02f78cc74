// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Work requests: their memory, and what becomes of each. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "provider.h"

struct kdat_work *kdat_make_work(struct kdat_pz *pz, DAT_CONTEXT cookie,
				 DAT_DTOS operation, DAT_COUNT segments)
{
	struct kdat_work *work =
		kzalloc(struct_size(work, mapped, segments), GFP_ATOMIC);

	if (!work)
		return NULL;
	work->cqe.done = kdat_work_done;
	work->ia = pz->object.ia;
	work->cookie = cookie;
	work->operation = operation;
	work->receive = operation == DAT_DTO_RECEIVE;
	work->direction = operation == DAT_DTO_RECEIVE ||
					  operation == DAT_DTO_RDMA_READ
				  ? DMA_FROM_DEVICE
				  : DMA_TO_DEVICE;
	return work;
}

void kdat_free_work(struct kdat_work *work)
{
	unsigned int i;

	for (i = 0; i < work->mapped_count; i++)
		ib_dma_unmap_page(work->ia->device->ib, work->mapped[i].address,
				  work->mapped[i].length, work->direction);
	if (work->lmr)
		atomic_dec(&work->lmr->working);
	if (work->rmr) {
		atomic_xchg(&work->rmr->working, 0); /* and a barrier */
		wake_up_var(&work->rmr->working);
	}
	kfree(work);
}

void kdat_free_works(struct list_head *works)
{
	struct kdat_work *each, *next;

	list_for_each_entry_safe(each, next, works, entry)
		kdat_free_work(each);
	INIT_LIST_HEAD(works);
}

/* ---------------------------------------------------------------- segments */

/* A host physical address: mapped for the device as long as the work takes. */
static DAT_RETURN fill_reserved(struct kdat_work *work, struct kdat_pz *pz,
				u64 place, u32 length, struct ib_sge *sge)
{
	struct ib_device *ib = pz->pd->device;
	u64 address;

	if (place + length < place || !pfn_valid(PHYS_PFN(place)) ||
	    !pfn_valid(PHYS_PFN(place + length - 1)))
		return KDAT_INVALID(3);
	address = ib_dma_map_page(ib, pfn_to_page(PHYS_PFN(place)),
				  offset_in_page(place), length,
				  work->direction);
	if (ib_dma_mapping_error(ib, address))
		return KDAT_NO_MEMORY;
	work->mapped[work->mapped_count].address = address;
	work->mapped[work->mapped_count].length = length;
	work->mapped_count++;
	sge->addr = address;
	sge->lkey = pz->pd->local_dma_lkey;
	return DAT_SUCCESS;
}

static DAT_RETURN check_segment(struct kdat_pz *pz,
				const DAT_LMR_TRIPLET *segment,
				DAT_MEM_PRIV_FLAGS needed)
{
	const struct kdat_lmr *lmr =
		kdat_lmr_of(pz->object.ia, segment->lmr_context);
	const u32 why = needed & DAT_MEM_PRIV_LOCAL_WRITE_FLAG
				? DAT_PRIVILEGES_WRITE
				: DAT_PRIVILEGES_READ;
	u64 offset;

	if (!lmr)
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, why);
	if (lmr->pz != pz)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION,
				 why == DAT_PRIVILEGES_WRITE
					 ? DAT_PROTECTION_WRITE
					 : DAT_PROTECTION_READ);
	if ((lmr->privileges & needed) != needed)
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, why);
	offset = segment->virtual_address - lmr->address;
	if (segment->virtual_address < lmr->address || offset > lmr->length ||
	    segment->segment_length > lmr->length - offset)
		return KDAT_INVALID(3);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_fill(struct kdat_work *work, struct kdat_pz *pz,
		     const DAT_LMR_TRIPLET *segments, DAT_COUNT count,
		     DAT_MEM_PRIV_FLAGS needed, u64 limit, struct ib_sge *list,
		     int *used)
{
	DAT_RETURN result = DAT_SUCCESS;
	DAT_COUNT i;

	*used = 0;
	for (i = 0; i < count && result == DAT_SUCCESS; i++) {
		u32 length = min_t(u64, segments[i].segment_length, limit);
		struct ib_sge *sge = &list[*used];

		/* Whatever else stands in an empty segment. */
		if (!segments[i].segment_length)
			continue;
		if (segments[i].lmr_context == KDAT_RESERVED_CONTEXT) {
			result = fill_reserved(work, pz,
					       segments[i].virtual_address,
					       segments[i].segment_length, sge);
		} else {
			result = check_segment(pz, &segments[i], needed);
			sge->addr = segments[i].virtual_address;
			sge->lkey = segments[i].lmr_context;
		}
		sge->length = length;
		work->length += length;
		limit -= length;
		if (length)
			++*used;
	}
	return result;
}

/* ---------------------------------------------------------------- completions */

static DAT_DTO_COMPLETION_STATUS status_of(enum ib_wc_status status,
					   DAT_DTOS operation)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return DAT_DTO_SUCCESS;
	case IB_WC_WR_FLUSH_ERR:
		return DAT_DTO_ERR_FLUSHED;
	default:
		break;
	}
	if (operation == DAT_DTO_LMR_FMR || operation == DAT_DTO_LMR_INVALIDATE)
		return DAT_DTO_ERR_LOCAL_MM_ERROR;
	if (operation == DAT_DTO_BIND_MW)
		return DAT_RMR_OPERATION_FAILED;
	switch (status) {
	case IB_WC_LOC_LEN_ERR:
		return DAT_DTO_ERR_LOCAL_LENGTH;
	case IB_WC_LOC_QP_OP_ERR:
		return DAT_DTO_ERR_LOCAL_EP;
	case IB_WC_LOC_PROT_ERR:
	case IB_WC_LOC_ACCESS_ERR:
		return DAT_DTO_ERR_LOCAL_PROTECTION;
	case IB_WC_BAD_RESP_ERR:
		return DAT_DTO_ERR_BAD_RESPONSE;
	case IB_WC_REM_ACCESS_ERR:
		return DAT_DTO_ERR_REMOTE_ACCESS;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_OP_ERR:
		return DAT_DTO_ERR_REMOTE_RESPONDER;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return DAT_DTO_ERR_RECEIVER_NOT_READY;
	default:
		return DAT_DTO_ERR_TRANSPORT;
	}
}

void kdat_describe_bind(const struct kdat_work *work, const struct ib_wc *wc,
			DAT_EVENT *event)
{
	DAT_RMR_BIND_COMPLETION_EVENT_DATA *data =
		&event->event_data.rmr_completion_event_data;

	memset(event, 0, sizeof(*event));
	event->event_number = DAT_RMR_BIND_COMPLETION_EVENT;
	data->rmr_handle = work->rmr;
	data->user_cookie = work->cookie;
	data->status = status_of(wc->status, work->operation);
}

static void describe(const struct kdat_work *work, const struct ib_wc *wc,
		     DAT_EP_HANDLE ep, DAT_EVENT *event)
{
	DAT_DTO_COMPLETION_EVENT_DATA *data =
		&event->event_data.dto_completion_event_data;

	memset(event, 0, sizeof(*event));
	event->event_number = DAT_DTO_COMPLETION_EVENT;
	data->ep_handle = ep;
	data->user_cookie = work->cookie;
	data->status = status_of(wc->status, work->operation);
	data->operation = work->operation;
	if (wc->status != IB_WC_SUCCESS)
		return;
	data->transfered_length = work->receive ? wc->byte_len : work->length;
	if (work->receive && wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		data->operation = DAT_DTO_RECEIVE_WITH_INVALIDATE;
		data->rmr_context = wc->ex.invalidate_rkey;
	}
}

/* What it means for the region that it names, or that the peer invalidated. */
static void settle_region(const struct kdat_work *work, const struct ib_wc *wc)
{
	struct kdat_lmr *lmr;

	/* Each call has said already what it is to be. */
	if (work->lmr && wc->status != IB_WC_SUCCESS)
		WRITE_ONCE(work->lmr->bound,
			   work->operation == DAT_DTO_LMR_INVALIDATE);
	if (work->rmr)
		kdat_bind_done(work->rmr, wc->status == IB_WC_SUCCESS);
	if (!work->receive || wc->status != IB_WC_SUCCESS ||
	    !(wc->wc_flags & IB_WC_WITH_INVALIDATE))
		return;
	lmr = kdat_lmr_of(work->ia, wc->ex.invalidate_rkey);
	if (lmr)
		WRITE_ONCE(lmr->bound, false);
	kdat_peer_unbound(work->ia, wc->ex.invalidate_rkey);
}

/* Takes it from its queue; the endpoint that it is of, unless that is gone. */
static void *retire(struct kdat_evd *evd, struct kdat_work *work,
		    const struct ib_wc *wc)
{
	struct kdat_stream *each;
	struct kdat_ep *found = NULL;
	unsigned long flags;

	if (!work->ep_serial) {
		spin_lock_irqsave(&work->ia->lock, flags);
		list_del(&work->entry);
		if (work->srq)
			atomic_dec(&work->srq->outstanding);
		spin_unlock_irqrestore(&work->ia->lock, flags);
	}
	spin_lock_irqsave(&evd->lock, flags);
	if (work->ep_serial)
		list_del(&work->entry);
	list_for_each_entry(each, &evd->streams, entry)
		if (work->ep_serial ? each->ep->serial == work->ep_serial
				    : each->ep->qp == wc->qp)
			found = each->ep;
	if (found && work->ep_serial)
		atomic_dec(work->receive ? &found->recv_outstanding
					 : &found->request_outstanding);
	spin_unlock_irqrestore(&evd->lock, flags);
	return found;
}

void kdat_work_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdat_work *work =
		container_of(wc->wr_cqe, struct kdat_work, cqe);
	struct kdat_evd *evd = cq->cq_context;
	struct kdat_ep *ep = retire(evd, work, wc);
	DAT_EVENT event;
	bool silent;

	if (work->rmr)
		kdat_describe_bind(work, wc, &event);
	else
		describe(work, wc, ep, &event);
	settle_region(work, wc);
	/* InfiniBand does not tell its connection manager of an error. */
	if (ep && wc->status != IB_WC_SUCCESS &&
	    wc->status != IB_WC_WR_FLUSH_ERR && !kdat_is_iwarp(cq->device))
		schedule_work(&ep->broken);
	silent = !ep || (work->suppress && wc->status == IB_WC_SUCCESS);
	/* Before the event: the consumer may free the region at once. */
	kdat_free_work(work);
	if (!silent)
		kdat_tell(evd, &event);
}
