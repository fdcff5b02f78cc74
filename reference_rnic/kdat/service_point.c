// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Service points: public, reserved and common ones. */
#include <linux/in.h>
#include <linux/net.h>
#include <linux/slab.h>

#include "provider.h"

#define BACKLOG 128

/* ---------------------------------------------------------------- listening */

static int start_listening(struct kdat_sp *sp, DAT_CONN_QUAL qualifier)
{
	struct sockaddr_storage own = sp->object.ia->address;
	struct sockaddr_in *address = (struct sockaddr_in *)&own;
	struct rdma_cm_id *cm;
	int error;

	lockdep_assert_held(&sp->mutex);
	address->sin_port = htons(qualifier);
	cm = rdma_create_id(&init_net, kdat_cm_event, &sp->object, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	error = rdma_bind_addr(cm, (struct sockaddr *)address);
	if (!error) {
		address = (struct sockaddr_in *)&cm->route.addr.src_addr;
		sp->qualifier = ntohs(address->sin_port);
		sp->address = cm->route.addr.src_addr;
		error = rdma_listen(cm, BACKLOG);
	}
	if (error)
		rdma_destroy_id(cm);
	else
		sp->cm = cm;
	return error;
}

static void stop_listening(struct kdat_sp *sp)
{
	mutex_lock(&sp->mutex);
	/* Waits for its handler. */
	if (sp->cm)
		rdma_destroy_id(sp->cm);
	sp->cm = NULL;
	mutex_unlock(&sp->mutex);
}

/*
 * A reserved point takes one request. The listener cannot be destroyed by its
 * own handler, and whoever is told of the request is told after that.
 */
static void end_reservation(struct work_struct *work)
{
	struct kdat_sp *sp = container_of(work, struct kdat_sp, taken);

	stop_listening(sp);
	kdat_tell_reserved(sp);
}

static struct kdat_sp *make_sp(struct kdat_ia *ia, struct kdat_evd *evd,
			       DAT_HANDLE_TYPE type)
{
	struct kdat_sp *sp = kzalloc(sizeof(*sp), GFP_KERNEL);

	if (!sp)
		return NULL;
	sp->evd = evd;
	mutex_init(&sp->mutex);
	INIT_WORK(&sp->taken, end_reservation);
	kdat_add(ia, &sp->object, type);
	atomic_inc(&evd->object.users);
	return sp;
}

static void free_sp(struct kdat_sp *sp)
{
	kdat_forget(&sp->object);
	atomic_dec(&sp->evd->object.users);
	mutex_destroy(&sp->mutex);
	kfree(sp);
}

/* `in_use`: what an address that another one has is called. */
static DAT_RETURN listen(struct kdat_sp *sp, DAT_CONN_QUAL qualifier,
			 DAT_RETURN in_use)
{
	int error;

	/* A request may come at once, and end a reservation. */
	mutex_lock(&sp->mutex);
	error = start_listening(sp, qualifier);
	mutex_unlock(&sp->mutex);
	if (!error)
		return DAT_SUCCESS;
	free_sp(sp);
	return error == -EADDRINUSE ? in_use
				    : DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
						DAT_RESOURCE_DEVICE);
}

void kdat_destroy_sp(struct kdat_sp *sp)
{
	struct kdat_ep *ep = sp->ep;

	stop_listening(sp);
	flush_work(&sp->taken);
	/* Once a request has come it is the request's, and may be gone. */
	if (ep && !sp->request) {
		mutex_lock(&ep->mutex);
		WRITE_ONCE(ep->state, DAT_EP_STATE_UNCONNECTED);
		mutex_unlock(&ep->mutex);
	}
	free_sp(sp);
}

static DAT_RETURN check_sp(const struct kdat_ia *ia, const struct kdat_evd *evd)
{
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!evd || evd->object.ia != ia || !(evd->flags & DAT_EVD_CR_FLAG))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
	return DAT_SUCCESS;
}

