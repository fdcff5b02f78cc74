// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Local memory regions: made at once, or allocated for fast registration. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "provider.h"

int kdat_access(DAT_MEM_PRIV_FLAGS privileges)
{
	int access = 0;

	if (privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
		access |= IB_ACCESS_LOCAL_WRITE;
	if (privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG)
		access |= IB_ACCESS_REMOTE_READ;
	/* The verbs give no remote writing without local writing. */
	if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	return access;
}

struct kdat_lmr *kdat_lmr_of(struct kdat_ia *ia, DAT_LMR_CONTEXT context)
{
	struct kdat_lmr *lmr = xa_load(&ia->lmrs, context >> 8);

	return lmr && lmr->stag == context && READ_ONCE(lmr->bound) ? lmr
								    : NULL;
}

static DAT_RETURN make_lmr(struct kdat_pz *pz, u32 max_pages,
			   struct kdat_lmr **made)
{
	struct kdat_ia *ia = pz->object.ia;
	struct kdat_lmr *lmr = kzalloc(sizeof(*lmr), GFP_KERNEL);

	if (!lmr)
		return KDAT_NO_MEMORY;
	lmr->pz = pz;
	lmr->max_pages = max_pages;
	atomic_set(&lmr->working, 0);
	lmr->entries = kvcalloc(max_pages, sizeof(*lmr->entries), GFP_KERNEL);
	if (!lmr->entries)
		goto free;
	lmr->mr = ib_alloc_mr(pz->pd, IB_MR_TYPE_MEM_REG, max_pages);
	if (IS_ERR(lmr->mr))
		goto free;
	lmr->stag = lmr->mr->rkey;
	if (xa_is_err(xa_store(&ia->lmrs, lmr->stag >> 8, lmr, GFP_KERNEL)))
		goto dereg;
	atomic_inc(&pz->object.users);
	kdat_add(ia, &lmr->object, DAT_HANDLE_TYPE_LMR);
	*made = lmr;
	return DAT_SUCCESS;

dereg:
	ib_dereg_mr(lmr->mr);
free:
	kvfree(lmr->entries);
	kfree(lmr);
	return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
			 DAT_RESOURCE_MEMORY_REGION);
}

void kdat_destroy_lmr(struct kdat_lmr *lmr)
{
	struct kdat_ia *ia = lmr->object.ia;

	kdat_forget(&lmr->object);
	if (lmr == ia->reserved) {
		kfree(lmr);
		ia->reserved = NULL;
		return;
	}
	xa_erase(&ia->lmrs, lmr->stag >> 8);
	kdat_unmap_region(lmr);
	ib_dereg_mr(lmr->mr);
	atomic_dec(&lmr->pz->object.users);
	kvfree(lmr->entries);
	kfree(lmr);
}

/* An STag whose last octet is another one than before. */
static void choose_stag(struct kdat_lmr *lmr)
{
	ib_update_fast_reg_key(lmr->mr, ib_inc_rkey(lmr->stag) & 0xff);
	lmr->stag = lmr->mr->rkey;
}

static DAT_RETURN check_rights(DAT_MEM_PRIV_FLAGS privileges,
			       DAT_VA_TYPE va_type,
			       DAT_MEM_OPTIMIZE_FLAGS flags)
{
	const unsigned int known = DAT_MEM_OPTIMIZE_IA |
				   DAT_MEM_OPTIMIZE_MIN_EXPOSURE |
				   DAT_MEM_OPTIMIZE_EXACT_EXPOSURE;

	if (privileges & ~DAT_MEM_PRIV_ALL_FLAG)
		return KDAT_INVALID(6);
	if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
		return KDAT_INVALID(7);
	return flags & ~known ? KDAT_INVALID(8) : DAT_SUCCESS;
}

