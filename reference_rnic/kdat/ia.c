// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Interface adapters. */
#include <linux/slab.h>

#include "provider.h"

#define LEAST_ASYNC_EVENTS 8

static DAT_RETURN make_async_evd(struct kdat_ia *ia, DAT_COUNT qlen,
				 DAT_EVD_HANDLE *async_evd)
{
	DAT_RETURN result;

	/* One of another IA would go with that. */
	if (*async_evd != DAT_HANDLE_NULL)
		return DAT_ERROR(DAT_INVALID_HANDLE,
				 DAT_INVALID_HANDLE_EVD_ASYNC);
	result = kdat_make_evd(ia, max(qlen, LEAST_ASYNC_EVENTS),
			       DAT_UPCALL_DISABLE, NULL, DAT_EVD_ASYNC_FLAG,
			       &ia->async_evd);
	if (result != DAT_SUCCESS)
		return result;
	*async_evd = ia->async_evd;
	atomic_inc(&ia->async_evd->object.users);
	return DAT_SUCCESS;
}

/* False if the device is being removed: nobody would tell this IA. */
static bool join_device(struct kdat_ia *ia)
{
	bool removed;

	spin_lock(&ia->device->lock);
	removed = ia->device->removed;
	if (!removed)
		list_add_tail(&ia->of_device, &ia->device->ias);
	spin_unlock(&ia->device->lock);
	return !removed;
}

DAT_RETURN kdat_ia_open(const char *name, DAT_COUNT async_qlen,
			DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *made)
{
	struct kdat_ia *ia = kzalloc(sizeof(*ia), GFP_KERNEL);
	DAT_RETURN result;

	if (!ia)
		return KDAT_NO_MEMORY;
	spin_lock_init(&ia->lock);
	INIT_LIST_HEAD(&ia->objects);
	INIT_LIST_HEAD(&ia->dead_works);
	xa_init(&ia->lmrs);
	xa_init_flags(&ia->rmrs, XA_FLAGS_LOCK_IRQ);
	ia->device = kdat_device_of(name);
	result = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	if (!ia->device)
		goto free;
	/* It is none of its own objects, so it is not in their list. */
	ia->object.provider = &ia->device->provider;
	ia->object.type = DAT_HANDLE_TYPE_IA;
	ia->object.ia = ia;
	result =
		DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
	if (kdat_find_address(ia->device->ib, &ia->address))
		goto free;
	result = make_async_evd(ia, async_qlen, async_evd);
	if (result != DAT_SUCCESS)
		goto free;
	if (join_device(ia)) {
		*made = ia;
		return DAT_SUCCESS;
	}
	result = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	kdat_destroy_evd(ia->async_evd);
free:
	kfree(ia);
	return result;
}

static struct kdat_object *first_of(struct kdat_ia *ia, DAT_HANDLE_TYPE type)
{
	struct kdat_object *each, *found = NULL;

	spin_lock_irq(&ia->lock);
	list_for_each_entry(each, &ia->objects, of_ia)
		if (!found && each->type == type)
			found = each;
	spin_unlock_irq(&ia->lock);
	return found;
}

