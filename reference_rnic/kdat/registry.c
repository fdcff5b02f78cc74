// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The registry: providers by the names of their IAs, of this module and others.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "provider.h"

struct registered {
	struct list_head entry;
	const DAT_PROVIDER *provider;
	DAT_PROVIDER_INFO info;
	unsigned int open; /* IAs */
	bool withdrawn;	   /* opened no more, and gone once none is open */
};

static DEFINE_MUTEX(registry_mutex);
static LIST_HEAD(registry);
static DECLARE_WAIT_QUEUE_HEAD(closed);

static struct registered *find_name(const char *name)
{
	struct registered *each;

	list_for_each_entry(each, &registry, entry)
		if (!each->withdrawn &&
		    !strncmp(each->info.ia_name, name, DAT_NAME_MAX_LENGTH))
			return each;
	return NULL;
}

static struct registered *find_provider(const DAT_PROVIDER *provider)
{
	struct registered *each;

	list_for_each_entry(each, &registry, entry)
		if (each->provider == provider)
			return each;
	return NULL;
}

static bool is_name(const char *name)
{
	size_t length = strnlen(name, DAT_NAME_MAX_LENGTH);

	return length > 0 && length < DAT_NAME_MAX_LENGTH;
}

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider,
				     const DAT_PROVIDER_INFO *info)
{
	struct registered *made;
	DAT_RETURN result = DAT_SUCCESS;

	might_sleep();
	if (!provider || !provider->ia_open_func || !provider->ia_close_func)
		return KDAT_INVALID(1);
	if (!info || !is_name(info->ia_name))
		return KDAT_INVALID(2);
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return KDAT_NO_MEMORY;
	made->provider = provider;
	made->info = *info;
	mutex_lock(&registry_mutex);
	if (find_name(info->ia_name))
		result = DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED,
				   DAT_NO_SUBTYPE);
	else
		list_add_tail(&made->entry, &registry);
	mutex_unlock(&registry_mutex);
	if (result != DAT_SUCCESS)
		kfree(made);
	return result;
}
EXPORT_SYMBOL_GPL(dat_registry_add_provider);

DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
					const DAT_PROVIDER_INFO *info)
{
	struct registered *found;
	DAT_RETURN result = DAT_SUCCESS;

	might_sleep();
	if (!provider)
		return KDAT_INVALID(1);
	if (!info)
		return KDAT_INVALID(2);
	mutex_lock(&registry_mutex);
	found = find_name(info->ia_name);
	if (!found || found->provider != provider)
		result = KDAT_INVALID(1);
	else if (found->open)
		result = DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE);
	else
		list_del(&found->entry);
	mutex_unlock(&registry_mutex);
	if (result == DAT_SUCCESS)
		kfree(found);
	return result;
}
EXPORT_SYMBOL_GPL(dat_registry_remove_provider);

void kdat_withdraw(const DAT_PROVIDER *provider)
{
	struct registered *found;

	mutex_lock(&registry_mutex);
	found = find_provider(provider);
	found->withdrawn = true;
	mutex_unlock(&registry_mutex);
}

void kdat_remove_when_closed(const DAT_PROVIDER *provider)
{
	struct registered *found;

	mutex_lock(&registry_mutex);
	found = find_provider(provider);
	mutex_unlock(&registry_mutex);
	wait_event(closed, !READ_ONCE(found->open));
	mutex_lock(&registry_mutex);
	list_del(&found->entry);
	mutex_unlock(&registry_mutex);
	kfree(found);
}

DAT_RETURN dat_registry_list_providers(DAT_COUNT size, DAT_COUNT *count,
				       DAT_PROVIDER_INFO *list[])
{
	struct registered *each;
	DAT_COUNT number = 0;

	might_sleep();
	if (!count)
		return KDAT_INVALID(2);
	if (!list && size > 0)
		return KDAT_INVALID(3);
	mutex_lock(&registry_mutex);
	list_for_each_entry(each, &registry, entry) {
		if (each->withdrawn)
			continue;
		if (number < size)
			*list[number] = each->info;
		number++;
	}
	mutex_unlock(&registry_mutex);
	*count = number;
	return number > size ? KDAT_INVALID(1) : DAT_SUCCESS;
}
EXPORT_SYMBOL_GPL(dat_registry_list_providers);

