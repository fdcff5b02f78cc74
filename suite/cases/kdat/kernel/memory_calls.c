// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The calls of memory regions. */
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "consumer.h"

bool take_segments(struct session *s, const struct rnic_kdat_call *c,
		   DAT_COUNT count)
{
	DAT_LMR_TRIPLET *list = s->segments;
	unsigned int i;

	if (count > MAX_COUNT)
		return false;
	memset(list, 0, sizeof(s->segments));
	for (i = 0; i < RNIC_KDAT_SEGMENTS; i++) {
		const struct rnic_kdat_segment *from = &c->segment[i];
		void *place;

		list[i].virtual_address = from->address;
		list[i].segment_length = from->length;
		list[i].lmr_context = from->context;
		if (from->memory) {
			place = place_of(s, from->memory, from->address,
					 from->length);
			if (!place)
				return false;
			keep_memory(s, from->memory);
			list[i].virtual_address = virt_to_phys(place);
		} else if (from->length && !from->context) {
			/* The reserved region is all of the host's memory. */
			return false;
		}
	}
	return true;
}

/* The description of a region within the session's own memory. */
static bool region_of(struct session *s, const struct rnic_kdat_call *c,
		      u64 type, u64 length, u64 memory, u64 offset,
		      u64 page_size, DAT_PADDR *list,
		      DAT_REGION_DESCRIPTION *region)
{
	unsigned int i;
	void *place;

	if (type == DAT_MEM_TYPE_LMR) {
		region->for_lmr_handle = handle_of(s, memory);
		return true;
	}
	if (type != DAT_MEM_TYPE_PHYSICAL &&
	    type != DAT_MEM_TYPE_PHYSICAL_VAR_PAGES) {
		region->for_va = memory ? place_of(s, memory, offset, length)
					: NULL;
		return !memory || region->for_va;
	}
	for (i = 0; i < RNIC_KDAT_PAGES; i++) {
		place = place_of(s, memory, c->page[i] & PAGE_MASK, PAGE_SIZE);
		if (c->page[i] != ~0ULL && !place)
			return false;
		list[i] =
			place ? virt_to_phys(place) + (c->page[i] & ~PAGE_MASK)
			      : ~0ULL & PAGE_MASK;
	}
	if (type == DAT_MEM_TYPE_PHYSICAL) {
		region->for_physical = list;
		return length <= RNIC_KDAT_PAGES * PAGE_SIZE;
	}
	region->for_array.page_size = page_size;
	region->for_array.pages = list;
	/* One that is no size of a page is refused before the list is read. */
	return !is_power_of_2(page_size) ||
	       (page_size <= SZ_1M && length <= RNIC_KDAT_PAGES * page_size);
}

/*
 * A list of larger pages names the first system page of each: all of them have
 * to be the session's.
 */
static bool holds_pages(struct session *s, const struct rnic_kdat_call *c,
			u64 type, u64 count, u64 memory, u64 page_size)
{
	u64 i;

	if (type != DAT_MEM_TYPE_PHYSICAL_VAR_PAGES)
		return true;
	for (i = 0; i < min_t(u64, count, RNIC_KDAT_PAGES); i++)
		if (c->page[i] != ~0ULL &&
		    !place_of(s, memory, c->page[i], page_size))
			return false;
	return true;
}

