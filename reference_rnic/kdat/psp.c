// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Public service points and the connection requests that arrive there. */
#include <linux/in.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "provider.h"

#define BACKLOG 128

static int start_listening(struct kdat_psp *psp, DAT_CONN_QUAL qualifier)
{
	struct sockaddr_storage own = psp->object.ia->address;
	struct sockaddr_in *address = (struct sockaddr_in *)&own;
	int error;

	address->sin_port = htons(qualifier);
	psp->cm = rdma_create_id(&init_net, kdat_cm_event, &psp->object,
				 RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(psp->cm))
		return PTR_ERR(psp->cm);
	error = rdma_bind_addr(psp->cm, (struct sockaddr *)address);
	if (!error)
		error = rdma_listen(psp->cm, BACKLOG);
	if (error) {
		rdma_destroy_id(psp->cm);
		return error;
	}
	address = (struct sockaddr_in *)&psp->cm->route.addr.src_addr;
	psp->qualifier = ntohs(address->sin_port);
	return 0;
}

static DAT_RETURN make_psp(struct kdat_ia *ia, DAT_CONN_QUAL qualifier,
			   struct kdat_evd *evd, struct kdat_psp **made)
{
	struct kdat_psp *psp = kzalloc(sizeof(*psp), GFP_KERNEL);
	int error;

	if (!psp)
		return KDAT_NO_MEMORY;
	psp->evd = evd;
	kdat_add(ia, &psp->object, DAT_HANDLE_TYPE_PSP);
	atomic_inc(&evd->object.users);
	error = start_listening(psp, qualifier);
	if (!error) {
		*made = psp;
		return DAT_SUCCESS;
	}
	kdat_forget(&psp->object);
	atomic_dec(&evd->object.users);
	kfree(psp);
	if (error == -EADDRINUSE)
		return DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE);
	return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
}

static DAT_RETURN check_psp(struct kdat_ia *ia, struct kdat_evd *evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *made)
{
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!evd || evd->object.ia != ia || !(evd->flags & DAT_EVD_CR_FLAG))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
	/* DAT_PSP_CREATES_EP_NEVER */
	if (flags == DAT_PSP_PROVIDER_FLAG)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (flags != DAT_PSP_CONSUMER_FLAG)
		return KDAT_INVALID(4);
	return made ? DAT_SUCCESS : KDAT_INVALID(5);
}

DAT_RETURN kdat_psp_create(DAT_IA_HANDLE handle, DAT_CONN_QUAL qualifier,
			   DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
			   DAT_PSP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_evd *evd = KDAT_FIND(evd_handle, EVD);
	DAT_RETURN result = check_psp(ia, evd, flags, made);

	might_sleep();
	if (result != DAT_SUCCESS)
		return result;
	if (!qualifier || qualifier > U16_MAX)
		return KDAT_INVALID(2);
	return make_psp(ia, qualifier, evd, (struct kdat_psp **)made);
}

