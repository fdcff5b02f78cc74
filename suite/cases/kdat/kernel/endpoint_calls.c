// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The calls of endpoints and shared queues. */
#include <linux/in.h>

#include "consumer.h"

/* ---------------------------------------------------------------- EP */

static DAT_RETURN create_ep(struct session *s, struct rnic_kdat_call *c)
{
	bool with_srq = c->number == RNIC_KDAT_EP_CREATE_WITH_SRQ;
	DAT_EP_ATTR attr = {
		.max_message_size = U32_MAX,
		.max_rdma_size = U32_MAX,
		.max_recv_dtos = c->in[6],
		.max_request_dtos = c->in[7],
		.max_recv_iov = c->in[8],
		.max_request_iov = c->in[9],
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};
	const DAT_EP_ATTR *given = c->in[5] ? &attr : NULL;
	DAT_IA_HANDLE ia = handle_of(s, c->in[0]);
	DAT_PZ_HANDLE pz = handle_of(s, c->in[1]);
	DAT_EVD_HANDLE recv = handle_of(s, c->in[2]);
	DAT_EVD_HANDLE request = handle_of(s, c->in[3]);
	DAT_EVD_HANDLE connect = handle_of(s, c->in[4]);
	DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
	DAT_RETURN result;

	if (with_srq)
		result = dat_ep_create_with_srq(ia, pz, recv, request, connect,
						handle_of(s, c->in[10]), given,
						OUT(c, 0, &ep));
	else
		result = dat_ep_create(ia, pz, recv, request, connect, given,
				       OUT(c, 0, &ep));
	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, ep, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN ep_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EP_PARAM param = {};
	DAT_RETURN result = dat_ep_query(handle_of(s, c->in[0]), c->in[1],
					 OUT(c, 0, &param));

	c->out[RNIC_KDAT_EP_IA] = id_of(s, param.ia_handle);
	c->out[RNIC_KDAT_EP_STATE] = param.ep_state;
	c->out[RNIC_KDAT_EP_PZ] = id_of(s, param.pz_handle);
	c->out[RNIC_KDAT_EP_RECV_EVD] = id_of(s, param.recv_evd_handle);
	c->out[RNIC_KDAT_EP_REQUEST_EVD] = id_of(s, param.request_evd_handle);
	c->out[RNIC_KDAT_EP_CONNECT_EVD] = id_of(s, param.connect_evd_handle);
	c->out[RNIC_KDAT_EP_SRQ] = id_of(s, param.srq_handle);
	c->out[RNIC_KDAT_EP_MAX_RECV_DTOS] = param.ep_attr.max_recv_dtos;
	c->out[RNIC_KDAT_EP_MAX_REQUEST_DTOS] = param.ep_attr.max_request_dtos;
	return result;
}

static DAT_RETURN ep_get_status(struct session *s, struct rnic_kdat_call *c)
{
	DAT_BOOLEAN recv_idle = DAT_FALSE, request_idle = DAT_FALSE;
	DAT_EP_STATE state = 0;
	DAT_RETURN result = dat_ep_get_status(handle_of(s, c->in[0]), &state,
					      &recv_idle, &request_idle);

	c->out[0] = state;
	c->out[1] = recv_idle;
	c->out[2] = request_idle;
	return result;
}

/* The one that is given, or that of an IA. */
void take_address(struct session *s, u64 given, u64 ia,
		  struct sockaddr_in *address)
{
	DAT_EVD_HANDLE async_evd;
	DAT_IA_ATTR attr = {};

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = (__force __be32)(u32)given;
	if (!given &&
	    dat_ia_query(handle_of(s, ia), &async_evd, DAT_IA_FIELD_ALL, &attr,
			 0, NULL) == DAT_SUCCESS)
		*address = *(struct sockaddr_in *)attr.ia_address_ptr;
}

static DAT_RETURN ep_connect(struct session *s, struct rnic_kdat_call *c)
{
	struct sockaddr_in address;

	take_address(s, c->in[1], c->in[2], &address);
	return dat_ep_connect(handle_of(s, c->in[0]),
			      OUT(c, 0, (struct sockaddr *)&address), c->in[3],
			      c->in[4], (int)c->in[5], OUT(c, 1, c->data),
			      c->in[6], c->in[7]);
}