static DAT_RETURN lmr_kcreate(struct session *s, struct rnic_kdat_call *c)
{
	u64 type = c->in[1], length = c->in[2], memory = c->in[7];
	u64 page_size = c->in[9];
	DAT_PADDR list[RNIC_KDAT_PAGES];
	DAT_REGION_DESCRIPTION region = {};
	DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
	DAT_LMR_CONTEXT lmr_context = 0;
	DAT_RMR_CONTEXT rmr_context = 0;
	DAT_RETURN result;

	if (!region_of(s, c, type, length, memory, c->in[8], page_size, list,
		       &region) ||
	    !holds_pages(s, c, type,
			 page_size ? DIV_ROUND_UP_ULL(length, page_size) : 0,
			 memory, page_size))
		return MISUSED;
	if (c->nulls & RNIC_KDAT_NULL(5))
		memset(&region, 0, sizeof(region));
	result = dat_lmr_kcreate(handle_of(s, c->in[0]), type, region, length,
				 handle_of(s, c->in[3]), c->in[4], c->in[5],
				 c->in[6], OUT(c, 0, &lmr),
				 OUT(c, 1, &lmr_context),
				 OUT(c, 2, &rmr_context), OUT(c, 3, &c->out[3]),
				 OUT(c, 4, &c->out[4]));
	if (result == DAT_SUCCESS) {
		c->out[0] = hold(s, lmr, ia_of(s, c->in[0]), NULL);
		name_memory(s, c->out[0], memory);
		if (type == DAT_MEM_TYPE_LMR) /* it may be freed before */
			keep_memory(s, memory);
	}
	c->out[1] = lmr_context;
	c->out[2] = rmr_context;
	return result;
}

static DAT_RETURN lmr_allocate(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
	DAT_RETURN result = dat_lmr_allocate(handle_of(s, c->in[0]),
					     handle_of(s, c->in[1]), c->in[2],
					     c->in[3], OUT(c, 0, &lmr));

	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, lmr, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN lmr_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_PARAM param = {};
	DAT_RETURN result = dat_lmr_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[RNIC_KDAT_LMR_IA] = id_of(s, param.ia_handle);
	c->out[RNIC_KDAT_LMR_TYPE] = param.mem_type;
	c->out[RNIC_KDAT_LMR_LENGTH] = param.length;
	c->out[RNIC_KDAT_LMR_PZ] = id_of(s, param.pz_handle);
	c->out[RNIC_KDAT_LMR_PRIVILEGES] = param.mem_priv;
	c->out[RNIC_KDAT_LMR_VA_TYPE] = param.va_type;
	c->out[RNIC_KDAT_LMR_CONTEXT] = param.lmr_context;
	c->out[RNIC_KDAT_LMR_RMR_CONTEXT] = param.rmr_context;
	c->out[RNIC_KDAT_LMR_SIZE] = param.registered_size;
	c->out[RNIC_KDAT_LMR_ADDRESS] = param.registered_address;
	c->out[RNIC_KDAT_LMR_FMR_SUPPORT] = param.lmr_state.fmr_support;
	c->out[RNIC_KDAT_LMR_BOUND] = param.lmr_state.bound;
	return result;
}

static DAT_RETURN lmr_fmr(struct session *s, struct rnic_kdat_call *c)
{
	u64 type = c->in[1], count = c->in[2], memory = c->in[8];
	u64 page_size = c->in[9];
	DAT_PADDR list[RNIC_KDAT_PAGES];
	DAT_REGION_DESCRIPTION region = {};
	DAT_LMR_COOKIE cookie = { .as_64 = c->in[6] };
	DAT_LMR_CONTEXT lmr_context = 0;
	DAT_RMR_CONTEXT rmr_context = 0;
	DAT_RETURN result;

	if (count > RNIC_KDAT_PAGES ||
	    !region_of(s, c, type, 0, memory, 0, page_size, list, &region) ||
	    !holds_pages(s, c, type, count, memory, page_size))
		return MISUSED;
	if (c->nulls & RNIC_KDAT_NULL(2))
		memset(&region, 0, sizeof(region));
	keep_memory(s, memory);
	result = dat_lmr_fmr(handle_of(s, c->in[0]), type, region, count,
			     c->in[3], c->in[4], handle_of(s, c->in[5]), cookie,
			     c->in[7], OUT(c, 0, &lmr_context),
			     OUT(c, 1, &rmr_context));
	c->out[0] = lmr_context;
	c->out[1] = rmr_context;
	return result;
}

static DAT_RETURN lmr_invalidate(struct session *s, struct rnic_kdat_call *c)
{
	DAT_LMR_COOKIE cookie = { .as_64 = c->in[2] };

	return dat_lmr_invalidate(handle_of(s, c->in[0]),
				  handle_of(s, c->in[1]), cookie, c->in[3]);
}

static DAT_RETURN lmr_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_lmr_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