/* The pages of a device's region, which begins at a page's start for hardware. */
static bool fits(const struct kdat_pz *pz, const DAT_REGION_DESCRIPTION *region,
		 DAT_MEM_TYPE type, DAT_VLEN length, DAT_VA_TYPE va_type)
{
	struct ib_device *ib = pz->pd->device;

	if (!length || kdat_pages_of(type, region, length) >
			       ib->attrs.max_fast_reg_page_list_len)
		return false;
	return va_type == DAT_VA_TYPE_VA || type != DAT_MEM_TYPE_VIRTUAL ||
	       !offset_in_page(region->for_va) || ib_uses_virt_dma(ib);
}

static DAT_RETURN register_region(struct kdat_lmr *lmr,
				  const struct kdat_lmr *like)
{
	DAT_RETURN result = kdat_map_region(lmr, like);

	if (result != DAT_SUCCESS)
		return result;
	choose_stag(lmr);
	if (kdat_register(lmr->pz, lmr))
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_MEMORY_REGION);
	WRITE_ONCE(lmr->bound, true);
	return DAT_SUCCESS;
}

static DAT_RETURN create(struct kdat_pz *pz, DAT_MEM_TYPE type,
			 const DAT_REGION_DESCRIPTION *region, DAT_VLEN length,
			 DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			 const struct kdat_lmr *like, struct kdat_lmr **made)
{
	struct kdat_lmr *lmr;
	DAT_RETURN result = kdat_check_region(type, region, length);

	if (!like && result != DAT_SUCCESS)
		return result;
	if (!fits(pz, region, type, length, va_type))
		return KDAT_INVALID(4);
	result = make_lmr(pz, kdat_pages_of(type, region, length), &lmr);
	if (result != DAT_SUCCESS)
		return result;
	lmr->mem_type = type;
	lmr->region = *region;
	lmr->length = length;
	lmr->privileges = privileges;
	lmr->va_type = va_type;
	result = register_region(lmr, like);
	if (result == DAT_SUCCESS)
		*made = lmr;
	else
		kdat_destroy_lmr(lmr);
	return result;
}

