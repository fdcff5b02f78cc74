// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Fast registration of physical pages, and local invalidation. In any context. */
#include <linux/mm.h>

#include "provider.h"

#define PAGES_AT_MOST (1ULL << 32)

static DAT_RETURN check_pair(const struct kdat_lmr *lmr,
			     const struct kdat_ep *ep)
{
	if (!lmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (lmr->pz != ep->pz)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	/* Only what dat_lmr_allocate has made is for it. */
	return lmr->fast ? DAT_SUCCESS : KDAT_INVALID(1);
}

static DAT_RETURN check_pages(const struct kdat_lmr *lmr, DAT_MEM_TYPE type,
			      const DAT_REGION_DESCRIPTION *region,
			      DAT_VLEN page_count, DAT_VLEN *length)
{
	DAT_RETURN result;

	if (type == DAT_MEM_TYPE_VIRTUAL || type == DAT_MEM_TYPE_LMR)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (!page_count || page_count > PAGES_AT_MOST)
		return KDAT_INVALID(4);
	/* Of consumer pages, whose size is checked with them. */
	*length = page_count *
		  (type == DAT_MEM_TYPE_PHYSICAL_VAR_PAGES
			   ? min_t(u64, region->for_array.page_size, SZ_1G)
			   : PAGE_SIZE);
	if (*length > (u64)lmr->max_pages * PAGE_SIZE)
		return KDAT_INVALID(4);
	result = kdat_check_region(type, region, *length);
	return result;
}

static DAT_RETURN map(struct kdat_lmr *lmr, DAT_MEM_TYPE type,
		      const DAT_REGION_DESCRIPTION *region, DAT_VLEN length,
		      DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type)
{
	DAT_RETURN result;

	lmr->mem_type = type;
	lmr->region = *region;
	lmr->length = length;
	lmr->privileges = privileges;
	lmr->va_type = va_type;
	result = kdat_map_region(lmr, NULL);
	if (result != DAT_SUCCESS)
		return result;
	ib_update_fast_reg_key(lmr->mr, ib_inc_rkey(lmr->stag) & 0xff);
	lmr->stag = lmr->mr->rkey;
	return DAT_SUCCESS;
}

static bool take(struct kdat_lmr *lmr)
{
	if (READ_ONCE(lmr->bound))
		return false;
	return atomic_cmpxchg(&lmr->working, 0, 1) == 0;
}

DAT_RETURN kdat_lmr_fmr(DAT_LMR_HANDLE handle, DAT_MEM_TYPE type,
			DAT_REGION_DESCRIPTION region, DAT_VLEN page_count,
			DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			DAT_EP_HANDLE ep_handle, DAT_LMR_COOKIE cookie,
			DAT_COMPLETION_FLAGS flags,
			DAT_LMR_CONTEXT *lmr_context,
			DAT_RMR_CONTEXT *rmr_context)
{
	const unsigned int known = DAT_COMPLETION_SUPPRESS_FLAG |
				   DAT_COMPLETION_BARRIER_FENCE_FLAG;
	struct kdat_lmr *lmr = KDAT_FIND(handle, LMR);
	struct kdat_ep *ep = KDAT_FIND(ep_handle, EP);
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR };
	struct kdat_work *work;
	DAT_RETURN result = check_pair(lmr, ep);
	DAT_VLEN length;

	if (result != DAT_SUCCESS)
		return result;
	result = check_pages(lmr, type, &region, page_count, &length);
	if (result != DAT_SUCCESS)
		return result;
	if (privileges & ~DAT_MEM_PRIV_ALL_FLAG)
		return KDAT_INVALID(5);
	if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
		return KDAT_INVALID(6);
	if (flags & ~known)
		return KDAT_INVALID(9);
	if (!lmr_context || !rmr_context)
		return KDAT_INVALID(10);
	result = kdat_check_request_state(ep);
	if (result != DAT_SUCCESS)
		return result;
	work = kdat_make_work(ep->pz, cookie, DAT_DTO_LMR_FMR, 0);
	if (!work)
		return KDAT_NO_MEMORY;
	if (!take(lmr)) {
		kdat_free_work(work);
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_LMR_IN_USE);
	}
	work->lmr = lmr;
	result = map(lmr, type, &region, length, privileges, va_type);
	if (result != DAT_SUCCESS) {
		kdat_free_work(work);
		return result;
	}
	wr.mr = lmr->mr;
	wr.key = lmr->stag;
	wr.access = kdat_access(privileges);
	/* Work that is posted after it may name it. */
	WRITE_ONCE(lmr->bound, true);
	*lmr_context = lmr->stag;
	*rmr_context = lmr->stag;
	result = kdat_post_request(ep, work, &wr.wr, flags);
	if (result != DAT_SUCCESS)
		WRITE_ONCE(lmr->bound, false);
	return result;
}

DAT_RETURN kdat_lmr_invalidate(DAT_LMR_HANDLE handle, DAT_EP_HANDLE ep_handle,
			       DAT_LMR_COOKIE cookie,
			       DAT_COMPLETION_FLAGS flags)
{
	const unsigned int known = DAT_COMPLETION_SUPPRESS_FLAG |
				   DAT_COMPLETION_BARRIER_FENCE_FLAG |
				   DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG;
	struct kdat_lmr *lmr = KDAT_FIND(handle, LMR);
	struct kdat_ep *ep = KDAT_FIND(ep_handle, EP);
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV };
	struct kdat_work *work;
	DAT_RETURN result = check_pair(lmr, ep);

	if (result != DAT_SUCCESS)
		return result;
	if (flags & ~known)
		return KDAT_INVALID(4);
	result = kdat_check_request_state(ep);
	if (result != DAT_SUCCESS)
		return result;
	if (!READ_ONCE(lmr->bound))
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_FREE);
	work = kdat_make_work(ep->pz, cookie, DAT_DTO_LMR_INVALIDATE, 0);
	if (!work)
		return KDAT_NO_MEMORY;
	atomic_inc(&lmr->working);
	work->lmr = lmr;
	wr.ex.invalidate_rkey = lmr->stag;
	/* Work that is posted after it must not name it. */
	WRITE_ONCE(lmr->bound, false);
	result = kdat_post_request(ep, work, &wr, flags);
	if (result != DAT_SUCCESS)
		WRITE_ONCE(lmr->bound, true);
	return result;
}
