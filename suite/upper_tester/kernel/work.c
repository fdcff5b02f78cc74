// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Work requests, posted one at a time, and their completions. */
#include <linux/slab.h>

#include "kagent.h"

/* By comparison alone: the queue pair of a completion may be gone already. */
static u32 find_pair(struct kagent_cq *cq, const struct ib_qp *wanted)
{
	struct kagent_qp *qp;
	unsigned long flags;
	u32 handle = 0;

	spin_lock_irqsave(&cq->lock, flags);
	list_for_each_entry(qp, &cq->pairs, of_cq)
		if (qp->ib == wanted)
			handle = qp->object.handle;
	spin_unlock_irqrestore(&cq->lock, flags);
	return handle;
}

static void work_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kagent_work *work =
		container_of(wc->wr_cqe, struct kagent_work, cqe);
	struct rnic_kagent_event event = {
		.type = RNIC_KAGENT_EVENT_COMPLETION,
		.flags = work->receive ? RNIC_KAGENT_EVENT_RECEIVE : 0,
		.handle = work->qp ?: find_pair(cq->cq_context, wc->qp),
		.code = wc->opcode,
		.status = wc->status,
		.wr_id = work->wr_id,
		.byte_len = wc->byte_len,
	};

	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		event.flags |= RNIC_KAGENT_EVENT_INVALIDATED;
		event.invalidate_rkey = wc->ex.invalidate_rkey;
	}
	if (atomic_xchg(&work->done, 1))
		event.flags |= RNIC_KAGENT_EVENT_AGAIN;
	else if (work->mr)
		atomic_dec(&work->mr->registering);
	kagent_tell(work->session, &event);
}

static struct kagent_work *make_work(struct kagent_session *session, u64 wr_id,
				     u32 qp, bool receive)
{
	struct kagent_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return NULL;
	work->cqe.done = work_done;
	work->session = session;
	work->wr_id = wr_id;
	work->qp = qp;
	work->receive = receive;
	atomic_set(&work->done, 0);
	return work;
}

/*
 * A piece of the module's memory by local_dma_lkey, as a kernel consumer
 * addresses what it does not register.
 */
static int fill_by_dma_key(struct kagent_session *session, struct kagent_pd *pd,
			   struct ib_sge *sge,
			   const struct rnic_kagent_piece *piece)
{
	struct kagent_memory *memory = KAGENT_FIND(
		session, piece->memory, KAGENT_MEMORY, kagent_memory);
	u64 offset = piece->address;
	struct page *page;

	if (!memory)
		return -ENOENT;
	if (offset >= memory->length ||
	    piece->length > memory->length - offset ||
	    (offset & ~PAGE_MASK) + piece->length > PAGE_SIZE)
		return -ERANGE;
	/* Only software devices use a page's address as it is. */
	if (!ib_uses_virt_dma(pd->ib->device))
		return -EOPNOTSUPP;
	page = memory->pages[offset >> PAGE_SHIFT];
	sge->addr = (uintptr_t)page_address(page) + (offset & ~PAGE_MASK);
	sge->length = piece->length;
	sge->lkey = pd->ib->local_dma_lkey;
	return 0;
}

static int fill_pieces(struct kagent_session *session, struct kagent_pd *pd,
		       struct ib_sge *list,
		       const struct rnic_kagent_piece *pieces, u32 count)
{
	int error = 0;
	u32 i;

	if (count > RNIC_KAGENT_MAX_PIECES)
		return -EINVAL;
	for (i = 0; i < count && !error; i++) {
		if (pieces[i].memory) {
			error = fill_by_dma_key(session, pd, &list[i],
						&pieces[i]);
			continue;
		}
		/* The keys by which a process could reach all memory. */
		if (pieces[i].lkey == 0 ||
		    pieces[i].lkey == pd->ib->local_dma_lkey)
			return -EACCES;
		list[i].addr = pieces[i].address;
		list[i].length = pieces[i].length;
		list[i].lkey = pieces[i].lkey;
	}
	return error;
}

int kagent_post_recv(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_recv *request = argument;
	struct ib_sge list[RNIC_KAGENT_MAX_PIECES];
	struct ib_recv_wr wr = { .sg_list = list, .num_sge = request->pieces };
	struct kagent_srq *srq = NULL;
	struct kagent_qp *qp = NULL;
	struct kagent_work *work;
	int error;

	if (request->srq)
		srq = KAGENT_FIND(session, request->srq, KAGENT_SRQ,
				  kagent_srq);
	else
		qp = KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	if (!srq && !qp)
		return -ENOENT;
	error = fill_pieces(session, srq ? srq->pd : qp->pd, list,
			    request->piece, request->pieces);
	if (error)
		return error;
	work = make_work(session, request->wr_id, qp ? request->qp : 0, true);
	if (!work)
		return -ENOMEM;
	wr.wr_cqe = &work->cqe;
	list_add(&work->entry, srq ? &srq->work : &qp->work);
	error = srq ? ib_post_srq_recv(srq->ib, &wr, NULL)
		    : ib_post_recv(qp->ib, &wr, NULL);
	if (error)
		atomic_set(&work->done, 1);
	return error;
}