static DAT_RETURN ep_common_connect(struct session *s, struct rnic_kdat_call *c)
{
	struct sockaddr_in address;

	take_address(s, c->in[1], c->in[3], &address);
	address.sin_port = htons(c->in[2]);
	return dat_ep_common_connect(handle_of(s, c->in[0]),
				     OUT(c, 0, (struct sockaddr *)&address),
				     c->in[4], (int)c->in[5],
				     OUT(c, 1, c->data));
}

static DAT_RETURN ep_dup_connect(struct session *s, struct rnic_kdat_call *c)
{
	return dat_ep_dup_connect(handle_of(s, c->in[0]),
				  handle_of(s, c->in[1]), c->in[2],
				  (int)c->in[3], OUT(c, 0, c->data), c->in[4]);
}

static DAT_RETURN ep_modify(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EP_PARAM param = {
		.pz_handle = handle_of(s, c->in[2]),
		.recv_evd_handle = handle_of(s, c->in[3]),
		.request_evd_handle = handle_of(s, c->in[4]),
		.connect_evd_handle = handle_of(s, c->in[5]),
		.ep_attr = { .max_recv_dtos = c->in[6],
			     .max_request_dtos = c->in[7],
			     .max_recv_iov = c->in[8],
			     .max_request_iov = c->in[9] },
	};

	return dat_ep_modify(handle_of(s, c->in[0]), c->in[1],
			     OUT(c, 0, &param));
}

static DAT_RETURN ep_recv_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_COUNT buffers = 0, span = 0;
	DAT_RETURN result = dat_ep_recv_query(
		handle_of(s, c->in[0]), OUT(c, 0, &buffers), OUT(c, 1, &span));

	c->out[0] = (u32)buffers;
	c->out[1] = (u32)span;
	return result;
}

static DAT_RETURN ep_set_watermark(struct session *s, struct rnic_kdat_call *c)
{
	return dat_ep_set_watermark(handle_of(s, c->in[0]), (int)c->in[1],
				    (int)c->in[2]);
}

static DAT_RETURN ep_disconnect(struct session *s, struct rnic_kdat_call *c)
{
	return dat_ep_disconnect(handle_of(s, c->in[0]), c->in[1]);
}

static DAT_RETURN ep_reset(struct session *s, struct rnic_kdat_call *c)
{
	return dat_ep_reset(handle_of(s, c->in[0]));
}

static DAT_RETURN ep_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_ep_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

/* ---------------------------------------------------------------- posts */

static DAT_RETURN post(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_TRIPLET *list = s->segments;
	DAT_EP_HANDLE ep = handle_of(s, c->in[0]);
	DAT_COUNT count = (int)c->in[1];
	DAT_DTO_COOKIE cookie = { .as_64 = c->in[2] };
	DAT_RMR_TRIPLET remote = {
		.virtual_address = c->in[4],
		.segment_length = c->in[5],
		.rmr_context = c->in[6],
	};

	if (!take_segments(s, c, count))
		return MISUSED;
	switch (c->number) {
	case RNIC_KDAT_EP_POST_SEND:
		return dat_ep_post_send(ep, count, OUT(c, 0, list), cookie,
					c->in[3]);
	case RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE:
		return dat_ep_post_send_with_invalidate(ep, count,
							OUT(c, 0, list), cookie,
							c->in[3], c->in[4],
							c->in[5]);
	case RNIC_KDAT_EP_POST_RECV:
		return dat_ep_post_recv(ep, count, OUT(c, 0, list), cookie,
					c->in[3]);
	case RNIC_KDAT_EP_POST_RDMA_READ:
		return dat_ep_post_rdma_read(ep, count, OUT(c, 0, list), cookie,
					     OUT(c, 1, &remote), c->in[3]);
	default:
		return dat_ep_post_rdma_write(ep, count, OUT(c, 0, list),
					      cookie, OUT(c, 1, &remote),
					      c->in[3]);
	}
}

