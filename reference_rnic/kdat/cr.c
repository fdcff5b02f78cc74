// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Connection requests that have arrived at service points. */
#include <linux/in.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "provider.h"

/* ---------------------------------------------------------------- arrival */

static bool tell(struct kdat_sp *sp, struct kdat_cr *cr)
{
	DAT_EVENT event = { .event_number = DAT_CONNECTION_REQUEST_EVENT };
	DAT_CR_ARRIVAL_EVENT_DATA *data =
		&event.event_data.cr_arrival_event_data;

	data->sp_handle.psp_handle = sp;
	data->local_ia_address_ptr =
		(DAT_IA_ADDRESS_PTR)&sp->object.ia->address;
	data->conn_qual = sp->qualifier;
	data->cr_handle = cr;
	/* ib_core passes a length of 8 bits: what it cut off it does not say. */
	data->truncate_flag = DAT_FALSE;
	return kdat_tell(sp->evd, &event);
}

static struct kdat_cr *make_cr(struct kdat_ia *ia, struct rdma_cm_id *cm,
			       const void *data, DAT_COUNT size)
{
	struct kdat_cr *cr = kzalloc(sizeof(*cr), GFP_KERNEL);

	if (!cr)
		return NULL;
	cr->cm = cm;
	cr->private_size = data ? size : 0;
	if (cr->private_size)
		memcpy(cr->private_data, data, cr->private_size);
	kdat_add(ia, &cr->object, DAT_HANDLE_TYPE_CR);
	return cr;
}

static void free_cr(struct kdat_cr *cr)
{
	kdat_forget(&cr->object);
	kfree(cr);
}

/* Of a reserved point: its first request has the endpoint from now on. */
static bool take_reservation(struct kdat_ep *ep)
{
	bool reserved;

	mutex_lock(&ep->mutex);
	reserved = ep->state == DAT_EP_STATE_RESERVED;
	if (reserved)
		WRITE_ONCE(ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	mutex_unlock(&ep->mutex);
	return reserved;
}

static void give_back(struct kdat_ep *ep)
{
	if (!ep)
		return;
	mutex_lock(&ep->mutex);
	WRITE_ONCE(ep->state, DAT_EP_STATE_UNCONNECTED);
	mutex_unlock(&ep->mutex);
}

/* One that cannot be told is refused by the return value. */
int kdat_take_request(struct kdat_sp *sp, struct rdma_cm_id *cm,
		      const struct rdma_conn_param *param)
{
	struct kdat_ia *ia = sp->object.ia;
	struct kdat_cr *cr;

	if (cm->device != ia->device->ib)
		return -ENODEV;
	cr = make_cr(ia, cm, param->private_data, param->private_data_len);
	if (!cr)
		return -ENOMEM;
	cm->context = &cr->object;
	if (!sp->ep && tell(sp, cr))
		return 0;
	if (sp->ep && !sp->request && take_reservation(sp->ep)) {
		cr->ep = sp->ep;
		sp->request = cr;
		schedule_work(&sp->taken);
		return 0;
	}
	free_cr(cr);
	return sp->ep ? -ECONNREFUSED : -ENOBUFS;
}

void kdat_tell_reserved(struct kdat_sp *sp)
{
	if (!tell(sp, sp->request))
		kdat_destroy_cr(sp->request);
}

/* ---------------------------------------------------------------- calls */

DAT_RETURN kdat_cr_query(DAT_CR_HANDLE handle, DAT_CR_PARAM_MASK mask,
			 DAT_CR_PARAM *param)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR);
	struct sockaddr *remote;

	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	if (mask & ~DAT_CR_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	remote = (struct sockaddr *)&cr->cm->route.addr.dst_addr;
	*param = (DAT_CR_PARAM){
		.remote_ia_address_ptr = remote,
		.remote_port_qual =
			ntohs(((struct sockaddr_in *)remote)->sin_port),
		.private_data_size = cr->private_size,
		.private_data = cr->private_size ? cr->private_data : NULL,
		.local_ep_handle = cr->ep,
	};
	return DAT_SUCCESS;
}

static DAT_RETURN check_private_data(const struct kdat_cr *cr, DAT_COUNT size,
				     const void *data)
{
	if (size < 0 || size > kdat_private_limit(cr->object.ia))
		return KDAT_INVALID(3);
	return size && !data ? KDAT_INVALID(4) : DAT_SUCCESS;
}

