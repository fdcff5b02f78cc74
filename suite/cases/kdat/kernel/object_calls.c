// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The calls of the registry, of IAs, zones and event dispatchers. */
#include <linux/in.h>
#include <linux/slab.h>

#include "consumer.h"

/* ---------------------------------------------------------------- registry */

#define MAX_LISTED 8

static DAT_RETURN list_providers(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PROVIDER_INFO *infos, *list[MAX_LISTED];
	DAT_COUNT count = 0, i;
	DAT_RETURN result;

	infos = kcalloc(MAX_LISTED, sizeof(*infos), GFP_KERNEL);
	if (!infos)
		return MISUSED;
	for (i = 0; i < MAX_LISTED; i++)
		list[i] = &infos[i];
	result = dat_registry_list_providers(min_t(u64, c->in[0], MAX_LISTED),
					     OUT(c, 0, &count),
					     OUT(c, 1, list));
	c->out[0] = count;
	c->data_length = 0;
	for (i = 0; i < min(count, MAX_LISTED); i++)
		c->data_length += scnprintf(c->data + c->data_length,
					    sizeof(c->data) - c->data_length,
					    "%s\n", infos[i].ia_name);
	kfree(infos);
	return result;
}

static DAT_RETURN no_open(const char *name, DAT_COUNT qlen,
			  DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

static DAT_RETURN no_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

static void take_info(struct session *s, const struct rnic_kdat_call *c)
{
	memset(&s->info, 0, sizeof(s->info));
	memcpy(s->info.ia_name, c->data,
	       min_t(u32, c->data_length, DAT_NAME_MAX_LENGTH - 1));
	s->info.dapl_version_major = DAT_VERSION_MAJOR;
	s->info.dapl_version_minor = DAT_VERSION_MINOR;
	s->info.is_thread_safe = DAT_TRUE;
}

static DAT_RETURN add_provider(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PROVIDER_INFO before = s->info;
	DAT_RETURN result;

	take_info(s, c);
	s->provider.ia_open_func = no_open;
	s->provider.ia_close_func = no_close;
	result = dat_registry_add_provider(OUT(c, 0, &s->provider),
					   OUT(c, 1, &s->info));
	if (result == DAT_SUCCESS)
		s->registered = true;
	else
		s->info = before;
	return result;
}

static DAT_RETURN remove_provider(struct session *s, struct rnic_kdat_call *c)
{
	DAT_HANDLE ia = handle_of(s, c->in[0]);
	const DAT_PROVIDER *provider = ia ? DAT_HANDLE_TO_PROVIDER(ia)
					  : &s->provider;
	DAT_PROVIDER_INFO info = s->info;
	DAT_RETURN result;

	take_info(s, c);
	result = dat_registry_remove_provider(OUT(c, 0, provider),
					      OUT(c, 1, &s->info));
	s->info = info;
	if (result == DAT_SUCCESS && !ia)
		s->registered = false;
	return result;
}

static DAT_RETURN strerror(struct session *s, struct rnic_kdat_call *c)
{
	const char *major = "", *minor = "";
	DAT_RETURN result =
		dat_strerror(c->in[0], OUT(c, 0, &major), OUT(c, 1, &minor));

	c->data_length = strscpy(c->data, major, sizeof(c->data));
	return result;
}

/* ---------------------------------------------------------------- IA */

static struct receiver *make_receiver(struct session *s, u32 kind, u64 takes_us)
{
	struct receiver *receiver = kzalloc(sizeof(*receiver), GFP_KERNEL);

	if (!receiver)
		return NULL;
	receiver->session = s;
	receiver->kind = kind;
	/* It keeps a processor busy. */
	receiver->takes_us = min(takes_us, 2000ULL);
	return receiver;
}

static DAT_UPCALL_OBJECT object_of(struct receiver *receiver, u32 kind)
{
	return (DAT_UPCALL_OBJECT){
		.instance_data = receiver,
		.upcall_func = kind >= RNIC_KDAT_UPCALL_REPORTS ? take_upcall
								: NULL,
	};
}

static void hold_evd(struct session *s, DAT_EVD_HANDLE evd, u32 ia,
		     struct receiver *receiver, u64 *told)
{
	receiver->handle = evd;
	*told = hold(s, evd, ia, receiver);
	WRITE_ONCE(receiver->evd, *told);
}

static DAT_RETURN ia_open(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
	struct receiver *receiver =
		make_receiver(s, RNIC_KDAT_UPCALL_REPORTS, 0);
	DAT_UPCALL_OBJECT upcall =
		object_of(receiver, RNIC_KDAT_UPCALL_REPORTS);
	char name[DAT_NAME_MAX_LENGTH] = {};
	DAT_RETURN result;

	if (!receiver)
		return MISUSED;
	memcpy(name, c->data, min_t(u32, c->data_length, sizeof(name) - 1));
	result = dat_ia_openv(OUT(c, 2, name), c->in[0], OUT(c, 0, &async_evd),
			      OUT(c, 1, &ia), c->in[1], c->in[2], c->in[3]);
	if (result != DAT_SUCCESS) {
		kfree(receiver);
		return result;
	}
	c->out[0] = hold(s, ia, 0, NULL);
	hold_evd(s, async_evd, c->out[0], receiver, &c->out[1]);
	dat_evd_modify_upcall(async_evd, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
			      DAT_UPCALL_INVOC_ANY);
	return result;
}

static DAT_RETURN ia_close(struct session *s, struct rnic_kdat_call *c)
{
	u32 ia = ia_of(s, c->in[0]);
	DAT_RETURN result = dat_ia_close(handle_of(s, c->in[0]), c->in[1]);

	if (result == DAT_SUCCESS)
		drop_ia(s, ia);
	return result;
}

static DAT_RETURN ia_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	/* Too large for a stack, and this call may be made in an interrupt. */
	DAT_PROVIDER_ATTR *provider = kzalloc(sizeof(*provider), GFP_ATOMIC);
	DAT_IA_ATTR *attr = kzalloc(sizeof(*attr), GFP_ATOMIC);
	DAT_RETURN result = MISUSED;

	if (provider && attr)
		result = dat_ia_query(handle_of(s, c->in[0]), &async_evd,
				      c->in[1], OUT(c, 0, attr), c->in[2],
				      OUT(c, 1, provider));
	if (result == DAT_SUCCESS) {
		c->out[RNIC_KDAT_IA_ASYNC_EVD] = id_of(s, async_evd);
		c->out[RNIC_KDAT_IA_MAX_EVD_QLEN] = attr->max_evd_qlen;
		c->out[RNIC_KDAT_IA_MAX_DTO_PER_EP] = attr->max_dto_per_ep;
		c->out[RNIC_KDAT_IA_MAX_IOV] = attr->max_iov_segments_per_dto;
		c->out[RNIC_KDAT_IA_MAX_BLOCK] = attr->max_lmr_block_size;
		c->out[RNIC_KDAT_IA_ZB_SUPPORTED] = attr->zb_supported;
		c->out[RNIC_KDAT_IA_RESERVED_SUPPORTED] =
			attr->reserved_lmr_supported;
		c->out[RNIC_KDAT_IA_MEM_TYPES] =
			provider->lmr_mem_types_supported;
		c->out[RNIC_KDAT_IA_MAX_PRIVATE_DATA] =
			provider->max_private_data_size;
		c->out[RNIC_KDAT_IA_UPCALL_POLICY] = provider->upcall_policy;
		c->out[RNIC_KDAT_IA_INTERRUPT_SAFE] =
			provider->is_interrupt_safe;
		c->out[RNIC_KDAT_IA_FMR_SUPPORTED] = provider->fmr_supported;
		c->out[RNIC_KDAT_IA_FMR_SCOPE] =
			provider->lmr_for_fmr_scope_supported;
		c->out[RNIC_KDAT_IA_SRQ_SUPPORTED] = provider->srq_supported;
		c->out[RNIC_KDAT_IA_WRITE_FOR_READ] =
			provider->rdma_write_for_rdma_read_req;
		if (attr->ia_address_ptr)
			c->out[RNIC_KDAT_IA_ADDRESS] =
				(__force u32)((struct sockaddr_in *)
						      attr->ia_address_ptr)
					->sin_addr.s_addr;
		c->data_length =
			strscpy(c->data, attr->adapter_name, sizeof(c->data));
	}
	kfree(attr);
	kfree(provider);
	return result;
}