static DAT_RETURN check_zone(const struct kdat_ia *ia, const struct kdat_pz *pz)
{
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!pz || pz->object.ia != ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_lmr_kcreate(
	DAT_IA_HANDLE handle, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
	DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
	DAT_VA_TYPE va_type, DAT_MEM_OPTIMIZE_FLAGS flags, DAT_LMR_HANDLE *made,
	DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
	DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_pz *pz = KDAT_FIND(pz_handle, PZ);
	const struct kdat_lmr *like = NULL;
	struct kdat_lmr *lmr;
	DAT_RETURN result;

	might_sleep();
	result = check_zone(ia, pz);
	if (result == DAT_SUCCESS)
		result = check_rights(privileges, va_type, flags);
	if (result != DAT_SUCCESS)
		return result;
	if (!made || !lmr_context)
		return KDAT_INVALID(9);
	if (type == DAT_MEM_TYPE_LMR) {
		like = KDAT_FIND(region.for_lmr_handle, LMR);
		if (!like || like->object.ia != ia)
			return DAT_ERROR(DAT_INVALID_HANDLE,
					 DAT_INVALID_HANDLE_LMR);
		if (!like->bound)
			return DAT_ERROR(DAT_INVALID_STATE,
					 DAT_INVALID_STATE_LMR_FREE);
	}
	result = create(pz, like ? like->mem_type : type,
			like ? &like->region : &region,
			like ? like->length : length, privileges, va_type, like,
			&lmr);
	if (result != DAT_SUCCESS)
		return result;
	if (like)
		lmr->source = region.for_lmr_handle;
	*made = lmr;
	*lmr_context = lmr->stag;
	if (rmr_context)
		*rmr_context = lmr->stag;
	if (registered_length)
		*registered_length = lmr->length;
	if (registered_address)
		*registered_address = lmr->address;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_lmr_allocate(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz_handle,
			     DAT_COUNT max_pages, DAT_LMR_SCOPE scope,
			     DAT_LMR_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_pz *pz = KDAT_FIND(pz_handle, PZ);
	struct kdat_lmr *lmr;
	DAT_RETURN result;

	might_sleep();
	result = check_zone(ia, pz);
	if (result != DAT_SUCCESS)
		return result;
	if (max_pages < 1 ||
	    max_pages > ia->device->ib->attrs.max_fast_reg_page_list_len)
		return KDAT_INVALID(3);
	/* An STag of an iWARP region belongs to a zone (RFC 5040 4.1). */
	if (scope == DAT_LMR_SCOPE_EP)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (scope != DAT_LMR_SCOPE_PZ)
		return KDAT_INVALID(4);
	if (!made)
		return KDAT_INVALID(5);
	result = make_lmr(pz, max_pages, &lmr);
	if (result != DAT_SUCCESS)
		return result;
	lmr->fast = true;
	lmr->mem_type = DAT_MEM_TYPE_PHYSICAL;
	*made = lmr;
	return DAT_SUCCESS;
}

static void describe(struct kdat_lmr *lmr, DAT_LMR_PARAM *param)
{
	*param = (DAT_LMR_PARAM){
		.ia_handle = lmr->object.ia,
		.mem_type = lmr->source ? DAT_MEM_TYPE_LMR : lmr->mem_type,
		.region_desc = lmr->region,
		.length = lmr->length,
		.pz_handle = lmr->pz,
		.mem_priv = lmr->privileges,
		.va_type = lmr->va_type,
		.lmr_context = lmr->stag,
		.rmr_context = lmr->stag,
		.registered_size = lmr->length,
		.registered_address = lmr->address,
		.lmr_state = { .fmr_support = lmr->fast,
			       .bound = READ_ONCE(lmr->bound) },
	};
	if (lmr->source)
		param->region_desc.for_lmr_handle = lmr->source;
}

DAT_RETURN kdat_lmr_query(DAT_LMR_HANDLE handle, DAT_LMR_PARAM_MASK mask,
			  DAT_LMR_PARAM *param)
{
	struct kdat_lmr *lmr = KDAT_FIND(handle, LMR);

	if (!lmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	if (mask & ~DAT_LMR_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	describe(lmr, param);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_lmr_free(DAT_LMR_HANDLE handle)
{
	struct kdat_lmr *lmr = KDAT_FIND(handle, LMR);

	might_sleep();
	if (!lmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	if (lmr == lmr->object.ia->reserved)
		return DAT_ERROR(DAT_RESERVED_LMR, DAT_NO_SUBTYPE);
	/* A posted request that names it, or an RMR, still reads its pages. */
	if (atomic_read(&lmr->working) || atomic_read(&lmr->object.users))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_LMR_IN_USE);
	kdat_destroy_lmr(lmr);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ia_reserved_lmr(DAT_IA_HANDLE handle, DAT_LMR_HANDLE *made,
				DAT_LMR_CONTEXT *context)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_lmr *lmr;

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!made)
		return KDAT_INVALID(2);
	if (!context)
		return KDAT_INVALID(3);
	if (!ia->reserved) {
		lmr = kzalloc(sizeof(*lmr), GFP_KERNEL);
		if (!lmr)
			return KDAT_NO_MEMORY;
		lmr->mem_type = DAT_MEM_TYPE_IA;
		lmr->length = U64_MAX;
		lmr->privileges = DAT_MEM_PRIV_LOCAL_READ_FLAG |
				  DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
		lmr->stag = KDAT_RESERVED_CONTEXT;
		lmr->bound = true;
		kdat_add(ia, &lmr->object, DAT_HANDLE_TYPE_LMR);
		ia->reserved = lmr;
	}
	*made = ia->reserved;
	*context = KDAT_RESERVED_CONTEXT;
	return DAT_SUCCESS;
}

/* Memory is coherent for the devices of ib_core: there is nothing to do. */
DAT_RETURN kdat_lmr_sync(DAT_IA_HANDLE handle, const DAT_LMR_TRIPLET *segments,
			 DAT_VLEN count)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	DAT_VLEN i;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!segments || !count)
		return KDAT_INVALID(2);
	for (i = 0; i < count; i++)
		if (!kdat_lmr_of(ia, segments[i].lmr_context))
			return KDAT_INVALID(2);
	return DAT_SUCCESS;
}