/* From here on the events of the identifier are the endpoint's. */
static int accept(struct kdat_cr *cr, struct kdat_ep *ep, DAT_COUNT size,
		  const void *data)
{
	struct rdma_conn_param param = kdat_conn_param(ep, data, size);
	struct rdma_cm_id *cm = cr->cm;
	int error;

	rdma_lock_handler(cm);
	if (cr->gone) {
		rdma_unlock_handler(cm);
		return -ECONNRESET;
	}
	cm->context = &ep->object;
	mutex_lock(&ep->mutex);
	ep->cm = cm;
	ep->private_size = 0;
	ep->was_connected = true;
	WRITE_ONCE(ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	mutex_unlock(&ep->mutex);
	error = kdat_start_qp(cm, ep->qp, &param);
	if (!error)
		error = rdma_accept(cm, &param);
	rdma_unlock_handler(cm);
	return error;
}

/* The endpoint that is to accept: that of a reservation, or the one given. */
static DAT_RETURN choose_ep(const struct kdat_cr *cr, DAT_EP_HANDLE handle,
			    struct kdat_ep **chosen)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);

	if (cr->ep && !handle)
		ep = cr->ep;
	if (!ep || ep->object.ia != cr->object.ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (cr->ep && ep != cr->ep)
		return KDAT_INVALID(2);
	if (!cr->ep && READ_ONCE(ep->state) != DAT_EP_STATE_UNCONNECTED)
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_NOTREADY);
	*chosen = ep;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep_handle,
			  DAT_COUNT size, const void *private_data)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR);
	struct kdat_ep *ep;
	DAT_RETURN result;

	might_sleep();
	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	result = check_private_data(cr, size, private_data);
	if (result == DAT_SUCCESS)
		result = choose_ep(cr, ep_handle, &ep);
	if (result != DAT_SUCCESS)
		return result;
	if (accept(cr, ep, size, private_data))
		kdat_accept_failed(ep, cr->cm);
	free_cr(cr);
	return DAT_SUCCESS;
}

void kdat_destroy_cr(struct kdat_cr *cr)
{
	rdma_destroy_id(cr->cm);
	give_back(cr->ep);
	free_cr(cr);
}

DAT_RETURN kdat_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size,
			  const void *private_data)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR);
	DAT_RETURN result;

	might_sleep();
	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	result = check_private_data(cr, size, private_data);
	if (result != DAT_SUCCESS)
		return result;
	/* If the peer has gone meanwhile, there is nobody to be told. */
	rdma_reject(cr->cm, size ? private_data : NULL, size,
		    IB_CM_REJ_CONSUMER_DEFINED);
	kdat_destroy_cr(cr);
	return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- handing off */

/* Of the same IA: its consumer serialises what frees either. */
static struct kdat_sp *point_at(struct kdat_ia *ia, DAT_CONN_QUAL qualifier)
{
	struct kdat_object *each;
	struct kdat_sp *sp, *found = NULL;

	spin_lock_irq(&ia->lock);
	list_for_each_entry(each, &ia->objects, of_ia) {
		if (each->type != DAT_HANDLE_TYPE_PSP &&
		    each->type != DAT_HANDLE_TYPE_CSP)
			continue;
		sp = container_of(each, struct kdat_sp, object);
		if (sp->qualifier == qualifier)
			found = sp;
	}
	spin_unlock_irq(&ia->lock);
	return found;
}

DAT_RETURN kdat_cr_handoff(DAT_CR_HANDLE handle, DAT_CONN_QUAL qualifier)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR), *moved;
	struct kdat_sp *sp;

	might_sleep();
	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	sp = point_at(cr->object.ia, qualifier);
	if (!sp)
		return KDAT_INVALID(2);
	moved = make_cr(cr->object.ia, cr->cm, cr->private_data,
			cr->private_size);
	if (!moved)
		return KDAT_NO_MEMORY;
	rdma_lock_handler(cr->cm);
	moved->gone = cr->gone;
	cr->cm->context = &moved->object;
	rdma_unlock_handler(cr->cm);
	give_back(cr->ep);
	free_cr(cr);
	/* As one that arrives at a full queue. */
	if (!tell(sp, moved))
		kdat_destroy_cr(moved);
	return DAT_SUCCESS;
}
