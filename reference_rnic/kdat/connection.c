// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Connections of endpoints. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>

#include "provider.h"

#define RESOLVE_MS 10000 /* where the consumer gives no time */

struct rdma_conn_param kdat_conn_param(const struct kdat_ep *ep,
				       const void *data, DAT_COUNT size)
{
	return (struct rdma_conn_param){
		.private_data = size ? data : NULL,
		.private_data_len = size,
		.responder_resources = ep->attr.max_rdma_read_in,
		.initiator_depth = ep->attr.max_rdma_read_out,
		.qp_num = ep->qp->qp_num,
		.srq = ep->srq != NULL,
	};
}

static void tell(struct kdat_ep *ep, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = { .event_number = number };
	DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;

	data->ep_handle = ep;
	data->private_data_size = ep->private_size;
	data->private_data = ep->private_size ? ep->private_data : NULL;
	kdat_tell(ep->connect_evd, &event);
}

/* With the mutex: what is outstanding is flushed, and what is posted later. */
static void become_disconnected(struct kdat_ep *ep, DAT_EVENT_NUMBER number)
{
	struct ib_qp_attr attributes = { .qp_state = IB_QPS_ERR };

	WRITE_ONCE(ep->state, DAT_EP_STATE_DISCONNECTED);
	/* It may be in this state already. */
	ib_modify_qp(ep->qp, &attributes, IB_QP_STATE);
	tell(ep, number);
}

static bool is_pending(const struct kdat_ep *ep)
{
	return ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING ||
	       ep->state == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
}

/* ---------------------------------------------------------------- events */

static void keep_private_data(struct kdat_ep *ep,
			      const struct rdma_conn_param *param)
{
	ep->private_size = param->private_data ? param->private_data_len : 0;
	if (ep->private_size)
		memcpy(ep->private_data, param->private_data, ep->private_size);
}

static DAT_EVENT_NUMBER number_of_failure(int error)
{
	switch (error) {
	case -ECONNREFUSED:
	case -ECONNRESET:
		return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
	case -ETIMEDOUT:
		return DAT_CONNECTION_EVENT_TIMED_OUT;
	default:
		return DAT_CONNECTION_EVENT_UNREACHABLE;
	}
}

/*
 * A driver may wait for the peer in it, and a connect can be given up
 * meanwhile.
 */
static int start_mpa(struct kdat_ep *ep, struct rdma_cm_id *cm)
{
	struct rdma_conn_param param =
		kdat_conn_param(ep, ep->private_data, ep->private_size);
	int error;

	/* A queue pair that has been used by a connection needs the drain. */
	ep->was_connected = true;
	mutex_unlock(&ep->mutex);
	error = rdma_connect_locked(cm, &param);
	mutex_lock(&ep->mutex);
	if (ep->cm != cm)
		return 0;
	/* Until the peer's arrives. */
	ep->private_size = 0;
	return error;
}

static void fail(struct kdat_ep *ep, DAT_EVENT_NUMBER number)
{
	if (ep->state == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING)
		number = DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
	if (is_pending(ep))
		become_disconnected(ep, number);
}