static DAT_RETURN lmr_sync_read(struct session *s, struct rnic_kdat_call *c)
{
	if (c->in[1] > MAX_COUNT || !take_segments(s, c, c->in[1]))
		return MISUSED;
	return dat_lmr_sync_rdma_read(handle_of(s, c->in[0]),
				      OUT(c, 0, s->segments), c->in[1]);
}

static DAT_RETURN lmr_sync_write(struct session *s, struct rnic_kdat_call *c)
{
	if (c->in[1] > MAX_COUNT || !take_segments(s, c, c->in[1]))
		return MISUSED;
	return dat_lmr_sync_rdma_write(handle_of(s, c->in[0]),
				       OUT(c, 0, s->segments), c->in[1]);
}

static DAT_RETURN create_rmr(struct session *s, struct rnic_kdat_call *c)
{
	DAT_PZ_HANDLE pz = handle_of(s, c->in[0]);
	DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
	DAT_RETURN result;

	if (c->number == RNIC_KDAT_RMR_CREATE)
		result = dat_rmr_create(pz, OUT(c, 0, &rmr));
	else
		result = dat_rmr_create_for_ep(pz, OUT(c, 0, &rmr));
	if (result == DAT_SUCCESS)
		c->out[0] = hold(s, rmr, ia_of(s, c->in[0]), NULL);
	return result;
}

static DAT_RETURN rmr_query(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RMR_PARAM param = {};
	DAT_RETURN result = dat_rmr_query(handle_of(s, c->in[0]), c->in[1],
					  OUT(c, 0, &param));

	c->out[0] = id_of(s, param.ia_handle);
	c->out[1] = id_of(s, param.pz_handle);
	c->out[2] = param.lmr_triplet.virtual_address;
	c->out[3] = param.lmr_triplet.segment_length;
	c->out[4] = param.lmr_triplet.lmr_context;
	c->out[5] = param.mem_priv;
	c->out[6] = param.rmr_context;
	c->out[7] = param.rmr_scope;
	c->out[8] = param.va_type;
	return result;
}

static DAT_RETURN rmr_bind(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RMR_COOKIE cookie = { .as_64 = c->in[5] };
	DAT_RMR_CONTEXT context = 0;
	DAT_RETURN result;

	if (!take_segments(s, c, 1))
		return MISUSED;
	result = dat_rmr_bind(handle_of(s, c->in[0]), handle_of(s, c->in[1]),
			      OUT(c, 0, &s->segments[0]), c->in[2], c->in[3],
			      handle_of(s, c->in[4]), cookie, c->in[6],
			      OUT(c, 1, &context));
	c->out[0] = context;
	return result;
}

static DAT_RETURN rmr_free(struct session *s, struct rnic_kdat_call *c)
{
	DAT_RETURN result = dat_rmr_free(handle_of(s, c->in[0]));

	if (result == DAT_SUCCESS)
		drop(s, c->in[0]);
	return result;
}

const struct call memory_calls[RNIC_KDAT_END] = {
	[RNIC_KDAT_LMR_KCREATE] = { lmr_kcreate },
	[RNIC_KDAT_LMR_ALLOCATE] = { lmr_allocate },
	[RNIC_KDAT_LMR_QUERY] = { lmr_query, true },
	[RNIC_KDAT_LMR_FMR] = { lmr_fmr, true },
	[RNIC_KDAT_LMR_INVALIDATE] = { lmr_invalidate, true },
	[RNIC_KDAT_LMR_FREE] = { lmr_free },
	[RNIC_KDAT_LMR_SYNC_RDMA_READ] = { lmr_sync_read, true },
	[RNIC_KDAT_LMR_SYNC_RDMA_WRITE] = { lmr_sync_write, true },
	[RNIC_KDAT_RMR_CREATE] = { create_rmr },
	[RNIC_KDAT_RMR_CREATE_FOR_EP] = { create_rmr },
	[RNIC_KDAT_RMR_QUERY] = { rmr_query, true },
	[RNIC_KDAT_RMR_BIND] = { rmr_bind, true },
	[RNIC_KDAT_RMR_FREE] = { rmr_free },
};