static DAT_RETURN read_to_rmr(struct session *s, struct rnic_kdat_call *c)
{
	DAT_DTO_COOKIE cookie = { .as_64 = c->in[1] };
	DAT_RMR_TRIPLET sink = {
		.virtual_address = c->in[3],
		.segment_length = c->in[4],
		.rmr_context = c->in[5],
	};
	DAT_RMR_TRIPLET remote = {
		.virtual_address = c->in[6],
		.segment_length = c->in[7],
		.rmr_context = c->in[8],
	};

	return dat_ep_post_rdma_read_to_rmr(handle_of(s, c->in[0]),
					    OUT(c, 0, &sink), cookie,
					    OUT(c, 1, &remote), c->in[2]);
}

/* ---------------------------------------------------------------- SRQ */

static DAT_RETURN srq_create(struct session *s, struct rnic_kdat_call *c)
{
	DAT_SRQ_ATTR attr = {
		.max_recv_dtos = c->in[2],
		.max_recv_iov = c->in[3],
		.low_watermark = c->in[4],
	};
	DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
	DAT_RETURN result = dat_srq_create(handle_of(s, c->in[0]),
					   handle_of(s, c->in[1]),
					   OUT(c, 1, &attr), OUT(c, 0, &srq));

	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, srq, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN srq_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_SRQ_PARAM param = {};
	DAT_RETURN result = dat_srq_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = id_of(s, param.pz_handle);
	c->out[2] = param.max_recv_dtos;
	c->out[3] = param.max_recv_iov;
	c->out[4] = param.low_watermark;
	c->out[5] = param.outstanding_dto_count;
	return result;
}

static DAT_RETURN srq_post_recv(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_TRIPLET *list = s->segments;
	DAT_DTO_COOKIE cookie = { .as_64 = c->in[2] };

	if (!take_segments(s, c, (int)c->in[1]))
		return MISUSED;
	return dat_srq_post_recv(handle_of(s, c->in[0]), (int)c->in[1],
				 OUT(c, 0, list), cookie);
}

static DAT_RETURN srq_resize(struct session *s, struct rnic_kdat_call *c)
{
	return dat_srq_resize(handle_of(s, c->in[0]), (int)c->in[1]);
}

static DAT_RETURN srq_set_lw(struct session *s, struct rnic_kdat_call *c)
{
	return dat_srq_set_lw(handle_of(s, c->in[0]), (int)c->in[1]);
}

static DAT_RETURN srq_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_srq_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

const struct call endpoint_calls[RNIC_KDAT_END] = {
	[RNIC_KDAT_EP_CREATE] = { create_ep },
	[RNIC_KDAT_EP_CREATE_WITH_SRQ] = { create_ep },
	[RNIC_KDAT_EP_QUERY] = { ep_query, true },
	[RNIC_KDAT_EP_GET_STATUS] = { ep_get_status, true },
	[RNIC_KDAT_EP_CONNECT] = { ep_connect },
	[RNIC_KDAT_EP_COMMON_CONNECT] = { ep_common_connect },
	[RNIC_KDAT_EP_DUP_CONNECT] = { ep_dup_connect },
	[RNIC_KDAT_EP_MODIFY] = { ep_modify },
	[RNIC_KDAT_EP_RECV_QUERY] = { ep_recv_query, true },
	[RNIC_KDAT_EP_SET_WATERMARK] = { ep_set_watermark, true },
	[RNIC_KDAT_EP_DISCONNECT] = { ep_disconnect },
	[RNIC_KDAT_EP_RESET] = { ep_reset },
	[RNIC_KDAT_EP_FREE] = { ep_free },
	[RNIC_KDAT_EP_POST_SEND] = { post, true },
	[RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE] = { post, true },
	[RNIC_KDAT_EP_POST_RECV] = { post, true },
	[RNIC_KDAT_EP_POST_RDMA_READ] = { post, true },
	[RNIC_KDAT_EP_POST_RDMA_WRITE] = { post, true },
	[RNIC_KDAT_EP_POST_RDMA_READ_TO_RMR] = { read_to_rmr, true },
	[RNIC_KDAT_SRQ_CREATE] = { srq_create },
	[RNIC_KDAT_SRQ_QUERY] = { srq_query, true },
	[RNIC_KDAT_SRQ_POST_RECV] = { srq_post_recv, true },
	[RNIC_KDAT_SRQ_RESIZE] = { srq_resize },
	[RNIC_KDAT_SRQ_SET_LW] = { srq_set_lw },
	[RNIC_KDAT_SRQ_FREE] = { srq_free },
};
