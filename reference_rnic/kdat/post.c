// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Posting of data transfer operations. In any context. */
#include <linux/mm.h>

#include "provider.h"

/* ---------------------------------------------------------------- posting */

static DAT_RETURN check_count(DAT_COUNT count, DAT_COUNT most,
			      const DAT_LMR_TRIPLET *segments)
{
	if (count < 0 || count > most)
		return KDAT_INVALID(2);
	return count && !segments ? KDAT_INVALID(3) : DAT_SUCCESS;
}

DAT_RETURN kdat_check_request_state(const struct kdat_ep *ep)
{
	switch (READ_ONCE(ep->state)) {
	case DAT_EP_STATE_CONNECTED:
	case DAT_EP_STATE_DISCONNECTED: /* it is flushed */
		return DAT_SUCCESS;
	case DAT_EP_STATE_UNCONNECTED:
	case DAT_EP_STATE_RESERVED:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_UNCONNECTED);
	case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_ACTCONNPENDING);
	case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_PASSCONNPENDING);
	default:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_DISCPENDING);
	}
}

static int send_flags(DAT_COMPLETION_FLAGS flags)
{
	return IB_SEND_SIGNALED |
	       (flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG ? IB_SEND_SOLICITED
							   : 0) |
	       (flags & (DAT_COMPLETION_BARRIER_FENCE_FLAG |
			 DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG)
			? IB_SEND_FENCE
			: 0);
}

static DAT_RETURN return_of(int error)
{
	switch (error) {
	case 0:
		return DAT_SUCCESS;
	case -ENOMEM:
	case -EAGAIN:
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
	case -ENOTCONN:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_DISCPENDING);
	default:
		return KDAT_INVALID(3);
	}
}

static void enlist(struct kdat_evd *evd, struct kdat_work *work)
{
	unsigned long flags;

	spin_lock_irqsave(&evd->lock, flags);
	list_add_tail(&work->entry, &evd->works);
	spin_unlock_irqrestore(&evd->lock, flags);
}

static void withdraw(struct kdat_evd *evd, struct kdat_work *work)
{
	unsigned long flags;

	spin_lock_irqsave(&evd->lock, flags);
	list_del(&work->entry);
	spin_unlock_irqrestore(&evd->lock, flags);
	kdat_free_work(work);
}

/* The work is the queue's from here on, or is freed. */
DAT_RETURN kdat_post_chain(struct kdat_ep *ep, struct kdat_work *work,
			   struct ib_send_wr *first, struct ib_send_wr *wr,
			   DAT_COMPLETION_FLAGS flags)
{
	int error;

	work->ep_serial = ep->serial;
	work->suppress = flags & DAT_COMPLETION_SUPPRESS_FLAG;
	wr->wr_cqe = &work->cqe;
	wr->send_flags = send_flags(flags);
	if (atomic_inc_return(&ep->request_outstanding) >
	    ep->attr.max_request_dtos) {
		atomic_dec(&ep->request_outstanding);
		kdat_free_work(work);
		return return_of(-ENOMEM);
	}
	enlist(ep->request_evd, work);
	error = ib_post_send(ep->qp, first, NULL);
	if (error) {
		atomic_dec(&ep->request_outstanding);
		withdraw(ep->request_evd, work);
	}
	return return_of(error);
}

DAT_RETURN kdat_post_request(struct kdat_ep *ep, struct kdat_work *work,
			     struct ib_send_wr *wr, DAT_COMPLETION_FLAGS flags)
{
	return kdat_post_chain(ep, work, wr, wr, flags);
}

/* ---------------------------------------------------------------- requests */

#define KNOWN_FLAGS                                          \
	((unsigned int)(DAT_COMPLETION_SUPPRESS_FLAG |       \
			DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
			DAT_COMPLETION_BARRIER_FENCE_FLAG))

struct transfer {
	DAT_DTOS operation;
	enum ib_wr_opcode opcode;
	DAT_MEM_PRIV_FLAGS needed;
	u64 limit; /* octets */
};

static DAT_RETURN post_transfer(struct kdat_ep *ep, const struct transfer *what,
				DAT_COUNT count, DAT_LMR_TRIPLET *segments,
				DAT_DTO_COOKIE cookie,
				DAT_COMPLETION_FLAGS flags,
				struct ib_send_wr *wr)
{
	struct ib_sge list[KDAT_MAX_SEGMENTS] = {};
	struct kdat_work *work;
	DAT_RETURN result;

