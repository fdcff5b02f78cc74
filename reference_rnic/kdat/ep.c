// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Endpoints. */
#include <linux/slab.h>

#include "provider.h"

#define USUAL_DTOS 16
#define USUAL_SEGMENTS 4
#define USUAL_READS 4

static atomic64_t last_serial = ATOMIC64_INIT(0);

static void qp_event(struct ib_event *event, void *context)
{
	struct kdat_ep *ep = context;

	if (event->event == IB_EVENT_QP_FATAL ||
	    event->event == IB_EVENT_QP_REQ_ERR ||
	    event->event == IB_EVENT_QP_ACCESS_ERR)
		kdat_tell_async(ep->object.ia, DAT_ASYNC_ERROR_EP_BROKEN,
				&ep->object, DAT_EP_TRANSFER_TO_ERROR);
}

static DAT_EP_ATTR usual_attr(const struct ib_device_attr *limits)
{
	return (DAT_EP_ATTR){
		.max_message_size = U32_MAX,
		.max_rdma_size = U32_MAX,
		.max_recv_dtos = USUAL_DTOS,
		.max_request_dtos = USUAL_DTOS,
		.max_recv_iov = min(USUAL_SEGMENTS, limits->max_recv_sge),
		.max_request_iov = min(USUAL_SEGMENTS, limits->max_send_sge),
		.max_rdma_read_in = min(USUAL_READS, limits->max_qp_rd_atom),
		.max_rdma_read_out =
			min(USUAL_READS, limits->max_qp_init_rd_atom),
	};
}

static bool within(DAT_COUNT value, DAT_COUNT most)
{
	return value >= 0 && value <= most;
}

static bool is_possible(const struct ib_device_attr *limits,
			const DAT_EP_ATTR *attr)
{
	/* The drain takes one more work request of each queue. */
	return within(attr->max_recv_dtos, limits->max_qp_wr - 1) &&
	       within(attr->max_request_dtos, limits->max_qp_wr - 1) &&
	       within(attr->max_recv_iov,
		      min(limits->max_recv_sge, KDAT_MAX_SEGMENTS)) &&
	       within(attr->max_request_iov,
		      min(limits->max_send_sge, KDAT_MAX_SEGMENTS)) &&
	       within(attr->max_rdma_read_in,
		      min(limits->max_qp_rd_atom, U8_MAX)) &&
	       within(attr->max_rdma_read_out,
		      min(limits->max_qp_init_rd_atom, U8_MAX)) &&
	       attr->recv_completion_flags == DAT_COMPLETION_DEFAULT_FLAG &&
	       attr->request_completion_flags == DAT_COMPLETION_DEFAULT_FLAG;
}

/*
 * A bind can be two work requests; and there is the drain's. A device's limits
 * are signed numbers in older kernels.
 */
static u32 send_queue_of(const struct kdat_ep *ep)
{
	return min_t(u32, 2 * ep->attr.max_request_dtos + 1,
		     ep->pz->pd->device->attrs.max_qp_wr);
}