union send_wr {
	struct ib_send_wr send;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
	struct ib_reg_wr reg;
};

static int fill_registration(struct kagent_session *session,
			     struct kagent_work *work, union send_wr *wr,
			     const struct rnic_kagent_send *request)
{
	struct kagent_mr *mr =
		KAGENT_FIND(session, request->mr, KAGENT_MR, kagent_mr);

	if (!mr)
		return -ENOENT;
	wr->send.opcode = IB_WR_REG_MR;
	wr->reg.mr = mr->ib;
	wr->reg.key = request->key;
	wr->reg.access = request->access;
	/* The region must outlive it: so its end has to be known. */
	wr->send.send_flags |= IB_SEND_SIGNALED;
	work->mr = mr;
	return 0;
}

static void fill_remote(union send_wr *wr, enum ib_wr_opcode opcode,
			const struct rnic_kagent_send *request)
{
	wr->send.opcode = opcode;
	wr->rdma.remote_addr = request->remote_addr;
	wr->rdma.rkey = request->rkey;
}

static void fill_atomic(union send_wr *wr, enum ib_wr_opcode opcode,
			const struct rnic_kagent_send *request)
{
	wr->send.opcode = opcode;
	wr->atomic.remote_addr = request->remote_addr;
	wr->atomic.rkey = request->rkey;
	wr->atomic.compare_add = request->compare_add;
	wr->atomic.swap = request->swap;
}

static int fill_operation(struct kagent_session *session,
			  struct kagent_work *work, union send_wr *wr,
			  const struct rnic_kagent_send *request)
{
	switch (request->opcode) {
	case RNIC_KAGENT_WR_SEND:
		wr->send.opcode = IB_WR_SEND;
		return 0;
	case RNIC_KAGENT_WR_SEND_WITH_INV:
		wr->send.opcode = IB_WR_SEND_WITH_INV;
		wr->send.ex.invalidate_rkey = request->invalidate_rkey;
		return 0;
	case RNIC_KAGENT_WR_LOCAL_INV:
		wr->send.opcode = IB_WR_LOCAL_INV;
		wr->send.ex.invalidate_rkey = request->invalidate_rkey;
		return 0;
	case RNIC_KAGENT_WR_RDMA_WRITE:
		fill_remote(wr, IB_WR_RDMA_WRITE, request);
		return 0;
	case RNIC_KAGENT_WR_RDMA_READ:
		fill_remote(wr, IB_WR_RDMA_READ, request);
		return 0;
	case RNIC_KAGENT_WR_RDMA_READ_WITH_INV:
		fill_remote(wr, IB_WR_RDMA_READ_WITH_INV, request);
		wr->send.ex.invalidate_rkey = request->invalidate_rkey;
		return 0;
	case RNIC_KAGENT_WR_ATOMIC_FETCH_AND_ADD:
		fill_atomic(wr, IB_WR_ATOMIC_FETCH_AND_ADD, request);
		return 0;
	case RNIC_KAGENT_WR_ATOMIC_CMP_AND_SWP:
		fill_atomic(wr, IB_WR_ATOMIC_CMP_AND_SWP, request);
		return 0;
	case RNIC_KAGENT_WR_REG_MR:
		return fill_registration(session, work, wr, request);
	default:
		return -EOPNOTSUPP;
	}
}

static int send_flags(u32 flags)
{
	return (flags & RNIC_KAGENT_SEND_FENCE ? IB_SEND_FENCE : 0) |
	       (flags & RNIC_KAGENT_SEND_SIGNALED ? IB_SEND_SIGNALED : 0) |
	       (flags & RNIC_KAGENT_SEND_SOLICITED ? IB_SEND_SOLICITED : 0);
}

static int post(struct kagent_qp *qp, struct kagent_work *work,
		union send_wr *wr)
{
	int error;

	wr->send.wr_cqe = &work->cqe;
	list_add(&work->entry, &qp->work);
	if (work->mr)
		atomic_inc(&work->mr->registering);
	error = ib_post_send(qp->ib, &wr->send, NULL);
	/* It stays in the list: a driver may complete what it has refused. */
	if (error && !atomic_xchg(&work->done, 1) && work->mr)
		atomic_dec(&work->mr->registering);
	return error;
}

int kagent_post_send(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_send *request = argument;
	struct kagent_qp *qp =
		KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	struct ib_sge list[RNIC_KAGENT_MAX_PIECES];
	struct kagent_work *work;
	union send_wr wr = {};
	int error;

	if (!qp)
		return -ENOENT;
	error = fill_pieces(session, qp->pd, list, request->piece,
			    request->pieces);
	if (error)
		return error;
	work = make_work(session, request->wr_id, request->qp, false);
	if (!work)
		return -ENOMEM;
	wr.send.sg_list = list;
	wr.send.num_sge = request->pieces;
	wr.send.send_flags = send_flags(request->flags);
	error = fill_operation(session, work, &wr, request);
	if (error) {
		kfree(work);
		return error;
	}
	return post(qp, work, &wr);
}