	if (flags & ~KNOWN_FLAGS)
		return KDAT_INVALID(5);
	result = kdat_check_request_state(ep);
	if (result != DAT_SUCCESS)
		return result;
	work = kdat_make_work(ep->pz, cookie, what->operation, count);
	if (!work)
		return KDAT_NO_MEMORY;
	result = kdat_fill(work, ep->pz, segments, count, what->needed,
			   what->limit, list, &wr->num_sge);
	if (result != DAT_SUCCESS) {
		kdat_free_work(work);
		return result;
	}
	/* A Read of no octets has a sink all the same. */
	if (what->operation == DAT_DTO_RDMA_READ && !wr->num_sge) {
		list[0].lkey = ep->pz->pd->local_dma_lkey;
		wr->num_sge = 1;
	}
	wr->opcode = what->opcode;
	wr->sg_list = list;
	return kdat_post_request(ep, work, wr, flags);
}

static u64 total(DAT_COUNT count, const DAT_LMR_TRIPLET *segments)
{
	u64 length = 0;
	DAT_COUNT i;

	for (i = 0; i < count; i++)
		length += segments[i].segment_length;
	return length;
}

DAT_RETURN kdat_ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT count,
			     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
			     DAT_COMPLETION_FLAGS flags)
{
	return kdat_ep_post_send_with_invalidate(handle, count, segments,
						 cookie, flags, DAT_FALSE, 0);
}

DAT_RETURN kdat_ep_post_send_with_invalidate(
	DAT_EP_HANDLE handle, DAT_COUNT count, DAT_LMR_TRIPLET *segments,
	DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
	DAT_BOOLEAN invalidate, DAT_RMR_CONTEXT context)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct transfer what = {
		.operation = DAT_DTO_SEND,
		.opcode = invalidate ? IB_WR_SEND_WITH_INV : IB_WR_SEND,
		.needed = DAT_MEM_PRIV_LOCAL_READ_FLAG,
		.limit = U32_MAX,
	};
	struct ib_send_wr wr = { .ex.invalidate_rkey = context };
	DAT_RETURN result;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	result = check_count(count, ep->attr.max_request_iov, segments);
	if (result != DAT_SUCCESS)
		return result;
	return post_transfer(ep, &what, count, segments, cookie, flags, &wr);
}

DAT_RETURN kdat_ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT count,
				   DAT_LMR_TRIPLET *segments,
				   DAT_DTO_COOKIE cookie,
				   const DAT_RMR_TRIPLET *to,
				   DAT_COMPLETION_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct transfer what = {
		.operation = DAT_DTO_RDMA_WRITE,
		.opcode = IB_WR_RDMA_WRITE,
		.needed = DAT_MEM_PRIV_LOCAL_READ_FLAG,
		.limit = U32_MAX,
	};
	struct ib_rdma_wr wr = {};
	DAT_RETURN result;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (!to)
		return KDAT_INVALID(5);
	result = check_count(count, ep->attr.max_request_iov, segments);
	if (result != DAT_SUCCESS)
		return result;
	if (total(count, segments) > to->segment_length)
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	wr.remote_addr = to->virtual_address;
	wr.rkey = to->rmr_context;
	return post_transfer(ep, &what, count, segments, cookie, flags, &wr.wr);
}

DAT_RETURN kdat_ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT count,
				  DAT_LMR_TRIPLET *segments,
				  DAT_DTO_COOKIE cookie,
				  const DAT_RMR_TRIPLET *from,
				  DAT_COMPLETION_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct transfer what = {
		.operation = DAT_DTO_RDMA_READ,
		.opcode = IB_WR_RDMA_READ,
		.needed = DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
	};
	struct ib_rdma_wr wr = {};
	struct ib_device *ib;
	DAT_RETURN result;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (!from)
		return KDAT_INVALID(5);
	ib = ep->pz->pd->device;
	result = check_count(count,
			     min_t(u32, ep->attr.max_request_iov,
				   ib->attrs.max_sge_rd),
			     segments);
	if (result != DAT_SUCCESS)
		return result;
	if (total(count, segments) < from->segment_length)
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	what.limit = from->segment_length;
	if (rdma_protocol_iwarp(ib, rdma_start_port(ib)))
		what.needed |= DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
	wr.remote_addr = from->virtual_address;
	wr.rkey = from->rmr_context;
	return post_transfer(ep, &what, count, segments, cookie, flags, &wr.wr);
}

static DAT_RETURN check_read_to_rmr(struct kdat_ep *ep,
				    const DAT_RMR_TRIPLET *sink,
				    const DAT_RMR_TRIPLET *from,
				    DAT_COMPLETION_FLAGS flags)
{
	DAT_RETURN result;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (!sink)
		return KDAT_INVALID(2);
	if (!from)
		return KDAT_INVALID(4);
	if (flags & ~KNOWN_FLAGS)
		return KDAT_INVALID(5);
	if (sink->segment_length < from->segment_length)
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	result = kdat_check_request_state(ep);
	/* Whatever else stands in an empty segment. */
	if (result == DAT_SUCCESS && sink->segment_length)
		result = kdat_check_sink(ep->pz, sink);
	return result;
}

