// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Identifiers of the connection manager and what it reports. */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "kagent.h"

bool kagent_is_iwarp(const struct ib_device *ib)
{
	return rdma_protocol_iwarp(ib, rdma_start_port(ib));
}

static void copy_parameters(struct rnic_kagent_event *told,
			    const struct rdma_conn_param *given)
{
	told->responder_resources = given->responder_resources;
	told->initiator_depth = given->initiator_depth;
	if (!given->private_data)
		return;
	told->private_data_length = given->private_data_len;
	memcpy(told->private_data, given->private_data,
	       given->private_data_len);
}

/*
 * A request at a listener brings an identifier of its own. One that cannot be
 * kept, or that is for another device, is refused by the return value.
 */
static int take_request(struct kagent_object *listener, struct rdma_cm_id *cm,
			struct rnic_kagent_event *told)
{
	struct kagent_session *session = listener->session;
	struct kagent_device *device = READ_ONCE(session->device);
	struct kagent_id *id;
	int error;

	if (!device || cm->device != device->ib)
		return -ENODEV;
	id = kzalloc(sizeof(*id), GFP_KERNEL);
	if (!id)
		return -ENOMEM;
	id->cm = cm;
	error = kagent_add(session, &id->object, KAGENT_ID);
	if (error) {
		kfree(id);
		return error;
	}
	cm->context = id;
	told->new_id = id->object.handle;
	kagent_tell(session, told);
	return 0;
}

static int cm_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	struct kagent_id *id = cm->context;
	struct rnic_kagent_event told = {
		.type = RNIC_KAGENT_EVENT_CM,
		.handle = id->object.handle,
		.code = event->event,
		.status = event->status,
	};

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		copy_parameters(&told, &event->param.conn);
		break;
	default:
		break;
	}
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return take_request(&id->object, cm, &told);
	kagent_tell(id->object.session, &told);
	return 0;
}

int kagent_create_id(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_object *request = argument;
	struct kagent_id *id = kzalloc(sizeof(*id), GFP_KERNEL);
	int error;

	if (!id)
		return -ENOMEM;
	error = kagent_add(session, &id->object, KAGENT_ID);
	if (error)
		goto free;
	id->cm = rdma_create_id(current->nsproxy->net_ns, cm_event, id,
				RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id->cm)) {
		error = PTR_ERR(id->cm);
		goto forget;
	}
	request->handle = id->object.handle;
	return 0;

forget:
	xa_erase(&session->objects, id->object.handle);
free:
	kfree(id);
	return error;
}

/* Waits for a handler of it that runs. */
void kagent_destroy_id(struct kagent_id *id)
{
	rdma_destroy_id(id->cm);
	kfree(id);
}

static struct kagent_id *find_id(struct kagent_session *session, u32 handle)
{
	struct kagent_id *id =
		KAGENT_FIND(session, handle, KAGENT_ID, kagent_id);

	return id ? id
		  : KAGENT_FIND(session, handle, KAGENT_LISTENER, kagent_id);
}

/* NULL if the octets are no address of IPv4 or IPv6. */
static struct sockaddr *as_address(struct sockaddr_storage *storage,
				   const u8 *octets)
{
	memset(storage, 0, sizeof(*storage));
	memcpy(storage, octets, RNIC_KAGENT_ADDRESS_SIZE);
	if (storage->ss_family != AF_INET && storage->ss_family != AF_INET6)
		return NULL;
	return (struct sockaddr *)storage;
}

int kagent_bind(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_bind *request = argument;
	struct kagent_id *id = find_id(session, request->id);
	struct sockaddr_storage storage;
	struct sockaddr *address = as_address(&storage, request->address);
	int error;

	if (!id)
		return -ENOENT;
	if (!address || request->backlog > INT_MAX)
		return -EINVAL;
	if (request->afonly) {
		error = rdma_set_afonly(id->cm, 1);
		if (error)
			return error;
	}
	error = rdma_bind_addr(id->cm, address);
	if (error)
		return error;
	if (request->backlog) {
		error = rdma_listen(id->cm, request->backlog);
		if (error)
			return error;
		id->object.kind = KAGENT_LISTENER;
	}
	memcpy(request->address, &id->cm->route.addr.src_addr,
	       RNIC_KAGENT_ADDRESS_SIZE);
	return 0;
}