static DAT_RETURN not_found(const struct registered *found, DAT_UINT32 major,
			    DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_UINT32 why = DAT_NO_SUBTYPE;

	if (!found)
		why = DAT_NAME_NOT_REGISTERED;
	else if (found->info.dapl_version_major != major)
		why = DAT_MAJOR_NOT_FOUND;
	else if (found->info.dapl_version_minor != minor)
		why = DAT_MINOR_NOT_FOUND;
	else if (thread_safe && !found->info.is_thread_safe)
		why = DAT_THREAD_SAFETY_NOT_FOUND;
	return why == DAT_NO_SUBTYPE ? DAT_SUCCESS
				     : DAT_ERROR(DAT_PROVIDER_NOT_FOUND, why);
}

static void count_closed(struct registered *found)
{
	mutex_lock(&registry_mutex);
	found->open--;
	/* Within the mutex: whoever waits takes it before it frees `found`. */
	wake_up(&closed);
	mutex_unlock(&registry_mutex);
}

DAT_RETURN dat_ia_openv(const char *name, DAT_COUNT async_qlen,
			DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia,
			DAT_UINT32 major, DAT_UINT32 minor,
			DAT_BOOLEAN thread_safe)
{
	struct registered *found;
	DAT_RETURN result;

	might_sleep();
	if (!name || !is_name(name))
		return KDAT_INVALID(1);
	if (async_qlen < 0)
		return KDAT_INVALID(2);
	if (!async_evd)
		return KDAT_INVALID(3);
	if (!ia)
		return KDAT_INVALID(4);
	mutex_lock(&registry_mutex);
	found = find_name(name);
	result = not_found(found, major, minor, thread_safe);
	if (result == DAT_SUCCESS)
		found->open++; /* so that it stays registered */
	mutex_unlock(&registry_mutex);
	if (result != DAT_SUCCESS)
		return result;
	result = found->provider->ia_open_func(name, async_qlen, async_evd, ia);
	if (result != DAT_SUCCESS)
		count_closed(found);
	return result;
}
EXPORT_SYMBOL_GPL(dat_ia_openv);

DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	const DAT_PROVIDER *provider;
	struct registered *found;
	DAT_RETURN result;

	might_sleep();
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	provider = DAT_HANDLE_TO_PROVIDER(ia);
	result = provider->ia_close_func(ia, flags);
	if (result != DAT_SUCCESS)
		return result;
	mutex_lock(&registry_mutex);
	found = find_provider(provider);
	mutex_unlock(&registry_mutex);
	count_closed(found);
	return result;
}
EXPORT_SYMBOL_GPL(dat_ia_close);

#define NAMED(name) { name, #name }

static const struct {
	u32 type;
	const char *name;
} types[] = {
	NAMED(DAT_SUCCESS),
	NAMED(DAT_ABORT),
	NAMED(DAT_CONN_QUAL_IN_USE),
	NAMED(DAT_INSUFFICIENT_RESOURCES),
	NAMED(DAT_INTERNAL_ERROR),
	NAMED(DAT_INVALID_HANDLE),
	NAMED(DAT_INVALID_PARAMETER),
	NAMED(DAT_INVALID_STATE),
	NAMED(DAT_LENGTH_ERROR),
	NAMED(DAT_MODEL_NOT_SUPPORTED),
	NAMED(DAT_PROVIDER_NOT_FOUND),
	NAMED(DAT_PRIVILEGES_VIOLATION),
	NAMED(DAT_PROTECTION_VIOLATION),
	NAMED(DAT_QUEUE_EMPTY),
	NAMED(DAT_QUEUE_FULL),
	NAMED(DAT_TIMEOUT_EXPIRED),
	NAMED(DAT_PROVIDER_ALREADY_REGISTERED),
	NAMED(DAT_PROVIDER_IN_USE),
	NAMED(DAT_INVALID_ADDRESS),
	NAMED(DAT_INTERRUPTED_CALL),
	NAMED(DAT_CONN_QUAL_UNAVAILABLE),
	NAMED(DAT_RESERVED_LMR),
	NAMED(DAT_PORT_IN_USE),
	NAMED(DAT_COMM_NOT_SUPPORTED),
	NAMED(DAT_NOT_IMPLEMENTED),
};

DAT_RETURN dat_strerror(DAT_RETURN code, const char **major, const char **minor)
{
	size_t i;

	if (!major)
		return KDAT_INVALID(2);
	if (!minor)
		return KDAT_INVALID(3);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].type != DAT_GET_TYPE(code))
			continue;
		*major = types[i].name;
		*minor = DAT_GET_SUBTYPE(code) ? "with a subtype" : "";
		return DAT_SUCCESS;
	}
	return KDAT_INVALID(1);
}
EXPORT_SYMBOL_GPL(dat_strerror);
