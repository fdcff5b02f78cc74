// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The calls of service points and requests. */
#include <linux/in.h>
#include <linux/string.h>

#include "consumer.h"

/* ---------------------------------------------------------------- PSP */

static DAT_RETURN create_psp(struct session *s, struct rnic_kdat_call *c)
{
	DAT_IA_HANDLE ia = handle_of(s, c->in[0]);
	DAT_EVD_HANDLE evd = handle_of(s, c->in[2]);
	DAT_CONN_QUAL qualifier = c->in[1];
	DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
	DAT_RETURN result;

	if (c->number == RNIC_KDAT_PSP_CREATE)
		result = dat_psp_create(ia, qualifier, evd, c->in[3],
					OUT(c, 0, &psp));
	else
		result = dat_psp_create_any(ia, OUT(c, 1, &qualifier), evd,
					    c->in[3], OUT(c, 0, &psp));
	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, psp, ia_of(s, c->in[0]), NULL);
	c->out[1] = qualifier;
	return result;
}

static DAT_RETURN psp_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PSP_PARAM param = {};
	DAT_RETURN result = dat_psp_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = param.conn_qual;
	c->out[2] = id_of(s, param.evd_handle);
	c->out[3] = param.psp_flags;
	return result;
}

static DAT_RETURN psp_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_psp_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

/* ---------------------------------------------------------------- RSP */

static DAT_RETURN rsp_create(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
	DAT_RETURN result = dat_rsp_create(handle_of(s, c->in[0]), c->in[1],
					   handle_of(s, c->in[2]),
					   handle_of(s, c->in[3]),
					   OUT(c, 0, &rsp));

	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, rsp, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN rsp_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RSP_PARAM param = {};
	DAT_RETURN result = dat_rsp_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = param.conn_qual;
	c->out[2] = id_of(s, param.evd_handle);
	c->out[3] = id_of(s, param.ep_handle);
	return result;
}

static DAT_RETURN rsp_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_rsp_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

/* ---------------------------------------------------------------- CSP */

static DAT_RETURN csp_create(struct session *s, struct rnic_kdat_call *c)
{
	DAT_COMM comm = {
		.domain = c->in[1],
		.type = c->in[2],
		.protocol = c->in[3],
	};
	DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
	struct sockaddr_in address;
	DAT_RETURN result;

	take_address(s, c->in[4], c->in[0], &address);
	address.sin_port = htons(c->in[5]);
	result = dat_csp_create(handle_of(s, c->in[0]), OUT(c, 1, &comm),
				OUT(c, 2, (struct sockaddr *)&address),
				handle_of(s, c->in[6]), OUT(c, 0, &csp));
	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, csp, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN csp_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_CSP_PARAM param = {};
	DAT_RETURN result = dat_csp_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));
	const struct sockaddr_in *address =
		(const struct sockaddr_in *)param.address_ptr;

	if (result != DAT_SUCCESS)
		return result;
	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = param.comm->domain;
	c->out[2] = param.comm->type;
	c->out[3] = param.comm->protocol;
	c->out[4] = (__force u32)address->sin_addr.s_addr;
	c->out[5] = ntohs(address->sin_port);
	c->out[6] = id_of(s, param.evd_handle);
	return result;
}

static DAT_RETURN csp_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_csp_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

/* ---------------------------------------------------------------- CR */

static DAT_RETURN cr_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_CR_PARAM param = {};
	DAT_RETURN result = dat_cr_query(handle_of(s, c->in[0]), c->in[1],
					 OUT(c, 0, &param));

	c->out[0] = param.remote_port_qual;
	c->out[1] = param.private_data_size;
	c->out[2] = id_of(s, param.local_ep_handle);
	c->data_length = clamp(param.private_data_size, 0, RNIC_KDAT_DATA);
	if (param.private_data)
		memcpy(c->data, param.private_data, c->data_length);
	return result;
}

static DAT_RETURN cr_accept(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_cr_accept(handle_of(s, c->in[0]),
					  handle_of(s, c->in[1]), (int)c->in[2],
					  OUT(c, 0, c->data));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

static DAT_RETURN cr_reject(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_cr_reject(handle_of(s, c->in[0]), (int)c->in[1],
					  OUT(c, 0, c->data));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

static DAT_RETURN cr_handoff(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_cr_handoff(handle_of(s, c->in[0]), c->in[1]);

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

const struct call point_calls[RNIC_KDAT_END] = {
	[RNIC_KDAT_PSP_CREATE] = { create_psp },
	[RNIC_KDAT_PSP_CREATE_ANY] = { create_psp },
	[RNIC_KDAT_PSP_QUERY] = { psp_query, true },
	[RNIC_KDAT_PSP_FREE] = { psp_free },
	[RNIC_KDAT_RSP_CREATE] = { rsp_create },
	[RNIC_KDAT_RSP_QUERY] = { rsp_query, true },
	[RNIC_KDAT_RSP_FREE] = { rsp_free },
	[RNIC_KDAT_CSP_CREATE] = { csp_create },
	[RNIC_KDAT_CSP_QUERY] = { csp_query, true },
	[RNIC_KDAT_CSP_FREE] = { csp_free },
	[RNIC_KDAT_CR_QUERY] = { cr_query, true },
	[RNIC_KDAT_CR_ACCEPT] = { cr_accept },
	[RNIC_KDAT_CR_REJECT] = { cr_reject },
	[RNIC_KDAT_CR_HANDOFF] = { cr_handoff },
};