int kagent_resolve_addr(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_resolve *request = argument;
	struct kagent_id *id = find_id(session, request->id);
	struct sockaddr_storage from, to;
	struct sockaddr *address = as_address(&to, request->address);

	if (!id)
		return -ENOENT;
	if (!address)
		return -EINVAL;
	return rdma_resolve_addr(id->cm, as_address(&from, request->source),
				 address, request->timeout_ms);
}

int kagent_resolve_route(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_resolve_route *request = argument;
	struct kagent_id *id = find_id(session, request->id);

	if (!id)
		return -ENOENT;
	return rdma_resolve_route(id->cm, request->timeout_ms);
}

/* The identifier and the queue pair of a connection, on our device. */
static int find_both(struct kagent_session *session,
		     const struct rnic_kagent_connect *request,
		     struct kagent_id **id, struct kagent_qp **qp)
{
	*id = find_id(session, request->id);
	*qp = KAGENT_FIND(session, request->qp, KAGENT_QP, kagent_qp);
	if (!*id || !*qp)
		return -ENOENT;
	return (*id)->cm->device == session->device->ib ? 0 : -EHOSTUNREACH;
}

static struct rdma_conn_param
parameters_of(const struct rnic_kagent_connect *request,
	      const struct kagent_qp *qp)
{
	return (struct rdma_conn_param){
		.private_data = request->private_data,
		.private_data_len = request->private_data_length,
		.responder_resources = request->responder_resources,
		.initiator_depth = request->initiator_depth,
		.qp_num = qp->ib->qp_num,
		.srq = qp->srq != NULL,
		/* Of InfiniBand, as its consumers in the kernel have them. */
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

/* To RTS, which iWARP's connection manager does by itself. */
static int start_qp(struct rdma_cm_id *cm, struct ib_qp *qp,
		    const struct rnic_kagent_connect *request)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR,
						   IB_QPS_RTS };
	struct ib_qp_attr attributes;
	int i, mask, error = 0;

	if (kagent_is_iwarp(qp->device))
		return 0;
	for (i = 0; i < ARRAY_SIZE(states) && !error; i++) {
		memset(&attributes, 0, sizeof(attributes));
		attributes.qp_state = states[i];
		error = rdma_init_qp_attr(cm, &attributes, &mask);
		if (error)
			break;
		if (states[i] == IB_QPS_INIT)
			mask &= ~IB_QP_ACCESS_FLAGS;
		if (states[i] == IB_QPS_RTR)
			attributes.max_dest_rd_atomic =
				request->responder_resources;
		if (states[i] == IB_QPS_RTS)
			attributes.max_rd_atomic = request->initiator_depth;
		error = ib_modify_qp(qp, &attributes, mask);
	}
	return error;
}

int kagent_connect(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_connect *request = argument;
	struct rdma_conn_param parameters;
	struct kagent_id *id;
	struct kagent_qp *qp;
	int error = find_both(session, request, &id, &qp);

	if (error)
		return error;
	parameters = parameters_of(request, qp);
	return rdma_connect(id->cm, &parameters);
}

int kagent_accept(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_connect *request = argument;
	struct rdma_conn_param parameters;
	struct kagent_id *id;
	struct kagent_qp *qp;
	int error = find_both(session, request, &id, &qp);

	if (error)
		return error;
	parameters = parameters_of(request, qp);
	rdma_lock_handler(id->cm);
	error = start_qp(id->cm, qp->ib, request);
	if (!error)
		error = rdma_accept(id->cm, &parameters);
	rdma_unlock_handler(id->cm);
	return error;
}

int kagent_establish(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_connect *request = argument;
	struct kagent_id *id;
	struct kagent_qp *qp;
	int error = find_both(session, request, &id, &qp);

	if (error)
		return error;
	if (kagent_is_iwarp(qp->ib->device))
		return -EINVAL;
	rdma_lock_handler(id->cm);
	error = start_qp(id->cm, qp->ib, request);
	if (!error)
		error = rdma_accept(id->cm, NULL);
	rdma_unlock_handler(id->cm);
	return error;
}

int kagent_reject(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_connect *request = argument;
	struct kagent_id *id = find_id(session, request->id);

	if (!id)
		return -ENOENT;
	return rdma_reject(id->cm, request->private_data,
			   request->private_data_length,
			   IB_CM_REJ_CONSUMER_DEFINED);
}

int kagent_disconnect(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_object *request = argument;
	struct kagent_id *id = find_id(session, request->handle);

	if (!id)
		return -ENOENT;
	return rdma_disconnect(id->cm);
}
