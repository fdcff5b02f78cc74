// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Completion queues, shared receive queues and queue pairs. */
#include <linux/slab.h>

#include "kagent.h"

static void tell_async(struct kagent_object *object, struct ib_event *event)
{
	struct rnic_kagent_event told = {
		.type = RNIC_KAGENT_EVENT_ASYNC,
		.handle = object->handle,
		.code = event->event,
	};

	kagent_tell(object->session, &told);
}

static void qp_event(struct ib_event *event, void *context)
{
	tell_async(&((struct kagent_qp *)context)->object, event);
}

static void srq_event(struct ib_event *event, void *context)
{
	tell_async(&((struct kagent_srq *)context)->object, event);
}

static void cq_event(struct ib_event *event, void *context)
{
	tell_async(&((struct kagent_cq *)context)->object, event);
}

/* ---------------------------------------------------------------- queues */

static struct ib_cq *make_cq(struct kagent_session *session,
			     struct kagent_cq *cq, u32 entries)
{
	static const enum ib_poll_context contexts[] = {
		[RNIC_KAGENT_POLL_SOFTIRQ] = IB_POLL_SOFTIRQ,
		[RNIC_KAGENT_POLL_WORKQUEUE] = IB_POLL_WORKQUEUE,
		[RNIC_KAGENT_POLL_UNBOUND_WORKQUEUE] =
			IB_POLL_UNBOUND_WORKQUEUE,
		[RNIC_KAGENT_POLL_DIRECT] = IB_POLL_DIRECT,
	};
	struct ib_device *device = session->device->ib;
	struct ib_cq_init_attr attributes = { .cqe = entries };

	if (cq->poll == RNIC_KAGENT_POLL_NEVER)
		return ib_create_cq(device, NULL, cq_event, cq, &attributes);
	if (cq->poll >= ARRAY_SIZE(contexts))
		return ERR_PTR(-EINVAL);
	return ib_alloc_cq(device, cq, entries, 0, contexts[cq->poll]);
}

int kagent_create_cq(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_cq *request = argument;
	struct kagent_cq *cq;
	int error;

	if (request->entries == 0 || request->entries > INT_MAX)
		return -EINVAL;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return -ENOMEM;
	cq->poll = request->poll;
	spin_lock_init(&cq->lock);
	INIT_LIST_HEAD(&cq->pairs);
	INIT_LIST_HEAD(&cq->dead_work);
	error = kagent_add(session, &cq->object, KAGENT_CQ);
	if (error)
		goto free;
	cq->ib = make_cq(session, cq, request->entries);
	if (IS_ERR(cq->ib)) {
		error = PTR_ERR(cq->ib);
		goto forget;
	}
	request->handle = cq->object.handle;
	return 0;

forget:
	xa_erase(&session->objects, cq->object.handle);
free:
	kfree(cq);
	return error;
}

void kagent_destroy_cq(struct kagent_cq *cq)
{
	if (cq->poll == RNIC_KAGENT_POLL_NEVER)
		ib_destroy_cq(cq->ib);
	else
		ib_free_cq(cq->ib);
	kagent_free_work(&cq->dead_work);
	kfree(cq);
}

int kagent_process_cq(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_process_cq *request = argument;
	struct kagent_cq *cq =
		KAGENT_FIND(session, request->cq, KAGENT_CQ, kagent_cq);

	if (!cq)
		return -ENOENT;
	if (cq->poll != RNIC_KAGENT_POLL_DIRECT)
		return -EINVAL;
	request->budget = ib_process_cq_direct(cq->ib, request->budget);
	return 0;
}

int kagent_create_srq(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_srq *request = argument;
	struct kagent_pd *pd =
		KAGENT_FIND(session, request->pd, KAGENT_PD, kagent_pd);
	struct ib_srq_init_attr attributes = {
		.event_handler = srq_event,
		.attr = { .max_wr = request->max_wr,
			  .max_sge = request->max_sge },
		.srq_type = IB_SRQT_BASIC,
	};
	struct kagent_srq *srq;
	int error;

	if (!pd)
		return -ENOENT;
	srq = kzalloc(sizeof(*srq), GFP_KERNEL);
	if (!srq)
		return -ENOMEM;
	INIT_LIST_HEAD(&srq->work);
	error = kagent_add(session, &srq->object, KAGENT_SRQ);
	if (error)
		goto free;
	attributes.srq_context = srq;
	srq->ib = ib_create_srq(pd->ib, &attributes);
	if (IS_ERR(srq->ib)) {
		error = PTR_ERR(srq->ib);
		goto forget;
	}
	srq->pd = pd;
	pd->object.users++;
	request->handle = srq->object.handle;
	return 0;

forget:
	xa_erase(&session->objects, srq->object.handle);
free:
	kfree(srq);
	return error;
}

