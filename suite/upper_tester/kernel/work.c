// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Work requests, posted alone or as a list, and their completions. */
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

/* A receive, and what its request points to. */
struct prepared_recv {
	struct kagent_work *work;
	struct ib_recv_wr wr;
	struct ib_sge list[RNIC_KAGENT_MAX_PIECES];
};

static int prepare_recv(struct kagent_session *session, struct kagent_pd *pd,
			struct prepared_recv *made,
			const struct rnic_kagent_recv *request)
{
	int error = fill_pieces(session, pd, made->list, request->piece,
				request->pieces);

	if (error)
		return error;
	made->work = make_work(session, request->wr_id,
			       request->srq ? 0 : request->qp, true);
	if (!made->work)
		return -ENOMEM;
	made->wr.wr_cqe = &made->work->cqe;
	made->wr.sg_list = made->list;
	made->wr.num_sge = request->pieces;
	return 0;
}

int kagent_post_recv(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_recv *request = argument;
	struct kagent_srq *srq = NULL;
	struct kagent_qp *qp = NULL;
	struct prepared_recv made = {};
	int error;

	if (request->srq)
		srq = KAGENT_FIND(session, request->srq, KAGENT_SRQ,
				  kagent_srq);
	else
		qp = KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	if (!srq && !qp)
		return -ENOENT;
	error = prepare_recv(session, srq ? srq->pd : qp->pd, &made, request);
	if (error)
		return error;
	list_add(&made.work->entry, srq ? &srq->work : &qp->work);
	error = srq ? ib_post_srq_recv(srq->ib, &made.wr, NULL)
		    : ib_post_recv(qp->ib, &made.wr, NULL);
	if (error)
		atomic_set(&made.work->done, 1);
	return error;
}

static u32 post_recvs(struct kagent_qp *qp, struct prepared_recv *list,
		      u32 count, int *error)
{
	const struct ib_recv_wr *bad = &list[0].wr;
	u32 posted = count;
	u32 i;

	for (i = 0; i < count; i++) {
		list[i].wr.next = i + 1 < count ? &list[i + 1].wr : NULL;
		list_add(&list[i].work->entry, &qp->work);
	}
	*error = ib_post_recv(qp->ib, &list[0].wr, &bad);
	if (*error)
		for (posted = 0; &list[posted].wr != bad; posted++)
			if (posted + 1 == count)
				break;
	for (i = posted; i < count; i++)
		atomic_set(&list[i].work->done, 1);
	return posted;
}

int kagent_post_recv_chain(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_recv_chain *chain = argument;
	struct prepared_recv *list;
	struct kagent_qp *qp;
	int error = 0;
	u32 made;

	chain->posted = 0;
	if (chain->count == 0 || chain->count > RNIC_KAGENT_MAX_CHAIN)
		return -EINVAL;
	qp = KAGENT_FIND(session, chain->request[0].qp, KAGENT_QP, kagent_qp);
	if (!qp)
		return -ENOENT;
	list = kvcalloc(chain->count, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for (made = 0; made < chain->count && !error; made++)
		error = chain->request[made].qp == chain->request[0].qp &&
					!chain->request[made].srq
				? prepare_recv(session, qp->pd, &list[made],
					       &chain->request[made])
				: -EINVAL;
	if (!error)
		chain->posted = post_recvs(qp, list, made, &error);
	else
		while (made--)
			kfree(list[made].work);
	kvfree(list);
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

/* A request of a send queue, and what it points to. */
struct prepared_send {
	struct kagent_work *work;
	union send_wr wr;
	struct ib_sge list[RNIC_KAGENT_MAX_PIECES];
};

static int prepare_send(struct kagent_session *session, struct kagent_qp *qp,
			struct prepared_send *made,
			const struct rnic_kagent_send *request)
{
	int error = fill_pieces(session, qp->pd, made->list, request->piece,
				request->pieces);

	if (error)
		return error;
	made->work = make_work(session, request->wr_id, request->qp, false);
	if (!made->work)
		return -ENOMEM;
	made->wr.send.wr_cqe = &made->work->cqe;
	made->wr.send.sg_list = made->list;
	made->wr.send.num_sge = request->pieces;
	/* Some devices, siw among them, take no Read without a sink. */
	if (request->opcode == RNIC_KAGENT_WR_RDMA_READ && !request->pieces) {
		made->list[0] =
			(struct ib_sge){ .lkey = qp->pd->ib->local_dma_lkey };
		made->wr.send.num_sge = 1;
	}
	made->wr.send.send_flags = send_flags(request->flags);
	error = fill_operation(session, made->work, &made->wr, request);
	if (error) {
		kfree(made->work);
		made->work = NULL;
	}
	return error;
}

/* How many of them are posted. */
static u32 post_sends(struct kagent_qp *qp, struct prepared_send *list,
		      u32 count, int *error)
{
	const struct ib_send_wr *bad = &list[0].wr.send;
	struct kagent_work *work;
	u32 posted = count;
	u32 i;

	for (i = 0; i < count; i++) {
		work = list[i].work;
		list[i].wr.send.next = i + 1 < count ? &list[i + 1].wr.send
						     : NULL;
		list_add(&work->entry, &qp->work);
		if (work->mr)
			atomic_inc(&work->mr->registering);
	}
	*error = ib_post_send(qp->ib, &list[0].wr.send, &bad);
	if (*error)
		for (posted = 0; &list[posted].wr.send != bad; posted++)
			if (posted + 1 == count)
				break;
	/* They stay in the list: a driver may complete what it has refused. */
	for (i = posted; i < count; i++) {
		work = list[i].work;
		if (!atomic_xchg(&work->done, 1) && work->mr)
			atomic_dec(&work->mr->registering);
	}
	return posted;
}

int kagent_post_send(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_send *request = argument;
	struct kagent_qp *qp =
		KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	struct prepared_send made = {};
	int error;

	if (!qp)
		return -ENOENT;
	error = prepare_send(session, qp, &made, request);
	if (!error)
		post_sends(qp, &made, 1, &error);
	return error;
}

int kagent_post_send_chain(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_send_chain *chain = argument;
	struct prepared_send *list;
	struct kagent_qp *qp;
	int error = 0;
	u32 made;

	chain->posted = 0;
	if (chain->count == 0 || chain->count > RNIC_KAGENT_MAX_CHAIN)
		return -EINVAL;
	qp = KAGENT_FIND(session, chain->request[0].qp, KAGENT_QP, kagent_qp);
	if (!qp)
		return -ENOENT;
	list = kvcalloc(chain->count, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for (made = 0; made < chain->count && !error; made++)
		error = chain->request[made].qp == chain->request[0].qp
				? prepare_send(session, qp, &list[made],
					       &chain->request[made])
				: -EINVAL;
	if (!error)
		chain->posted = post_sends(qp, list, made, &error);
	else
		while (made--)
			kfree(list[made].work);
	kvfree(list);
	return error;
}