/* In the state in which a connection takes it. */
static int make_qp(struct kdat_ep *ep)
{
	struct ib_qp_init_attr attributes = {
		.event_handler = qp_event,
		.qp_context = ep,
		.send_cq = ep->request_evd->cq,
		.recv_cq = ep->recv_evd->cq,
		.srq = ep->srq ? ep->srq->srq : NULL,
		.cap = { .max_send_wr = send_queue_of(ep),
			 .max_recv_wr = ep->srq ? 0
						: ep->attr.max_recv_dtos + 1,
			 .max_send_sge = max(ep->attr.max_request_iov, 1),
			 .max_recv_sge = max(ep->attr.max_recv_iov, 1) },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(ep->pz->pd, &attributes);
	int error;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	error = kdat_init_qp(qp);
	if (error) {
		ib_destroy_qp(qp);
		return error;
	}
	ep->qp = qp;
	ep->was_connected = false;
	return 0;
}

static void destroy_qp(struct kdat_ep *ep)
{
	struct ib_qp_attr attributes = { .qp_state = IB_QPS_ERR };

	/*
	 * After the drain no completion is under way. A queue pair without a
	 * connection has receives at most; they are the dispatcher's then.
	 */
	if (!ep->was_connected)
		ib_modify_qp(ep->qp, &attributes, IB_QP_STATE);
	else if (ep->srq)
		/* Later kernels wait for an event that few drivers have. */
		ib_drain_sq(ep->qp);
	else
		ib_drain_qp(ep->qp);
	ib_destroy_qp(ep->qp);
}

/* ---------------------------------------------------------------- creation */

static void join(struct kdat_evd *evd, struct kdat_stream *stream,
		 struct kdat_ep *ep)
{
	stream->ep = ep;
	spin_lock_irq(&evd->lock);
	list_add_tail(&stream->entry, &evd->streams);
	spin_unlock_irq(&evd->lock);
}

static void leave(struct kdat_evd *evd, struct kdat_stream *stream)
{
	spin_lock_irq(&evd->lock);
	list_del(&stream->entry);
	spin_unlock_irq(&evd->lock);
}

static void use_parts(struct kdat_ep *ep, int more)
{
	atomic_add(more, &ep->pz->object.users);
	atomic_add(more, &ep->recv_evd->object.users);
	atomic_add(more, &ep->request_evd->object.users);
	atomic_add(more, &ep->connect_evd->object.users);
	if (ep->srq)
		atomic_add(more, &ep->srq->object.users);
}

static struct kdat_evd *evd_for(struct kdat_ia *ia, DAT_EVD_HANDLE handle,
				DAT_EVD_FLAGS flag)
{
	struct kdat_evd *evd = KDAT_FIND(handle, EVD);

	return evd && evd->object.ia == ia && (evd->flags & flag) ? evd : NULL;
}

static DAT_RETURN find_parts(struct kdat_ia *ia, struct kdat_ep *ep,
			     DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
			     DAT_EVD_HANDLE request_evd,
			     DAT_EVD_HANDLE connect_evd)
{
	/* An endpoint that is configured later is a model of its own. */
	if (!pz || !recv_evd || !request_evd || !connect_evd)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	ep->pz = KDAT_FIND(pz, PZ);
	if (!ep->pz || ep->pz->object.ia != ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	ep->recv_evd = evd_for(ia, recv_evd, DAT_EVD_DTO_FLAG);
	if (!ep->recv_evd)
		return DAT_ERROR(DAT_INVALID_HANDLE,
				 DAT_INVALID_HANDLE_EVD_RECV);
	ep->request_evd = evd_for(ia, request_evd, DAT_EVD_DTO_FLAG);
	if (!ep->request_evd)
		return DAT_ERROR(DAT_INVALID_HANDLE,
				 DAT_INVALID_HANDLE_EVD_REQUEST);
	ep->connect_evd = evd_for(ia, connect_evd, DAT_EVD_CONNECTION_FLAG);
	if (!ep->connect_evd)
		return DAT_ERROR(DAT_INVALID_HANDLE,
				 DAT_INVALID_HANDLE_EVD_CONN);
	return DAT_SUCCESS;
}

static DAT_RETURN make_ep(struct kdat_ia *ia, struct kdat_ep *ep)
{
	ep->serial = atomic64_inc_return(&last_serial);
	ep->state = DAT_EP_STATE_UNCONNECTED;
	atomic_set(&ep->recv_outstanding, 0);
	atomic_set(&ep->request_outstanding, 0);
	mutex_init(&ep->mutex);
	INIT_DELAYED_WORK(&ep->timer, kdat_connect_timed_out);
	INIT_WORK(&ep->broken, kdat_end_broken);
	kdat_add(ia, &ep->object, DAT_HANDLE_TYPE_EP);
	if (make_qp(ep)) {
		kdat_forget(&ep->object);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
	}
	use_parts(ep, 1);
	join(ep->recv_evd, &ep->recv, ep);
	join(ep->request_evd, &ep->request, ep);
	return DAT_SUCCESS;
}

static DAT_RETURN create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
			 DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			 DAT_EVD_HANDLE connect_evd, struct kdat_srq *srq,
			 const DAT_EP_ATTR *attr, DAT_EP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_ep *ep;
	DAT_RETURN result;

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (attr && !is_possible(&ia->device->ib->attrs, attr))
		return KDAT_INVALID(6);
	if (!made)
		return KDAT_INVALID(7);
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	if (!ep)
		return KDAT_NO_MEMORY;
	ep->attr = attr ? *attr : usual_attr(&ia->device->ib->attrs);
	ep->srq = srq;
	result = find_parts(ia, ep, pz, recv_evd, request_evd, connect_evd);
	if (result == DAT_SUCCESS)
		result = make_ep(ia, ep);
	if (result == DAT_SUCCESS)
		*made = ep;
	else
		kfree(ep);
	return result;
}

DAT_RETURN kdat_ep_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
			  DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			  DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
			  DAT_EP_HANDLE *made)
{
	return create(handle, pz, recv_evd, request_evd, connect_evd, NULL,
		      attr, made);
}