int kagent_modify_srq(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_modify_srq *request = argument;
	struct kagent_srq *srq =
		KAGENT_FIND(session, request->srq, KAGENT_SRQ, kagent_srq);
	struct ib_srq_attr attributes = { .max_wr = request->max_wr,
					  .srq_limit = request->srq_limit };

	if (!srq)
		return -ENOENT;
	if (request->mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	return ib_modify_srq(srq->ib, &attributes, request->mask);
}

void kagent_free_work(struct list_head *work)
{
	struct kagent_work *each, *next;

	list_for_each_entry_safe(each, next, work, entry)
		kfree(each);
	INIT_LIST_HEAD(work);
}

/* Its queue is gone, but completions of it may not have been taken yet. */
static void retire_work(struct list_head *work, struct list_head *dead)
{
	struct kagent_work *each;

	list_for_each_entry(each, work, entry)
		if (!atomic_xchg(&each->done, 1) && each->mr)
			atomic_dec(&each->mr->registering);
	list_splice_init(work, dead);
}

void kagent_destroy_srq(struct kagent_srq *srq)
{
	ib_destroy_srq(srq->ib);
	retire_work(&srq->work, &srq->object.session->dead_work);
	srq->pd->object.users--;
	kfree(srq);
}

/* ---------------------------------------------------------------- queue pairs */

/* The objects that a queue pair is made of; `srq` may be none. */
static int find_parts(struct kagent_session *session, struct kagent_qp *qp,
		      const struct rnic_kagent_qp *request)
{
	qp->pd = KAGENT_FIND(session, request->pd, KAGENT_PD, kagent_pd);
	qp->cq = KAGENT_FIND(session, request->cq, KAGENT_CQ, kagent_cq);
	if (request->srq)
		qp->srq = KAGENT_FIND(session, request->srq, KAGENT_SRQ,
				      kagent_srq);
	if (!qp->pd || !qp->cq || (request->srq && !qp->srq))
		return -ENOENT;
	return 0;
}

static void use_parts(struct kagent_qp *qp, int more)
{
	qp->pd->object.users += more;
	qp->cq->object.users += more;
	if (qp->srq)
		qp->srq->object.users += more;
}

int kagent_create_qp(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_qp *request = argument;
	struct ib_qp_init_attr attributes = {
		.event_handler = qp_event,
		.cap = { .max_send_wr = request->max_send_wr,
			 .max_recv_wr = request->max_recv_wr,
			 .max_send_sge = request->max_send_sge,
			 .max_recv_sge = request->max_recv_sge },
		.sq_sig_type = request->sq_sig_all ? IB_SIGNAL_ALL_WR
						   : IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct kagent_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int error;

	if (!qp)
		return -ENOMEM;
	INIT_LIST_HEAD(&qp->work);
	error = find_parts(session, qp, request);
	if (error)
		goto free;
	error = kagent_add(session, &qp->object, KAGENT_QP);
	if (error)
		goto free;
	attributes.qp_context = qp;
	attributes.send_cq = qp->cq->ib;
	attributes.recv_cq = qp->cq->ib;
	attributes.srq = qp->srq ? qp->srq->ib : NULL;
	qp->ib = ib_create_qp(qp->pd->ib, &attributes);
	if (IS_ERR(qp->ib)) {
		error = PTR_ERR(qp->ib);
		goto forget;
	}
	use_parts(qp, 1);
	spin_lock_irq(&qp->cq->lock);
	list_add(&qp->of_cq, &qp->cq->pairs);
	spin_unlock_irq(&qp->cq->lock);
	request->handle = qp->object.handle;
	request->qp_num = qp->ib->qp_num;
	return 0;

forget:
	xa_erase(&session->objects, qp->object.handle);
free:
	kfree(qp);
	return error;
}

int kagent_destroy_qp(struct kagent_qp *qp)
{
	struct ib_qp_attr attributes = { .qp_state = IB_QPS_ERR };
	int error;

	/* It may be in this state already, or never have left RESET. */
	ib_modify_qp(qp->ib, &attributes, IB_QP_STATE);
	error = ib_destroy_qp(qp->ib);
	if (error)
		return error;
	spin_lock_irq(&qp->cq->lock);
	list_del(&qp->of_cq);
	spin_unlock_irq(&qp->cq->lock);
	retire_work(&qp->work, &qp->cq->dead_work);
	use_parts(qp, -1);
	kfree(qp);
	return 0;
}

int kagent_modify_qp(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_qp_attr *request = argument;
	struct kagent_qp *qp =
		KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	struct ib_qp_attr attributes = { .qp_state = request->state,
					 .qp_access_flags = request->access };
	int mask = IB_QP_STATE;

	if (!qp)
		return -ENOENT;
	switch (request->state) {
	case RNIC_KAGENT_QPS_INIT:
		mask |= IB_QP_ACCESS_FLAGS;
		if (kagent_is_iwarp(qp->ib->device))
			break;
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT;
		attributes.port_num = rdma_start_port(qp->ib->device);
		break;
	case RNIC_KAGENT_QPS_KEPT:
		mask = IB_QP_ACCESS_FLAGS;
		break;
	case RNIC_KAGENT_QPS_RESET:
	case RNIC_KAGENT_QPS_ERR:
		break;
	default:
		return -EINVAL;
	}
	return ib_modify_qp(qp->ib, &attributes, mask);
}

int kagent_query_qp(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_qp_attr *request = argument;
	struct kagent_qp *qp =
		KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attributes = {};
	int error;

	if (!qp)
		return -ENOENT;
	error = ib_query_qp(qp->ib, &attributes, IB_QP_STATE, &init);
	request->state = attributes.qp_state;
	request->access = attributes.qp_access_flags;
	return error;
}

int kagent_drain_qp(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_object *request = argument;
	struct kagent_qp *qp =
		KAGENT_FIND(session, request->handle, KAGENT_QP, kagent_qp);

	if (!qp)
		return -ENOENT;
	if (qp->cq->poll >= RNIC_KAGENT_POLL_DIRECT)
		return -EINVAL;
	/*
	 * Of a pair with a shared queue, ib_drain_qp of later kernels waits for
	 * IB_EVENT_QP_LAST_WQE_REACHED, a minute long where the driver has no
	 * such event.
	 */
	if (qp->srq)
		ib_drain_sq(qp->ib);
	else
		ib_drain_qp(qp->ib);
	return 0;
}