static bool is_qualifier(DAT_CONN_QUAL qualifier)
{
	return qualifier && qualifier <= U16_MAX;
}

/* ---------------------------------------------------------------- public */

static DAT_RETURN check_psp(struct kdat_ia *ia, struct kdat_evd *evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *made)
{
	DAT_RETURN result = check_sp(ia, evd);

	if (result != DAT_SUCCESS)
		return result;
	/* DAT_PSP_CREATES_EP_NEVER */
	if (flags == DAT_PSP_PROVIDER_FLAG)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (flags != DAT_PSP_CONSUMER_FLAG)
		return KDAT_INVALID(4);
	return made ? DAT_SUCCESS : KDAT_INVALID(5);
}

static DAT_RETURN make_psp(struct kdat_ia *ia, DAT_CONN_QUAL qualifier,
			   struct kdat_evd *evd, struct kdat_sp **made)
{
	struct kdat_sp *psp = make_sp(ia, evd, DAT_HANDLE_TYPE_PSP);
	DAT_RETURN result;

	if (!psp)
		return KDAT_NO_MEMORY;
	result = listen(psp, qualifier,
			DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	if (result == DAT_SUCCESS)
		*made = psp;
	return result;
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
	if (!is_qualifier(qualifier))
		return KDAT_INVALID(2);
	return make_psp(ia, qualifier, evd, (struct kdat_sp **)made);
}

DAT_RETURN kdat_psp_create_any(DAT_IA_HANDLE handle, DAT_CONN_QUAL *qualifier,
			       DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
			       DAT_PSP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_evd *evd = KDAT_FIND(evd_handle, EVD);
	DAT_RETURN result = check_psp(ia, evd, flags, made);
	struct kdat_sp *psp;

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
	struct kdat_sp *psp = KDAT_FIND(handle, PSP);

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

DAT_RETURN kdat_psp_free(DAT_PSP_HANDLE handle)
{
	struct kdat_sp *psp = KDAT_FIND(handle, PSP);

	might_sleep();
	if (!psp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	kdat_destroy_sp(psp);
	return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- reserved */

static DAT_RETURN reserve(struct kdat_ep *ep)
{
	DAT_RETURN result = DAT_SUCCESS;

	mutex_lock(&ep->mutex);
	if (ep->state == DAT_EP_STATE_UNCONNECTED)
		WRITE_ONCE(ep->state, DAT_EP_STATE_RESERVED);
	else
		result = DAT_ERROR(DAT_INVALID_STATE,
				   DAT_INVALID_STATE_EP_NOTREADY);
	mutex_unlock(&ep->mutex);
	return result;
}

static DAT_RETURN make_rsp(struct kdat_ia *ia, DAT_CONN_QUAL qualifier,
			   struct kdat_ep *ep, struct kdat_evd *evd,
			   struct kdat_sp **made)
{
	struct kdat_sp *rsp;
	DAT_RETURN result = reserve(ep);

	if (result != DAT_SUCCESS)
		return result;
	rsp = make_sp(ia, evd, DAT_HANDLE_TYPE_RSP);
	result = KDAT_NO_MEMORY;
	if (rsp) {
		rsp->ep = ep;
		*made = rsp;
		result =
			listen(rsp, qualifier,
			       DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	}
	if (result != DAT_SUCCESS) {
		*made = NULL;
		mutex_lock(&ep->mutex);
		WRITE_ONCE(ep->state, DAT_EP_STATE_UNCONNECTED);
		mutex_unlock(&ep->mutex);
	}
	return result;
}

DAT_RETURN kdat_rsp_create(DAT_IA_HANDLE handle, DAT_CONN_QUAL qualifier,
			   DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
			   DAT_RSP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_evd *evd = KDAT_FIND(evd_handle, EVD);
	struct kdat_ep *ep = KDAT_FIND(ep_handle, EP);
	DAT_RETURN result = check_sp(ia, evd);

	might_sleep();
	if (result != DAT_SUCCESS)
		return result;
	if (!is_qualifier(qualifier))
		return KDAT_INVALID(2);
	/* As for public points: DAT_PSP_CREATES_EP_NEVER */
	if (!ep_handle)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (!ep || ep->object.ia != ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (!made)
		return KDAT_INVALID(5);
	return make_rsp(ia, qualifier, ep, evd, (struct kdat_sp **)made);
}

DAT_RETURN kdat_rsp_query(DAT_RSP_HANDLE handle, DAT_RSP_PARAM_MASK mask,
			  DAT_RSP_PARAM *param)
{
	struct kdat_sp *rsp = KDAT_FIND(handle, RSP);

	if (!rsp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
	if (mask & ~DAT_RSP_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_RSP_PARAM){
		.ia_handle = rsp->object.ia,
		.conn_qual = rsp->qualifier,
		.evd_handle = rsp->evd,
		.ep_handle = rsp->ep,
	};
	return DAT_SUCCESS;
}

DAT_RETURN kdat_rsp_free(DAT_RSP_HANDLE handle)
{
	struct kdat_sp *rsp = KDAT_FIND(handle, RSP);

	might_sleep();
	if (!rsp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP);
	kdat_destroy_sp(rsp);
	return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- common */

/* What rdma_cm listens for: the port space is that of TCP. */
static bool is_supported(const DAT_COMM *comm)
{
	return comm->domain == AF_INET && comm->type == SOCK_STREAM &&
	       (!comm->protocol || comm->protocol == IPPROTO_TCP);
}

static bool is_own(const struct kdat_ia *ia, const struct sockaddr *address)
{
	const struct sockaddr_in *asked = (const struct sockaddr_in *)address;
	const struct sockaddr_in *own =
		(const struct sockaddr_in *)&ia->address;

	return address->sa_family == AF_INET &&
	       (asked->sin_addr.s_addr == own->sin_addr.s_addr ||
		asked->sin_addr.s_addr == htonl(INADDR_ANY));
}

DAT_RETURN kdat_csp_create(DAT_IA_HANDLE handle, DAT_COMM *comm,
			   DAT_IA_ADDRESS_PTR address,
			   DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_evd *evd = KDAT_FIND(evd_handle, EVD);
	DAT_RETURN result = check_sp(ia, evd);
	struct kdat_sp *csp;

	might_sleep();
	if (result != DAT_SUCCESS)
		return result;
	if (!comm)
		return KDAT_INVALID(2);
	if (!is_supported(comm))
		return DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (!address)
		return KDAT_INVALID(3);
	if (!is_own(ia, address))
		return DAT_ERROR(DAT_INVALID_ADDRESS,
				 DAT_INVALID_ADDRESS_UNSUPPORTED);
	if (!made)
		return KDAT_INVALID(5);
	csp = make_sp(ia, evd, DAT_HANDLE_TYPE_CSP);
	if (!csp)
		return KDAT_NO_MEMORY;
	csp->comm = *comm;
	result = listen(csp, ntohs(((struct sockaddr_in *)address)->sin_port),
			DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE));
	if (result == DAT_SUCCESS)
		*made = csp;
	return result;
}

DAT_RETURN kdat_csp_query(DAT_CSP_HANDLE handle, DAT_CSP_PARAM_MASK mask,
			  DAT_CSP_PARAM *param)
{
	struct kdat_sp *csp = KDAT_FIND(handle, CSP);

	if (!csp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
	if (mask & ~DAT_CSP_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_CSP_PARAM){
		.ia_handle = csp->object.ia,
		.comm = &csp->comm,
		.address_ptr = (DAT_IA_ADDRESS_PTR)&csp->address,
		.evd_handle = csp->evd,
	};
	return DAT_SUCCESS;
}

DAT_RETURN kdat_csp_free(DAT_CSP_HANDLE handle)
{
	struct kdat_sp *csp = KDAT_FIND(handle, CSP);

	might_sleep();
	if (!csp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP);
	kdat_destroy_sp(csp);
	return DAT_SUCCESS;
}