DAT_RETURN kdat_ep_create_with_srq(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
				   DAT_EVD_HANDLE recv_evd,
				   DAT_EVD_HANDLE request_evd,
				   DAT_EVD_HANDLE connect_evd,
				   DAT_SRQ_HANDLE srq_handle,
				   const DAT_EP_ATTR *attr, DAT_EP_HANDLE *made)
{
	struct kdat_srq *srq = KDAT_FIND(srq_handle, SRQ);

	if (!srq || srq->object.ia != handle)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	return create(handle, pz, recv_evd, request_evd, connect_evd, srq, attr,
		      made);
}

/* ---------------------------------------------------------------- changes */

#define CHANGEABLE                                                           \
	(DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |             \
	 DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE | \
	 DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |                             \
	 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE |                                \
	 DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS |                        \
	 DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS |                     \
	 DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |                                \
	 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |                             \
	 DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV |                                 \
	 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV |                              \
	 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN |                             \
	 DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT)

static DAT_EP_ATTR changed_attr(const struct kdat_ep *ep,
				DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *to)
{
	DAT_EP_ATTR attr = ep->attr;

#define CHANGE(FIELD, member)                            \
	do {                                             \
		if (mask & DAT_EP_FIELD_EP_ATTR_##FIELD) \
			attr.member = to->member;        \
	} while (0)
	CHANGE(MAX_MESSAGE_SIZE, max_message_size);
	CHANGE(MAX_RDMA_SIZE, max_rdma_size);
	CHANGE(RECV_COMPLETION_FLAGS, recv_completion_flags);
	CHANGE(REQUEST_COMPLETION_FLAGS, request_completion_flags);
	CHANGE(MAX_RECV_DTOS, max_recv_dtos);
	CHANGE(MAX_REQUEST_DTOS, max_request_dtos);
	CHANGE(MAX_RECV_IOV, max_recv_iov);
	CHANGE(MAX_REQUEST_IOV, max_request_iov);
	CHANGE(MAX_RDMA_READ_IN, max_rdma_read_in);
	CHANGE(MAX_RDMA_READ_OUT, max_rdma_read_out);
#undef CHANGE
	return attr;
}

/* What has a queue pair of its own stays as it is until that is made. */
static DAT_RETURN find_changed(struct kdat_ep *ep, DAT_EP_PARAM_MASK mask,
			       const DAT_EP_PARAM *param, struct kdat_ep *parts)
{
	*parts = (struct kdat_ep){ .srq = ep->srq };
	parts->attr = changed_attr(ep, mask, &param->ep_attr);
	if (!is_possible(&ep->object.ia->device->ib->attrs, &parts->attr))
		return KDAT_INVALID(3);
	return find_parts(
		ep->object.ia, parts,
		mask & DAT_EP_FIELD_PZ_HANDLE ? param->pz_handle : ep->pz,
		mask & DAT_EP_FIELD_RECV_EVD_HANDLE ? param->recv_evd_handle
						    : ep->recv_evd,
		mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE
			? param->request_evd_handle
			: ep->request_evd,
		mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE
			? param->connect_evd_handle
			: ep->connect_evd);
}

static void swap_parts(struct kdat_ep *ep, struct kdat_ep *parts)
{
	swap(ep->attr, parts->attr);
	swap(ep->pz, parts->pz);
	swap(ep->recv_evd, parts->recv_evd);
	swap(ep->request_evd, parts->request_evd);
	swap(ep->connect_evd, parts->connect_evd);
	swap(ep->qp, parts->qp);
}

static DAT_RETURN check_changeable(const struct kdat_ep *ep,
				   DAT_EP_PARAM_MASK mask)
{
	switch (ep->state) {
	case DAT_EP_STATE_UNCONNECTED:
		break;
	case DAT_EP_STATE_RESERVED:
	case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
		if (!(mask & DAT_EP_FIELD_PZ_HANDLE) && !ep->cm)
			break;
		fallthrough;
	default:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_NOTREADY);
	}
	/* Another queue pair would not have what is posted to this one. */
	if (atomic_read(&ep->recv_outstanding))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

/* With the mutex: the changed endpoint has a queue pair of the new kind. */
static DAT_RETURN change(struct kdat_ep *ep, struct kdat_ep *parts)
{
	swap_parts(ep, parts);
	if (make_qp(ep)) {
		swap_parts(ep, parts);
		return KDAT_INVALID(3);
	}
	leave(parts->recv_evd, &ep->recv);
	leave(parts->request_evd, &ep->request);
	join(ep->recv_evd, &ep->recv, ep);
	join(ep->request_evd, &ep->request, ep);
	use_parts(ep, 1);
	use_parts(parts, -1);
	destroy_qp(parts);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
			  const DAT_EP_PARAM *param)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP), *parts;
	DAT_RETURN result;

	might_sleep();
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (mask & ~CHANGEABLE)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	parts = kzalloc(sizeof(*parts), GFP_KERNEL);
	if (!parts)
		return KDAT_NO_MEMORY;
	mutex_lock(&ep->mutex);
	result = check_changeable(ep, mask);
	if (result == DAT_SUCCESS)
		result = find_changed(ep, mask, param, parts);
	/* What is not there, or of the wrong kind, is no value of it. */
	if (DAT_GET_TYPE(result) == DAT_INVALID_HANDLE ||
	    DAT_GET_TYPE(result) == DAT_MODEL_NOT_SUPPORTED)
		result = KDAT_INVALID(3);
	if (result == DAT_SUCCESS)
		result = change(ep, parts);
	mutex_unlock(&ep->mutex);
	kfree(parts);
	return result;
}