static DAT_RETURN ia_memtype_hint(struct session *s, struct rnic_kdat_call *c)
{
	return dat_ia_memtype_hint(handle_of(s, c->in[0]), c->in[1], c->in[2],
				   c->in[3], OUT(c, 0, &c->out[0]),
				   OUT(c, 1, &c->out[1]));
}

static DAT_RETURN ia_reserved_lmr(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
	DAT_LMR_CONTEXT context = 0;
	DAT_RETURN result = dat_ia_reserved_lmr(
		handle_of(s, c->in[0]), OUT(c, 0, &lmr), OUT(c, 1, &context));

	if (result != DAT_SUCCESS)
		return result;
	c->out[0] = id_of(s, lmr) ?: hold(s, lmr, ia_of(s, c->in[0]), NULL);
	c->out[1] = context;
	return result;
}

/* ---------------------------------------------------------------- any handle */

static DAT_RETURN set_consumer_context(struct session *s,
				       struct rnic_kdat_call *c)
{
	DAT_CONTEXT context = { .as_64 = c->in[1] };

	return dat_set_consumer_context(handle_of(s, c->in[0]), context);
}

static DAT_RETURN get_consumer_context(struct session *s,
				       struct rnic_kdat_call *c)
{
	DAT_CONTEXT context = {};
	DAT_RETURN result = dat_get_consumer_context(handle_of(s, c->in[0]),
						     OUT(c, 0, &context));