static void established(struct kdat_ep *ep, const struct rdma_conn_param *param)
{
	if (!is_pending(ep))
		return;
	/* The accepting side has had the peer's data with the request. */
	if (ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
		keep_private_data(ep, param);
	ep->was_connected = true;
	WRITE_ONCE(ep->state, DAT_EP_STATE_CONNECTED);
	tell(ep, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* Of InfiniBand: the peer has accepted, and learns that we have heard it. */
static int answer(struct kdat_ep *ep, struct rdma_cm_id *cm)
{
	struct rdma_conn_param param = kdat_conn_param(ep, NULL, 0);
	int error = kdat_start_qp(cm, ep->qp, &param);

	return error ?: rdma_accept(cm, NULL);
}

static void disconnected(struct kdat_ep *ep)
{
	if (is_pending(ep))
		fail(ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	else if (ep->state == DAT_EP_STATE_CONNECTED ||
		 ep->state == DAT_EP_STATE_DISCONNECT_PENDING)
		become_disconnected(ep, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void take_event(struct kdat_ep *ep, struct rdma_cm_id *cm,
		       struct rdma_cm_event *event)
{
	int error = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		error = cm->device == ep->object.ia->device->ib
				? rdma_resolve_route(cm, ep->timeout_ms)
				: -ENETUNREACH;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		error = start_mpa(ep, cm);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		error = answer(ep, cm);
		if (!error)
			established(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		keep_private_data(ep, &event->param.conn);
		fail(ep, kdat_is_peers(cm, event->status)
				 ? DAT_CONNECTION_EVENT_PEER_REJECTED
				 : DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		error = event->status ?: -ENETUNREACH;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		disconnected(ep);
		/* InfiniBand's peer waits for an answer. */
		rdma_disconnect(cm);
		break;
	default:
		break;
	}
	if (error)
		fail(ep, number_of_failure(error));
}

int kdat_cm_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	struct kdat_object *object = cm->context;
	struct kdat_ep *ep;

	switch (object->type) {
	case DAT_HANDLE_TYPE_PSP:
	case DAT_HANDLE_TYPE_RSP:
	case DAT_HANDLE_TYPE_CSP:
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
			return 0;
		return kdat_take_request(container_of(object, struct kdat_sp,
						      object),
					 cm, &event->param.conn);
	case DAT_HANDLE_TYPE_CR:
		container_of(object, struct kdat_cr, object)->gone = true;
		return 0;
	default:
		ep = container_of(object, struct kdat_ep, object);
		mutex_lock(&ep->mutex);
		/* One that was given up is not this connection's any more. */
		if (ep->cm == cm)
			take_event(ep, cm, event);
		mutex_unlock(&ep->mutex);
		return 0;
	}
}

/* ---------------------------------------------------------------- connect */

static bool is_address(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	return address->sa_family == AF_INET &&
	       !ipv4_is_multicast(in->sin_addr.s_addr) &&
	       !ipv4_is_lbcast(in->sin_addr.s_addr) &&
	       !ipv4_is_zeronet(in->sin_addr.s_addr);
}

static DAT_RETURN check_connect(const struct kdat_ep *ep,
				const struct sockaddr *address,
				DAT_CONN_QUAL qualifier, DAT_COUNT size,
				const void *data, DAT_QOS qos,
				DAT_CONNECT_FLAGS flags)
{
	if (!address)
		return KDAT_INVALID(2);
	if (!is_address(address))
		return DAT_ERROR(DAT_INVALID_ADDRESS,
				 DAT_INVALID_ADDRESS_UNSUPPORTED);
	if (!qualifier || qualifier > U16_MAX)
		return KDAT_INVALID(3);
	if (size < 0 || size > kdat_private_limit(ep->object.ia))
		return KDAT_INVALID(5);
	if (size && !data)
		return KDAT_INVALID(6);
	if (qos != DAT_QOS_BEST_EFFORT)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (flags == DAT_CONNECT_MULTIPATH_REQUIRED_FLAG)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (flags & ~DAT_CONNECT_MULTIPATH_REQUESTED_FLAG)
		return KDAT_INVALID(8);
	if (ep->state != DAT_EP_STATE_UNCONNECTED)
		return DAT_ERROR(DAT_INVALID_STATE,
				 ep->state == DAT_EP_STATE_CONNECTED
					 ? DAT_INVALID_STATE_EP_CONNECTED
					 : DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

/* With the mutex. */
static int start(struct kdat_ep *ep, const struct sockaddr *address,
		 DAT_CONN_QUAL qualifier)
{
	struct sockaddr_in remote = *(const struct sockaddr_in *)address;
	int error;

	remote.sin_port = htons(qualifier);
	ep->cm = rdma_create_id(&init_net, kdat_cm_event, &ep->object,
				RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(ep->cm)) {
		error = PTR_ERR(ep->cm);
		ep->cm = NULL;
		return error;
	}
	WRITE_ONCE(ep->state, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
	return rdma_resolve_addr(ep->cm,
				 (struct sockaddr *)&ep->object.ia->address,
				 (struct sockaddr *)&remote, ep->timeout_ms);
}

static DAT_RETURN connect(struct kdat_ep *ep, DAT_IA_ADDRESS_PTR address,
			  DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
			  DAT_COUNT size, const void *private_data)
{
	bool forever = timeout == DAT_TIMEOUT_INFINITE;
	int error;

	ep->timeout_ms = forever ? RESOLVE_MS : max(timeout / 1000, 1U);
	ep->private_size = size;
	if (size)
		memcpy(ep->private_data, private_data, size);
	mutex_lock(&ep->mutex);
	error = start(ep, address, qualifier);
	if (error && ep->cm)
		become_disconnected(ep, number_of_failure(error));
	mutex_unlock(&ep->mutex);
	if (!ep->cm)
		return KDAT_NO_MEMORY;
	if (!forever)
		schedule_delayed_work(&ep->timer,
				      msecs_to_jiffies(ep->timeout_ms));
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ep_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address,
			   DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
			   DAT_COUNT size, const void *private_data,
			   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	DAT_RETURN result;

	might_sleep();
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	result = check_connect(ep, address, qualifier, size, private_data, qos,
			       flags);
	if (result != DAT_SUCCESS)
		return result;
	return connect(ep, address, qualifier, timeout, size, private_data);
}

/* Where another endpoint is connected to. */
static DAT_RETURN peer_of(struct kdat_ep *as, struct sockaddr_storage *peer)
{
	DAT_RETURN result = DAT_SUCCESS;

	mutex_lock(&as->mutex);
	if (as->state == DAT_EP_STATE_CONNECTED && as->cm)
		*peer = as->cm->route.addr.dst_addr;
	else
		result = DAT_ERROR(DAT_INVALID_STATE,
				   DAT_INVALID_STATE_EP_NOTREADY);
	mutex_unlock(&as->mutex);
	return result;
}

static DAT_CONN_QUAL port_of(const void *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

DAT_RETURN kdat_ep_dup_connect(DAT_EP_HANDLE handle, DAT_EP_HANDLE as_handle,
			       DAT_TIMEOUT timeout, DAT_COUNT size,
			       const void *private_data, DAT_QOS qos)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct kdat_ep *as = KDAT_FIND(as_handle, EP);
	struct sockaddr_storage peer;
	DAT_RETURN result;

	might_sleep();
	if (!ep || !as)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	result = peer_of(as, &peer);
	if (result != DAT_SUCCESS)
		return result;
	return kdat_ep_connect(handle, (DAT_IA_ADDRESS_PTR)&peer,
			       port_of(&peer), timeout, size, private_data, qos,
			       DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN kdat_ep_common_connect(DAT_EP_HANDLE handle,
				  DAT_IA_ADDRESS_PTR address,
				  DAT_TIMEOUT timeout, DAT_COUNT size,
				  const void *private_data)
{
	return kdat_ep_connect(handle, address, address ? port_of(address) : 0,
			       timeout, size, private_data, DAT_QOS_BEST_EFFORT,
			       DAT_CONNECT_DEFAULT_FLAG);
}

/* Takes its identifier from it, so that a late event finds nothing to do. */
static struct rdma_cm_id *give_up(struct kdat_ep *ep, DAT_EVENT_NUMBER number)
{
	struct rdma_cm_id *cm = NULL;

	mutex_lock(&ep->mutex);
	if (ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING) {
		cm = ep->cm;
		ep->cm = NULL;
		ep->private_size = 0;
		become_disconnected(ep, number);
	}
	mutex_unlock(&ep->mutex);
	return cm;
}

void kdat_connect_timed_out(struct work_struct *work)
{
	struct kdat_ep *ep =
		container_of(to_delayed_work(work), struct kdat_ep, timer);
	struct rdma_cm_id *cm = give_up(ep, DAT_CONNECTION_EVENT_TIMED_OUT);

	/* Waits for its handler, which waits for the mutex. */
	if (cm)
		rdma_destroy_id(cm);
}

/* A request that was accepted, but whose peer or identifier was gone. */
void kdat_accept_failed(struct kdat_ep *ep, struct rdma_cm_id *cm)
{
	mutex_lock(&ep->mutex);
	/* Unless an event has told already. */
	if (ep->state == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING ||
	    ep->state == DAT_EP_STATE_UNCONNECTED)
		become_disconnected(
			ep, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
	ep->cm = NULL;
	mutex_unlock(&ep->mutex);
	rdma_destroy_id(cm);
}

/* ---------------------------------------------------------------- the end */

static DAT_RETURN start_disconnect(struct kdat_ep *ep, DAT_CLOSE_FLAGS flags)
{
	struct ib_qp_attr attributes = { .qp_state = IB_QPS_ERR };
	DAT_RETURN result = DAT_SUCCESS;

	mutex_lock(&ep->mutex);
	switch (ep->state) {
	case DAT_EP_STATE_DISCONNECTED:
	case DAT_EP_STATE_DISCONNECT_PENDING:
		break;
	case DAT_EP_STATE_CONNECTED:
		WRITE_ONCE(ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
		if (flags == DAT_CLOSE_ABRUPT_FLAG)
			ib_modify_qp(ep->qp, &attributes, IB_QP_STATE);
		break;
	case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
		result = DAT_ERROR(DAT_INVALID_STATE,
				   DAT_INVALID_STATE_EP_PASSCONNPENDING);
		break;
	default:
		result = DAT_ERROR(DAT_INVALID_STATE,
				   DAT_INVALID_STATE_EP_UNCONNECTED);
		break;
	}
	mutex_unlock(&ep->mutex);
	return result;
}

DAT_RETURN kdat_ep_disconnect(DAT_EP_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	struct rdma_cm_id *cm;
	DAT_RETURN result;

	might_sleep();
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
		return KDAT_INVALID(2);
	cm = give_up(ep, DAT_CONNECTION_EVENT_DISCONNECTED);
	if (cm) {
		rdma_destroy_id(cm);
		return DAT_SUCCESS;
	}
	result = start_disconnect(ep, flags);
	/* Without the mutex: the event may come at once. */
	if (result == DAT_SUCCESS &&
	    READ_ONCE(ep->state) == DAT_EP_STATE_DISCONNECT_PENDING)
		rdma_disconnect(ep->cm);
	return result;
}

void kdat_end_broken(struct work_struct *work)
{
	struct kdat_ep *ep = container_of(work, struct kdat_ep, broken);

	mutex_lock(&ep->mutex);
	if (ep->cm && ep->state == DAT_EP_STATE_CONNECTED)
		rdma_disconnect(ep->cm);
	mutex_unlock(&ep->mutex);
}

/* No event comes any more. */
void kdat_end_connection(struct kdat_ep *ep)
{
	struct rdma_cm_id *cm;

	cancel_delayed_work_sync(&ep->timer);
	cancel_work_sync(&ep->broken);
	mutex_lock(&ep->mutex);
	cm = ep->cm;
	ep->cm = NULL;
	mutex_unlock(&ep->mutex);
	if (!cm)
		return;
	rdma_disconnect(cm);
	rdma_destroy_id(cm);
}