/* ---------------------------------------------------------------- the end */

DAT_RETURN kdat_ep_reset(DAT_EP_HANDLE handle)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	DAT_RETURN result = DAT_SUCCESS;

	might_sleep();
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	switch (READ_ONCE(ep->state)) {
	case DAT_EP_STATE_UNCONNECTED:
		return DAT_SUCCESS;
	case DAT_EP_STATE_DISCONNECTED:
		break;
	case DAT_EP_STATE_CONNECTED:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_CONNECTED);
	default:
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_NOTREADY);
	}
	/* Few devices let a queue pair return from its error state. */
	kdat_end_connection(ep);
	destroy_qp(ep);
	ep->qp = NULL;
	if (make_qp(ep))
		result =
			DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
	else
		WRITE_ONCE(ep->state, DAT_EP_STATE_UNCONNECTED);
	return result;
}

void kdat_destroy_ep(struct kdat_ep *ep)
{
	kdat_end_connection(ep);
	if (ep->qp)
		destroy_qp(ep);
	leave(ep->recv_evd, &ep->recv);
	leave(ep->request_evd, &ep->request);
	use_parts(ep, -1);
	kdat_forget(&ep->object);
	mutex_destroy(&ep->mutex);
	kfree(ep);
}

DAT_RETURN kdat_ep_free(DAT_EP_HANDLE handle)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);

	might_sleep();
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	/* It ends by an event, or by a call, after which it can be freed. */
	if (READ_ONCE(ep->state) == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING)
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_PASSCONNPENDING);
	if (READ_ONCE(ep->state) == DAT_EP_STATE_RESERVED)
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_RESERVED);
	kdat_destroy_ep(ep);
	return DAT_SUCCESS;
}