DAT_RETURN kdat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE handle,
					 const DAT_RMR_TRIPLET *sink,
					 DAT_DTO_COOKIE cookie,
					 const DAT_RMR_TRIPLET *from,
					 DAT_COMPLETION_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	DAT_RETURN result = check_read_to_rmr(ep, sink, from, flags);
	struct ib_rdma_wr wr = { .wr.opcode = IB_WR_RDMA_READ };
	struct ib_sge piece = {};
	struct kdat_work *work;

	if (result != DAT_SUCCESS)
		return result;
	work = kdat_make_work(ep->pz, cookie, DAT_DTO_RDMA_READ, 0);
	if (!work)
		return KDAT_NO_MEMORY;
	work->length = from->segment_length;
	piece.length = from->segment_length;
	piece.addr = piece.length ? sink->virtual_address : 0;
	/* A Read of no octets has a sink all the same. */
	piece.lkey = piece.length ? sink->rmr_context
				  : ep->pz->pd->local_dma_lkey;
	wr.wr.sg_list = &piece;
	wr.wr.num_sge = 1;
	wr.remote_addr = from->virtual_address;
	wr.rkey = from->rmr_context;
	return kdat_post_request(ep, work, &wr.wr, flags);
}

/* ---------------------------------------------------------------- receives */

static DAT_RETURN make_receive(struct kdat_pz *pz, DAT_COUNT count,
			       DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
			       struct ib_recv_wr *wr, struct ib_sge *list,
			       struct kdat_work **made)
{
	struct kdat_work *work =
		kdat_make_work(pz, cookie, DAT_DTO_RECEIVE, count);
	DAT_RETURN result;

	if (!work)
		return KDAT_NO_MEMORY;
	result = kdat_fill(work, pz, segments, count,
			   DAT_MEM_PRIV_LOCAL_WRITE_FLAG, U32_MAX, list,
			   &wr->num_sge);
	if (result != DAT_SUCCESS) {
		kdat_free_work(work);
		return result;
	}
	wr->wr_cqe = &work->cqe;
	wr->sg_list = list;
	*made = work;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT count,
			     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
			     DAT_COMPLETION_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct ib_sge list[KDAT_MAX_SEGMENTS] = {};
	struct ib_recv_wr wr = {};
	struct kdat_work *work;
	DAT_RETURN result;
	int error;

	/* One with a shared queue has no receives of its own. */
	if (!ep || ep->srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	result = check_count(count, ep->attr.max_recv_iov, segments);
	if (result != DAT_SUCCESS)
		return result;
	if (flags != DAT_COMPLETION_DEFAULT_FLAG)
		return KDAT_INVALID(5);
	result =
		make_receive(ep->pz, count, segments, cookie, &wr, list, &work);
	if (result != DAT_SUCCESS)
		return result;
	work->ep_serial = ep->serial;
	if (atomic_inc_return(&ep->recv_outstanding) > ep->attr.max_recv_dtos) {
		atomic_dec(&ep->recv_outstanding);
		kdat_free_work(work);
		return return_of(-ENOMEM);
	}
	enlist(ep->recv_evd, work);
	error = ib_post_recv(ep->qp, &wr, NULL);
	if (error) {
		atomic_dec(&ep->recv_outstanding);
		withdraw(ep->recv_evd, work);
	}
	return return_of(error);
}

DAT_RETURN kdat_srq_post_recv(DAT_SRQ_HANDLE handle, DAT_COUNT count,
			      DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie)
{
	struct kdat_srq *srq = KDAT_FIND(handle, SRQ);
	struct ib_sge list[KDAT_MAX_SEGMENTS] = {};
	struct ib_recv_wr wr = {};
	struct kdat_work *work;
	unsigned long flags;
	DAT_RETURN result;
	int error;

	if (!srq)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	result = check_count(count, srq->attr.max_recv_iov, segments);
	if (result != DAT_SUCCESS)
		return result;
	result = make_receive(srq->pz, count, segments, cookie, &wr, list,
			      &work);
	if (result != DAT_SUCCESS)
		return result;
	work->srq = srq;
	if (atomic_inc_return(&srq->outstanding) > srq->attr.max_recv_dtos) {
		atomic_dec(&srq->outstanding);
		kdat_free_work(work);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
	}
	spin_lock_irqsave(&srq->object.ia->lock, flags);
	list_add_tail(&work->entry, &srq->works);
	spin_unlock_irqrestore(&srq->object.ia->lock, flags);
	error = ib_post_srq_recv(srq->srq, &wr, NULL);
	if (!error)
		return DAT_SUCCESS;
	atomic_dec(&srq->outstanding);
	spin_lock_irqsave(&srq->object.ia->lock, flags);
	list_del(&work->entry);
	spin_unlock_irqrestore(&srq->object.ia->lock, flags);
	kdat_free_work(work);
	return return_of(error);
}
