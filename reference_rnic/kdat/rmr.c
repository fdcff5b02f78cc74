// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Remote memory regions. The verbs of the kernel have no memory windows for
 * its own consumers: a fast registration of the same pages takes their place,
 * as in the kernel's own protocols. Each RMR has two, of which one is bound:
 * the pages of the other can be mapped while peers still use the first.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "provider.h"

#define MOST_PAGES 512

/* ---------------------------------------------------------------- the object */

static void free_half(struct kdat_half *half)
{
	if (half->mapped)
		ib_dma_unmap_sg(half->mr->device, half->entries, half->mapped,
				DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(half->mr))
		ib_dereg_mr(half->mr);
	kvfree(half->entries);
}

static int make_half(struct kdat_rmr *rmr, struct kdat_half *half)
{
	void *entry;

	half->entries =
		kvcalloc(rmr->max_pages, sizeof(*half->entries), GFP_KERNEL);
	if (!half->entries)
		return -ENOMEM;
	half->mr = ib_alloc_mr(rmr->pz->pd, IB_MR_TYPE_MEM_REG, rmr->max_pages);
	if (IS_ERR(half->mr))
		return PTR_ERR(half->mr);
	entry = xa_store_irq(&rmr->pz->object.ia->rmrs, half->mr->rkey >> 8,
			     rmr, GFP_KERNEL);
	return xa_err(entry);
}

static void erase_half(struct kdat_ia *ia, const struct kdat_half *half)
{
	if (!IS_ERR_OR_NULL(half->mr))
		xa_erase_irq(&ia->rmrs, half->mr->rkey >> 8);
}

static void free_rmr(struct kdat_rmr *rmr)
{
	int i;

	for (i = 0; i < KDAT_HALVES; i++)
		erase_half(rmr->pz->object.ia, &rmr->half[i]);
	for (i = 0; i < KDAT_HALVES; i++)
		free_half(&rmr->half[i]);
	kfree(rmr);
}

DAT_RETURN kdat_rmr_create(DAT_PZ_HANDLE handle, DAT_RMR_HANDLE *made)
{
	struct kdat_pz *pz = KDAT_FIND(handle, PZ);
	struct kdat_rmr *rmr;

	might_sleep();
	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	if (!made)
		return KDAT_INVALID(2);
	rmr = kzalloc(sizeof(*rmr), GFP_KERNEL);
	if (!rmr)
		return KDAT_NO_MEMORY;
	rmr->pz = pz;
	rmr->max_pages =
		min_t(u32, MOST_PAGES,
		      pz->pd->device->attrs.max_fast_reg_page_list_len);
	if (make_half(rmr, &rmr->half[0]) || make_half(rmr, &rmr->half[1])) {
		free_rmr(rmr);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_MEMORY_REGION);
	}
	atomic_inc(&pz->object.users);
	kdat_add(pz->object.ia, &rmr->object, DAT_HANDLE_TYPE_RMR);
	*made = rmr;
	return DAT_SUCCESS;
}

/* As for LMRs: an STag of an iWARP region belongs to a zone. */
DAT_RETURN kdat_rmr_create_for_ep(DAT_PZ_HANDLE handle, DAT_RMR_HANDLE *made)
{
	might_sleep();
	if (!KDAT_FIND(handle, PZ))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}