	c->out[0] = context.as_64;
	return result;
}

static DAT_RETURN get_handle_type(struct session *s, struct rnic_kdat_call *c)
{
	DAT_HANDLE_TYPE type = 0;
	DAT_RETURN result =
		dat_get_handle_type(handle_of(s, c->in[0]), OUT(c, 0, &type));

	c->out[0] = type;
	return result;
}

/* ---------------------------------------------------------------- PZ */

static DAT_RETURN pz_create(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
	DAT_RETURN result =
		dat_pz_create(handle_of(s, c->in[0]), OUT(c, 0, &pz));

	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, pz, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN pz_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PZ_PARAM param = {};
	DAT_RETURN result = dat_pz_query(handle_of(s, c->in[0]), c->in[1],
					 OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	return result;
}

static DAT_RETURN pz_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_pz_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

/* ---------------------------------------------------------------- EVD */

static DAT_RETURN evd_kcreate(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	u32 kind = c->in[4];
	struct receiver *receiver = make_receiver(s, kind, c->in[5]);
	DAT_UPCALL_OBJECT upcall = object_of(receiver, kind);
	DAT_RETURN result;

	if (!receiver)
		return MISUSED;
	result = dat_evd_kcreate(handle_of(s, c->in[0]), c->in[1], c->in[2],
				 kind == RNIC_KDAT_UPCALL_NULL ? NULL : &upcall,
				 c->in[3], OUT(c, 0, &evd));
	if (result == DAT_SUCCESS)
		hold_evd(s, evd, ia_of(s, c->in[0]), receiver, &c->out[0]);
	else
		kfree(receiver);
	return result;
}

static DAT_RETURN evd_modify_upcall(struct session *s, struct rnic_kdat_call *c)
{
	struct held *held = find_held(s, c->in[0]);
	struct receiver *receiver = held ? held->receiver : NULL;
	u32 kind = c->in[2];
	int policy = c->in[1];
	DAT_UPCALL_OBJECT upcall = object_of(receiver, kind);
	DAT_RETURN result;

	if (policy == DAT_UPCALL_TEARDOWN && current_context())
		return MISUSED; /* it waits */
	/* Of no dispatcher: without an instance, an UpCall must not come. */
	if (!receiver)
		upcall.upcall_func = NULL;
	else if (kind >= RNIC_KDAT_UPCALL_REPORTS)
		receiver->kind = kind;
	result = dat_evd_modify_upcall(
		handle_of(s, c->in[0]), policy,
		kind == RNIC_KDAT_UPCALL_NULL ? DAT_UPCALL_SAME : &upcall,
		c->in[3]);
	if (receiver) {
		c->out[0] = atomic_read(&receiver->begun);
		c->out[1] = atomic_read(&receiver->ended);
	}
	return result;
}

static DAT_RETURN evd_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVD_PARAM param = {};
	DAT_RETURN result = dat_evd_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = param.evd_qlen;
	c->out[2] = (u32)param.upcall_policy;
	c->out[3] = param.evd_flags;
	c->out[4] = param.upcall.upcall_func == take_upcall;
	return result;
}