DAT_RETURN kdat_psp_create_any(DAT_IA_HANDLE handle, DAT_CONN_QUAL *qualifier,
			       DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
			       DAT_PSP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_evd *evd = KDAT_FIND(evd_handle, EVD);
	DAT_RETURN result = check_psp(ia, evd, flags, made);
	struct kdat_psp *psp;

	might_sleep();
	if (result != DAT_SUCCESS)
		return result;
	if (!qualifier)
		return KDAT_INVALID(2);
	result = make_psp(ia, 0, evd, &psp);
	if (result != DAT_SUCCESS)
		return DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE);
	*made = psp;
	*qualifier = psp->qualifier;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_psp_query(DAT_PSP_HANDLE handle, DAT_PSP_PARAM_MASK mask,
			  DAT_PSP_PARAM *param)
{
	struct kdat_psp *psp = KDAT_FIND(handle, PSP);

	if (!psp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	if (mask & ~DAT_PSP_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_PSP_PARAM){
		.ia_handle = psp->object.ia,
		.conn_qual = psp->qualifier,
		.evd_handle = psp->evd,
		.psp_flags = DAT_PSP_CONSUMER_FLAG,
	};
	return DAT_SUCCESS;
}

void kdat_destroy_psp(struct kdat_psp *psp)
{
	rdma_destroy_id(psp->cm);
	kdat_forget(&psp->object);
	atomic_dec(&psp->evd->object.users);
	kfree(psp);
}

DAT_RETURN kdat_psp_free(DAT_PSP_HANDLE handle)
{
	struct kdat_psp *psp = KDAT_FIND(handle, PSP);

	might_sleep();
	if (!psp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	kdat_destroy_psp(psp);
	return DAT_SUCCESS;
}

/* Its connection would come over a socket: see kdat_ep_common_connect. */
DAT_RETURN kdat_csp_create(DAT_IA_HANDLE handle, DAT_COMM *comm,
			   DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd,
			   DAT_CSP_HANDLE *made)
{
	might_sleep();
	if (!KDAT_FIND(handle, IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!comm)
		return KDAT_INVALID(2);
	return DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}

/* ---------------------------------------------------------------- requests */

/* One that cannot be told is refused by the return value. */
int kdat_take_request(struct kdat_psp *psp, struct rdma_cm_id *cm,
		      const struct rdma_conn_param *param)
{
	struct kdat_ia *ia = psp->object.ia;
	DAT_EVENT event = { .event_number = DAT_CONNECTION_REQUEST_EVENT };
	DAT_CR_ARRIVAL_EVENT_DATA *data =
		&event.event_data.cr_arrival_event_data;
	struct kdat_cr *cr;

	if (cm->device != ia->device->ib)
		return -ENODEV;
	cr = kzalloc(sizeof(*cr), GFP_KERNEL);
	if (!cr)
		return -ENOMEM;
	cr->cm = cm;
	cr->private_size = param->private_data ? param->private_data_len : 0;
	if (cr->private_size)
		memcpy(cr->private_data, param->private_data, cr->private_size);
	kdat_add(ia, &cr->object, DAT_HANDLE_TYPE_CR);
	cm->context = &cr->object;
	data->sp_handle.psp_handle = psp;
	data->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
	data->conn_qual = psp->qualifier;
	data->cr_handle = cr;
	/* ib_core passes a length of 8 bits: what it cut off it does not say. */
	data->truncate_flag = DAT_FALSE;
	if (kdat_tell(psp->evd, &event))
		return 0;
	kdat_forget(&cr->object);
	kfree(cr);
	return -ENOBUFS;
}

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
		.local_ep_handle = DAT_HANDLE_NULL,
	};
	return DAT_SUCCESS;
}

static DAT_RETURN check_private_data(DAT_COUNT size, const void *data)
{
	if (size < 0 || size > KDAT_MAX_PRIVATE_DATA)
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
	error = rdma_accept(cm, &param);
	rdma_unlock_handler(cm);
	return error;
}

DAT_RETURN kdat_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep_handle,
			  DAT_COUNT size, const void *private_data)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR);
	struct kdat_ep *ep = KDAT_FIND(ep_handle, EP);
	DAT_RETURN result = check_private_data(size, private_data);

	might_sleep();
	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	if (!ep || ep->object.ia != cr->object.ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (result != DAT_SUCCESS)
		return result;
	if (ep->state != DAT_EP_STATE_UNCONNECTED)
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_EP_NOTREADY);
	if (accept(cr, ep, size, private_data))
		kdat_accept_failed(ep, cr->cm);
	kdat_forget(&cr->object);
	kfree(cr);
	return DAT_SUCCESS;
}

void kdat_destroy_cr(struct kdat_cr *cr)
{
	rdma_destroy_id(cr->cm);
	kdat_forget(&cr->object);
	kfree(cr);
}

DAT_RETURN kdat_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size,
			  const void *private_data)
{
	struct kdat_cr *cr = KDAT_FIND(handle, CR);
	DAT_RETURN result = check_private_data(size, private_data);

	might_sleep();
	if (!cr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
	if (result != DAT_SUCCESS)
		return result;
	/* If the peer has gone meanwhile, there is nobody to be told. */
	rdma_reject(cr->cm, size ? private_data : NULL, size,
		    IB_CM_REJ_CONSUMER_DEFINED);
	kdat_destroy_cr(cr);
	return DAT_SUCCESS;
}