DAT_RETURN kdat_rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask,
			  DAT_RMR_PARAM *param)
{
	struct kdat_rmr *rmr = KDAT_FIND(handle, RMR);

	if (!rmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	if (mask & ~DAT_RMR_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	*param = (DAT_RMR_PARAM){
		.ia_handle = rmr->object.ia,
		.pz_handle = rmr->pz,
		.lmr_triplet = rmr->segment,
		.mem_priv = rmr->privileges,
		.rmr_context = rmr->stag,
		.rmr_scope = DAT_RMR_SCOPE_PZ,
		.va_type = rmr->va_type,
	};
	return DAT_SUCCESS;
}

/* Its region can be freed again. With the lock of the IA. */
static void leave_region(struct kdat_lmr **lmr)
{
	if (*lmr)
		atomic_dec(&(*lmr)->object.users);
	*lmr = NULL;
}

void kdat_destroy_rmr(struct kdat_rmr *rmr)
{
	struct kdat_ia *ia = rmr->object.ia;

	/* A bind that is posted still reads its pages, and always completes. */
	wait_var_event(&rmr->working, !atomic_read(&rmr->working));
	kdat_forget(&rmr->object);
	spin_lock_irq(&ia->lock);
	leave_region(&rmr->lmr);
	leave_region(&rmr->leaving);
	spin_unlock_irq(&ia->lock);
	atomic_dec(&rmr->pz->object.users);
	free_rmr(rmr);
}

DAT_RETURN kdat_rmr_free(DAT_RMR_HANDLE handle)
{
	struct kdat_rmr *rmr = KDAT_FIND(handle, RMR);

	might_sleep();
	if (!rmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	kdat_destroy_rmr(rmr);
	return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- checks */

struct binding {
	struct kdat_rmr *rmr;
	struct kdat_lmr *lmr;
	struct kdat_ep *ep;
	DAT_LMR_TRIPLET segment;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
};

static DAT_RETURN check_handles(const struct binding *to)
{
	if (!to->rmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	if (!to->lmr || to->lmr == to->lmr->object.ia->reserved)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	if (!to->ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (to->rmr->pz != to->lmr->pz || to->rmr->pz != to->ep->pz)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	return DAT_SUCCESS;
}

static DAT_RETURN check_rights(const struct binding *to)
{
	const DAT_MEM_PRIV_FLAGS own = to->lmr->privileges;

	if (to->privileges & ~DAT_MEM_PRIV_ALL_FLAG)
		return KDAT_INVALID(4);
	if (to->privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG &&
	    !(own & DAT_MEM_PRIV_LOCAL_READ_FLAG))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ);
	if (to->privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG &&
	    !(own & DAT_MEM_PRIV_LOCAL_WRITE_FLAG))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION,
				 DAT_PRIVILEGES_WRITE);
	return DAT_SUCCESS;
}

static DAT_RETURN check_segment(const struct binding *to)
{
	const struct kdat_lmr *lmr = to->lmr;
	u64 offset = to->segment.virtual_address - lmr->address;

	if (!READ_ONCE(lmr->bound) || to->segment.lmr_context != lmr->stag ||
	    to->segment.virtual_address < lmr->address ||
	    offset > lmr->length ||
	    to->segment.segment_length > lmr->length - offset)
		return KDAT_INVALID(3);
	return DAT_SUCCESS;
}

static DAT_RETURN check_binding(const struct binding *to)
{
	DAT_RETURN result = check_handles(to);

	if (result == DAT_SUCCESS)
		result = check_rights(to);
	if (result == DAT_SUCCESS && to->segment.segment_length)
		result = check_segment(to);
	if (result == DAT_SUCCESS && to->va_type != DAT_VA_TYPE_VA &&
	    to->va_type != DAT_VA_TYPE_ZB)
		result = KDAT_INVALID(5);
	return result;
}

/* ---------------------------------------------------------------- pages */

/* So many entries; 0: there is no room for all of them. */
static unsigned int fill(struct scatterlist *entries, unsigned int room,
			 const struct kdat_lmr *lmr, u64 offset, u64 length)
{
	struct scatterlist *entry = entries;
	unsigned int i, count = 0;

	for (i = 0; i < lmr->mapped && length; i++) {
		struct scatterlist *from = &lmr->entries[i];
		u64 part, place;

		if (offset >= from->length) {
			offset -= from->length;
			continue;
		}
		if (count++ == room)
			return 0;
		part = min_t(u64, from->length - offset, length);
		place = page_to_phys(sg_page(from)) + from->offset + offset;
		sg_set_page(entry, pfn_to_page(PHYS_PFN(place)), part,
			    offset_in_page(place));
		entry = sg_next(entry);
		length -= part;
		offset = 0;
	}
	return count;
}

static void unmap(struct kdat_half *half)
{
	if (half->mapped)
		ib_dma_unmap_sg(half->mr->device, half->entries, half->mapped,
				DMA_BIDIRECTIONAL);
	half->mapped = 0;
}

static DAT_RETURN map(struct kdat_half *half, const struct binding *to)
{
	struct ib_device *ib = half->mr->device;
	u64 offset = to->segment.virtual_address - to->lmr->address;
	unsigned int count;
	int mapped;

	unmap(half);
	sg_init_table(half->entries, to->rmr->max_pages);
	count = fill(half->entries, to->rmr->max_pages, to->lmr, offset,
		     to->segment.segment_length);
	mapped = count ? ib_dma_map_sg(ib, half->entries, count,
				       DMA_BIDIRECTIONAL)
		       : 0;
	if (!mapped)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_MEMORY_REGION);
	half->mapped = count;
	/* For hardware a region at 0 begins at a page's start. */
	if (to->va_type == DAT_VA_TYPE_ZB && half->entries->offset &&
	    !ib_uses_virt_dma(ib))
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (ib_map_mr_sg(half->mr, half->entries, mapped, NULL, PAGE_SIZE) !=
	    mapped)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_MEMORY_REGION);
	half->mr->iova =
		to->va_type == DAT_VA_TYPE_ZB ? 0 : to->segment.virtual_address;
	ib_update_fast_reg_key(half->mr, ib_inc_rkey(half->mr->rkey) & 0xff);
	return DAT_SUCCESS;
}

/* ---------------------------------------------------------------- the bind */

static void ignore(struct ib_cq *cq, struct ib_wc *wc)
{
}

/* Of an invalidation ahead of a bind, whose own completion says the same. */
static struct ib_cqe ignored = { .done = ignore };

/* What the RMR is from now on; what it was leaves when the bind completes. */
static bool become(struct kdat_rmr *rmr, const struct binding *to)
{
	struct kdat_ia *ia = rmr->object.ia;
	unsigned long flags;
	bool was_bound;

	spin_lock_irqsave(&ia->lock, flags);
	was_bound = rmr->bound;
	rmr->leaving = rmr->lmr;
	rmr->lmr = NULL;
	rmr->bound = to->segment.segment_length > 0;
	if (rmr->bound) {
		rmr->lmr = to->lmr;
		atomic_inc(&to->lmr->object.users);
		rmr->current_half ^= 1;
		rmr->stag = rmr->half[rmr->current_half].mr->rkey;
		rmr->segment = to->segment;
		rmr->privileges = to->privileges;
		rmr->va_type = to->va_type;
	}
	spin_unlock_irqrestore(&ia->lock, flags);
	return was_bound;
}

static void fail(struct kdat_rmr *rmr)
{
	struct kdat_ia *ia = rmr->object.ia;
	unsigned long flags;

	spin_lock_irqsave(&ia->lock, flags);
	rmr->bound = false;
	leave_region(&rmr->lmr);
	leave_region(&rmr->leaving);
	spin_unlock_irqrestore(&ia->lock, flags);
}

/* Without a window there is nothing to remove, and that is done. */
static DAT_RETURN tell_done(const struct binding *to, struct kdat_work *work)
{
	DAT_EVENT event;
	struct ib_wc wc = { .status = IB_WC_SUCCESS };
	bool silent = work->suppress;

	kdat_describe_bind(work, &wc, &event);
	kdat_free_work(work);
	if (!silent)
		kdat_tell(to->ep->request_evd, &event);
	return DAT_SUCCESS;
}

static DAT_RETURN post(const struct binding *to, struct kdat_work *work,
		       DAT_COMPLETION_FLAGS flags)
{
	struct kdat_rmr *rmr = to->rmr;
	struct ib_send_wr away = { .opcode = IB_WR_LOCAL_INV,
				   .ex.invalidate_rkey = rmr->stag };
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR };
	bool was_bound = become(rmr, to);
	DAT_RETURN result;

	if (!to->segment.segment_length && !was_bound)
		return tell_done(to, work);
	reg.mr = rmr->half[rmr->current_half].mr;
	reg.key = rmr->stag;
	reg.access = kdat_access(to->privileges);
	if (!to->segment.segment_length) {
		result = kdat_post_request(to->ep, work, &away, flags);
	} else if (!was_bound) {
		result = kdat_post_request(to->ep, work, &reg.wr, flags);
	} else {
		away.wr_cqe = &ignored;
		away.next = &reg.wr;
		result = kdat_post_chain(to->ep, work, &away, &reg.wr, flags);
	}
	if (result != DAT_SUCCESS)
		fail(rmr);
	return result;
}

/* One at a time: the pages of the one before are mapped until it is done. */
static DAT_RETURN bind(const struct binding *to, DAT_RMR_COOKIE cookie,
		       DAT_COMPLETION_FLAGS flags)
{
	struct kdat_rmr *rmr = to->rmr;
	struct kdat_work *work =
		kdat_make_work(to->ep->pz, cookie, DAT_DTO_BIND_MW, 0);
	DAT_RETURN result = DAT_SUCCESS;

	if (!work)
		return KDAT_NO_MEMORY;
	if (atomic_cmpxchg(&rmr->working, 0, 1)) {
		kdat_free_work(work);
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	}
	work->rmr = rmr;
	work->suppress = flags & DAT_COMPLETION_SUPPRESS_FLAG;
	if (to->segment.segment_length)
		result = map(&rmr->half[rmr->current_half ^ 1], to);
	if (result != DAT_SUCCESS) {
		kdat_free_work(work);
		return result;
	}
	return post(to, work, flags);
}

DAT_RETURN kdat_rmr_bind(DAT_RMR_HANDLE handle, DAT_LMR_HANDLE lmr_handle,
			 const DAT_LMR_TRIPLET *segment,
			 DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			 DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
			 DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
	const unsigned int known = DAT_COMPLETION_SUPPRESS_FLAG |
				   DAT_COMPLETION_BARRIER_FENCE_FLAG;
	struct binding to = {
		.rmr = KDAT_FIND(handle, RMR),
		.lmr = KDAT_FIND(lmr_handle, LMR),
		.ep = KDAT_FIND(ep_handle, EP),
		.privileges = privileges,
		.va_type = va_type,
	};
	DAT_RETURN result;

	if (segment)
		to.segment = *segment;
	result = check_binding(&to);
	if (result != DAT_SUCCESS)
		return result;
	if (!segment)
		return KDAT_INVALID(3);
	if (flags & ~known)
		return KDAT_INVALID(8);
	if (!context)
		return KDAT_INVALID(9);
	result = kdat_check_request_state(to.ep);
	if (result == DAT_SUCCESS)
		result = bind(&to, cookie, flags);
	if (result == DAT_SUCCESS)
		*context = to.rmr->stag;
	return result;
}

/* ---------------------------------------------------------------- completion */

void kdat_bind_done(struct kdat_rmr *rmr, bool success)
{
	struct kdat_ia *ia = rmr->object.ia;
	unsigned long flags;

	if (!success) {
		fail(rmr);
		return;
	}
	spin_lock_irqsave(&ia->lock, flags);
	leave_region(&rmr->leaving);
	spin_unlock_irqrestore(&ia->lock, flags);
	unmap(&rmr->half[rmr->current_half ^ 1]);
	if (!rmr->bound)
		unmap(&rmr->half[rmr->current_half]);
}

/* With the lock of the IA. */
static struct kdat_rmr *bound_as(struct kdat_ia *ia, DAT_RMR_CONTEXT context)
{
	struct kdat_rmr *rmr = xa_load(&ia->rmrs, context >> 8);

	return rmr && rmr->bound && rmr->stag == context ? rmr : NULL;
}

void kdat_peer_unbound(struct kdat_ia *ia, DAT_RMR_CONTEXT context)
{
	struct kdat_rmr *rmr;
	unsigned long flags;

	spin_lock_irqsave(&ia->lock, flags);
	rmr = bound_as(ia, context);
	if (rmr) {
		rmr->bound = false;
		leave_region(&rmr->lmr);
	}
	spin_unlock_irqrestore(&ia->lock, flags);
}

DAT_RETURN kdat_check_sink(struct kdat_pz *pz, const DAT_RMR_TRIPLET *sink)
{
	struct kdat_ia *ia = pz->object.ia;
	DAT_RETURN result = DAT_SUCCESS;
	const struct kdat_rmr *rmr;
	unsigned long flags;
	u64 start, offset;

	spin_lock_irqsave(&ia->lock, flags);
	rmr = bound_as(ia, sink->rmr_context);
	if (!rmr || !(rmr->privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)) {
		result = DAT_ERROR(DAT_PRIVILEGES_VIOLATION,
				   DAT_PRIVILEGES_WRITE);
	} else if (rmr->pz != pz) {
		result = DAT_ERROR(DAT_PROTECTION_VIOLATION,
				   DAT_PROTECTION_WRITE);
	} else {
		start = rmr->va_type == DAT_VA_TYPE_ZB
				? 0
				: rmr->segment.virtual_address;
		offset = sink->virtual_address - start;
		if (sink->virtual_address < start ||
		    offset > rmr->segment.segment_length ||
		    sink->segment_length > rmr->segment.segment_length - offset)
			result = KDAT_INVALID(2);
	}
	spin_unlock_irqrestore(&ia->lock, flags);
	return result;
}