#define DESTROY_ALL(ia, TYPE, destroy, member)                               \
	do {                                                                 \
		struct kdat_object *_each;                                   \
		while ((_each = first_of(ia, DAT_HANDLE_TYPE_##TYPE)))       \
			destroy(container_of(_each, struct member, object)); \
	} while (0)

static void destroy_objects(struct kdat_ia *ia)
{
	DESTROY_ALL(ia, PSP, kdat_destroy_sp, kdat_sp);
	DESTROY_ALL(ia, RSP, kdat_destroy_sp, kdat_sp);
	DESTROY_ALL(ia, CSP, kdat_destroy_sp, kdat_sp);
	DESTROY_ALL(ia, CR, kdat_destroy_cr, kdat_cr);
	DESTROY_ALL(ia, EP, kdat_destroy_ep, kdat_ep);
	DESTROY_ALL(ia, SRQ, kdat_destroy_srq, kdat_srq);
	DESTROY_ALL(ia, RMR, kdat_destroy_rmr, kdat_rmr);
	DESTROY_ALL(ia, LMR, kdat_destroy_lmr, kdat_lmr);
	DESTROY_ALL(ia, PZ, kdat_pz_free, kdat_pz);
	DESTROY_ALL(ia, EVD, kdat_destroy_evd, kdat_evd);
}

/* Its own dispatcher, and the reserved region, are not the consumer's. */
static bool has_objects(struct kdat_ia *ia)
{
	struct kdat_object *each;
	bool has = false;

	spin_lock_irq(&ia->lock);
	list_for_each_entry(each, &ia->objects, of_ia)
		has |= each != &ia->async_evd->object &&
		       !(ia->reserved && each == &ia->reserved->object);
	spin_unlock_irq(&ia->lock);
	return has;
}

DAT_RETURN kdat_ia_close(DAT_IA_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_device *device;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
		return KDAT_INVALID(2);
	if (flags == DAT_CLOSE_GRACEFUL_FLAG && has_objects(ia))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_IA_IN_USE);
	device = ia->device;
	spin_lock(&device->lock);
	list_del(&ia->of_device);
	spin_unlock(&device->lock);
	ia->object.type = -1;
	destroy_objects(ia);
	kdat_free_works(&ia->dead_works);
	xa_destroy(&ia->lmrs);
	xa_destroy(&ia->rmrs);
	kfree(ia);
	return DAT_SUCCESS;
}

static void describe_ia(const struct kdat_ia *ia, DAT_IA_ATTR *attr)
{
	struct ib_device *ib = ia->device->ib;
	const struct ib_device_attr *limits = &ib->attrs;

	memset(attr, 0, sizeof(*attr));
	strscpy(attr->adapter_name, dev_name(&ib->dev),
		sizeof(attr->adapter_name));
	snprintf(attr->vendor_name, sizeof(attr->vendor_name), "0x%x",
		 limits->vendor_id);
	attr->ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
	attr->max_eps = limits->max_qp;
	attr->max_dto_per_ep = limits->max_qp_wr - 1;
	attr->max_rdma_read_per_ep_in = min(limits->max_qp_rd_atom, U8_MAX);
	attr->max_rdma_read_per_ep_out =
		min(limits->max_qp_init_rd_atom, U8_MAX);
	attr->max_evds = limits->max_cq;
	attr->max_evd_qlen = limits->max_cqe;
	attr->max_iov_segments_per_dto = min3(
		limits->max_send_sge, limits->max_recv_sge, KDAT_MAX_SEGMENTS);
	attr->max_lmrs = limits->max_mr;
	attr->max_lmr_block_size =
		(DAT_VLEN)limits->max_fast_reg_page_list_len * PAGE_SIZE;
	attr->max_pzs = limits->max_pd;
	attr->max_rmrs = limits->max_mr / KDAT_HALVES;
	attr->max_message_size = U32_MAX;
	attr->max_rdma_size = U32_MAX;
	attr->max_srqs = limits->max_srq;
	attr->max_recv_per_srq = limits->max_srq_wr;
	attr->max_iov_segments_per_rdma_read = limits->max_sge_rd;
	attr->max_iov_segments_per_rdma_write = attr->max_iov_segments_per_dto;
	attr->zb_supported = DAT_TRUE;
	attr->reserved_lmr_supported = DAT_TRUE;
}

static void describe_provider(const struct kdat_ia *ia, DAT_PROVIDER_ATTR *attr)
{
	struct ib_device *ib = ia->device->ib;

	memset(attr, 0, sizeof(*attr));
	strscpy(attr->provider_name, "kdat", sizeof(attr->provider_name));
	attr->provider_version_major = 1;
	attr->dapl_version_major = DAT_VERSION_MAJOR;
	attr->dapl_version_minor = DAT_VERSION_MINOR;
	attr->lmr_mem_types_supported =
		DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR |
		DAT_MEM_TYPE_PHYSICAL | DAT_MEM_TYPE_PHYSICAL_VAR_PAGES;
	attr->is_thread_safe = DAT_TRUE;
	attr->max_private_data_size = kdat_private_limit(ia);
	attr->upcall_policy = DAT_UPCALL_MANY;
	attr->srq_supported = ib->attrs.max_srq > 0;
	/* RFC 5040 3.2: the sink of a Read is written by its STag. */
	attr->rdma_write_for_rdma_read_req =
		rdma_protocol_iwarp(ib, rdma_start_port(ib));
	attr->is_interrupt_safe = DAT_TRUE;
	attr->fmr_supported = DAT_TRUE;
	attr->lmr_for_fmr_scope_supported = DAT_LMR_SCOPE_PZ;
}

DAT_RETURN kdat_ia_query(DAT_IA_HANDLE handle, DAT_EVD_HANDLE *async_evd,
			 DAT_IA_ATTR_MASK mask, DAT_IA_ATTR *attr,
			 DAT_PROVIDER_ATTR_MASK provider_mask,
			 DAT_PROVIDER_ATTR *provider_attr)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (mask & ~DAT_IA_FIELD_ALL)
		return KDAT_INVALID(3);
	if (mask && !attr)
		return KDAT_INVALID(4);
	if (provider_mask & ~DAT_PROVIDER_FIELD_ALL)
		return KDAT_INVALID(5);
	if (provider_mask && !provider_attr)
		return KDAT_INVALID(6);
	if (async_evd)
		*async_evd = ia->async_evd;
	if (mask)
		describe_ia(ia, attr);
	if (provider_mask)
		describe_provider(ia, provider_attr);
	return DAT_SUCCESS;
}

DAT_RETURN kdat_ia_memtype_hint(DAT_IA_HANDLE handle, DAT_MEM_TYPE type,
				DAT_VLEN length, DAT_MEM_OPTIMIZE_FLAGS flags,
				DAT_VLEN *preferred, DAT_VADDR *alignment)
{
	const unsigned int known = DAT_MEM_OPTIMIZE_IA |
				   DAT_MEM_OPTIMIZE_MIN_EXPOSURE |
				   DAT_MEM_OPTIMIZE_EXACT_EXPOSURE;
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	DAT_VLEN most;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	switch (type) {
	case DAT_MEM_TYPE_VIRTUAL:
	case DAT_MEM_TYPE_PHYSICAL:
	case DAT_MEM_TYPE_PHYSICAL_VAR_PAGES:
		break;
	case DAT_MEM_TYPE_LMR:
	case DAT_MEM_TYPE_PLATFORM:
	case DAT_MEM_TYPE_IA:
	case DAT_MEM_TYPE_BYPASS:
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	default:
		return KDAT_INVALID(2);
	}
	most = (DAT_VLEN)ia->device->ib->attrs.max_fast_reg_page_list_len *
	       PAGE_SIZE;
	if (!length || length > most)
		return KDAT_INVALID(3);
	if (flags & ~known)
		return KDAT_INVALID(4);
	if (!preferred)
		return KDAT_INVALID(5);
	if (!alignment)
		return KDAT_INVALID(6);
	/* A region ends exactly where it should; its pages are whole. */
	*preferred = flags & DAT_MEM_OPTIMIZE_EXACT_EXPOSURE
			     ? length
			     : round_up(length, PAGE_SIZE);
	*alignment = PAGE_SIZE;
	return DAT_SUCCESS;
}