static DAT_RETURN evd_post_se(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVENT event = { .event_number = c->in[1] };

	event.event_data.software_event_data.pointer =
		(void *)(uintptr_t)c->in[2];
	return dat_evd_post_se(handle_of(s, c->in[0]), OUT(c, 0, &event));
}

static DAT_RETURN evd_dequeue(struct session *s, struct rnic_kdat_call *c)
{
	DAT_EVENT event = {};
	DAT_RETURN result =
		dat_evd_dequeue(handle_of(s, c->in[0]), OUT(c, 0, &event));

	if (result == DAT_SUCCESS)
		translate(s, &event, &c->event);
	return result;
}

static DAT_RETURN evd_resize(struct session *s, struct rnic_kdat_call *c)
{
	return dat_evd_resize(handle_of(s, c->in[0]), (int)c->in[1]);
}

static DAT_RETURN evd_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_evd_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

const struct call object_calls[RNIC_KDAT_END] = {
	[RNIC_KDAT_LIST_PROVIDERS] = { list_providers },
	[RNIC_KDAT_ADD_PROVIDER] = { add_provider },
	[RNIC_KDAT_REMOVE_PROVIDER] = { remove_provider },
	[RNIC_KDAT_STRERROR] = { strerror, true },
	[RNIC_KDAT_IA_OPEN] = { ia_open },
	[RNIC_KDAT_IA_CLOSE] = { ia_close },
	[RNIC_KDAT_IA_QUERY] = { ia_query, true },
	[RNIC_KDAT_IA_MEMTYPE_HINT] = { ia_memtype_hint, true },
	[RNIC_KDAT_IA_RESERVED_LMR] = { ia_reserved_lmr },
	[RNIC_KDAT_SET_CONSUMER_CONTEXT] = { set_consumer_context, true },
	[RNIC_KDAT_GET_CONSUMER_CONTEXT] = { get_consumer_context, true },
	[RNIC_KDAT_GET_HANDLE_TYPE] = { get_handle_type, true },
	[RNIC_KDAT_PZ_CREATE] = { pz_create },
	[RNIC_KDAT_PZ_QUERY] = { pz_query, true },
	[RNIC_KDAT_PZ_FREE] = { pz_free },
	[RNIC_KDAT_EVD_KCREATE] = { evd_kcreate },
	/* With a policy that does not wait. */
	[RNIC_KDAT_EVD_MODIFY_UPCALL] = { evd_modify_upcall, true },
	[RNIC_KDAT_EVD_QUERY] = { evd_query, true },
	[RNIC_KDAT_EVD_POST_SE] = { evd_post_se, true },
	[RNIC_KDAT_EVD_DEQUEUE] = { evd_dequeue, true },
	[RNIC_KDAT_EVD_RESIZE] = { evd_resize },
	[RNIC_KDAT_EVD_FREE] = { evd_free },
};
