// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What all objects have in common, and protection zones. */
#include <linux/slab.h>

#include "provider.h"

void kdat_add(struct kdat_ia *ia, struct kdat_object *object,
	      DAT_HANDLE_TYPE type)
{
	unsigned long flags;

	object->provider = &ia->device->provider;
	object->type = type;
	object->ia = ia;
	atomic_set(&object->users, 0);
	spin_lock_irqsave(&ia->lock, flags);
	list_add_tail(&object->of_ia, &ia->objects);
	spin_unlock_irqrestore(&ia->lock, flags);
}

/* The type goes as well, so that a late use of the handle has a chance. */
void kdat_forget(struct kdat_object *object)
{
	unsigned long flags;

	spin_lock_irqsave(&object->ia->lock, flags);
	list_del(&object->of_ia);
	spin_unlock_irqrestore(&object->ia->lock, flags);
	object->type = -1;
}

void *kdat_find(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
	struct kdat_object *object = handle;

	BUILD_BUG_ON(offsetof(struct kdat_object, provider));
	return object && object->type == type ? object : NULL;
}

static struct kdat_object *find_any(DAT_HANDLE handle)
{
	struct kdat_object *object = handle;

	return object && object->type >= DAT_HANDLE_TYPE_CR &&
			       object->type <= DAT_HANDLE_TYPE_CSP
		       ? object
		       : NULL;
}

DAT_RETURN kdat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	struct kdat_object *object = find_any(handle);

	if (!object)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	object->context = context;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	struct kdat_object *object = find_any(handle);

	if (!object)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (!context)
		return KDAT_INVALID(2);
	*context = object->context;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	struct kdat_object *object = find_any(handle);

	if (!object)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (!type)
		return KDAT_INVALID(2);
	*type = object->type;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_pz_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE *made)
{
	struct kdat_ia *ia = KDAT_FIND(handle, IA);
	struct kdat_pz *pz;

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!made)
		return KDAT_INVALID(2);
	pz = kzalloc(sizeof(*pz), GFP_KERNEL);
	if (!pz)
		return KDAT_NO_MEMORY;
	pz->pd = ib_alloc_pd(ia->device->ib, 0);
	if (IS_ERR(pz->pd)) {
		kfree(pz);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_PROTECTION_DOMAIN);
	}
	kdat_init_registrar(&pz->registrar);
	kdat_add(ia, &pz->object, DAT_HANDLE_TYPE_PZ);
	*made = pz;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_pz_query(DAT_PZ_HANDLE handle, DAT_PZ_PARAM_MASK mask,
			 DAT_PZ_PARAM *param)
{
	struct kdat_pz *pz = KDAT_FIND(handle, PZ);

	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	if (mask & ~DAT_PZ_FIELD_ALL)
		return KDAT_INVALID(2);
	if (!param)
		return KDAT_INVALID(3);
	param->ia_handle = pz->object.ia;
	return DAT_SUCCESS;
}

DAT_RETURN kdat_pz_free(DAT_PZ_HANDLE handle)
{
	struct kdat_pz *pz = KDAT_FIND(handle, PZ);

	might_sleep();
	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	if (atomic_read(&pz->object.users))
		return DAT_ERROR(DAT_INVALID_STATE,
				 DAT_INVALID_STATE_PZ_IN_USE);
	kdat_forget(&pz->object);
	kdat_stop_registrar(&pz->registrar);
	ib_dealloc_pd(pz->pd);
	kfree(pz);
	return DAT_SUCCESS;
}
