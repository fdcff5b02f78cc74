// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What endpoints say of themselves. In any context. */
#include "provider.h"

DAT_RETURN kdat_ep_query(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
			 DAT_EP_PARAM *param)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (mask & ~DAT_EP_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_EP_PARAM){
		.ia_handle = ep->object.ia,
		.ep_state = READ_ONCE(ep->state),
		.local_ia_address_ptr =
			(DAT_IA_ADDRESS_PTR)&ep->object.ia->address,
		.pz_handle = ep->pz,
		.recv_evd_handle = ep->recv_evd,
		.request_evd_handle = ep->request_evd,
		.connect_evd_handle = ep->connect_evd,
		.srq_handle = ep->srq,
		.ep_attr = ep->attr,
	};
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ep_get_status(DAT_EP_HANDLE handle, DAT_EP_STATE *state,
			      DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (state)
		*state = READ_ONCE(ep->state);
	if (recv_idle)
		*recv_idle = !atomic_read(&ep->recv_outstanding);
	if (request_idle)
		*request_idle = !atomic_read(&ep->request_outstanding);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *buffers,
			      DAT_COUNT *span)
{
	struct kdat_ep *ep = KDAT_FIND(handle, EP);
	DAT_COUNT held;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	/* The verbs do not say which endpoint has taken what of a shared queue.
	 */
	held = ep->srq ? DAT_VALUE_UNKNOWN : atomic_read(&ep->recv_outstanding);
	if (buffers)
		*buffers = held;
	if (span)
		*span = held;
	return DAT_SUCCESS;
}

/* The verbs have a limit of shared queues, and none of endpoints. */
DAT_RETURN kdat_ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft,
				 DAT_COUNT hard)
{
	if (!KDAT_FIND(handle, EP))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (soft < DAT_WATERMARK_INFINITE)
		return KDAT_INVALID(2);
	if (hard < DAT_WATERMARK_INFINITE)
		return KDAT_INVALID(3);
	return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}
