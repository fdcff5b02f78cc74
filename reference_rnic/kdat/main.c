// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* kDAPL 2.0 over ib_core: one provider for each device. */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "provider.h"

static const DAT_PROVIDER functions = {
	.ia_open_func = kdat_ia_open,
	.ia_close_func = kdat_ia_close,
	.ia_query_func = kdat_ia_query,
	.ia_memtype_hint_func = kdat_ia_memtype_hint,
	.ia_reserved_lmr_func = kdat_ia_reserved_lmr,
	.set_consumer_context_func = kdat_set_consumer_context,
	.get_consumer_context_func = kdat_get_consumer_context,
	.get_handle_type_func = kdat_get_handle_type,
	.pz_create_func = kdat_pz_create,
	.pz_query_func = kdat_pz_query,
	.pz_free_func = kdat_pz_free,
	.evd_kcreate_func = kdat_evd_kcreate,
	.evd_modify_upcall_func = kdat_evd_modify_upcall,
	.evd_query_func = kdat_evd_query,
	.evd_post_se_func = kdat_evd_post_se,
	.evd_dequeue_func = kdat_evd_dequeue,
	.evd_resize_func = kdat_evd_resize,
	.evd_free_func = kdat_evd_free,
	.lmr_kcreate_func = kdat_lmr_kcreate,
	.lmr_allocate_func = kdat_lmr_allocate,
	.lmr_query_func = kdat_lmr_query,
	.lmr_fmr_func = kdat_lmr_fmr,
	.lmr_invalidate_func = kdat_lmr_invalidate,
	.lmr_free_func = kdat_lmr_free,
	.lmr_sync_rdma_read_func = kdat_lmr_sync,
	.lmr_sync_rdma_write_func = kdat_lmr_sync,
	.rmr_create_func = kdat_rmr_create,
	.rmr_create_for_ep_func = kdat_rmr_create_for_ep,
	.rmr_query_func = kdat_rmr_query,
	.rmr_bind_func = kdat_rmr_bind,
	.rmr_free_func = kdat_rmr_free,
	.ep_create_func = kdat_ep_create,
	.ep_create_with_srq_func = kdat_ep_create_with_srq,
	.ep_query_func = kdat_ep_query,
	.ep_modify_func = kdat_ep_modify,
	.ep_recv_query_func = kdat_ep_recv_query,
	.ep_set_watermark_func = kdat_ep_set_watermark,
	.ep_get_status_func = kdat_ep_get_status,
	.ep_connect_func = kdat_ep_connect,
	.ep_dup_connect_func = kdat_ep_dup_connect,
	.ep_common_connect_func = kdat_ep_common_connect,
	.ep_disconnect_func = kdat_ep_disconnect,
	.ep_reset_func = kdat_ep_reset,
	.ep_free_func = kdat_ep_free,
	.ep_post_send_func = kdat_ep_post_send,
	.ep_post_send_with_invalidate_func = kdat_ep_post_send_with_invalidate,
	.ep_post_recv_func = kdat_ep_post_recv,
	.ep_post_rdma_read_func = kdat_ep_post_rdma_read,
	.ep_post_rdma_read_to_rmr_func = kdat_ep_post_rdma_read_to_rmr,
	.ep_post_rdma_write_func = kdat_ep_post_rdma_write,
	.srq_create_func = kdat_srq_create,
	.srq_query_func = kdat_srq_query,
	.srq_post_recv_func = kdat_srq_post_recv,
	.srq_resize_func = kdat_srq_resize,
	.srq_set_lw_func = kdat_srq_set_lw,
	.srq_free_func = kdat_srq_free,
	.psp_create_func = kdat_psp_create,
	.psp_create_any_func = kdat_psp_create_any,
	.psp_query_func = kdat_psp_query,
	.psp_free_func = kdat_psp_free,
	.rsp_create_func = kdat_rsp_create,
	.rsp_query_func = kdat_rsp_query,
	.rsp_free_func = kdat_rsp_free,
	.csp_create_func = kdat_csp_create,
	.csp_query_func = kdat_csp_query,
	.csp_free_func = kdat_csp_free,
	.cr_query_func = kdat_cr_query,
	.cr_accept_func = kdat_cr_accept,
	.cr_reject_func = kdat_cr_reject,
	.cr_handoff_func = kdat_cr_handoff,
};

static struct ib_client client;
static DEFINE_MUTEX(devices_mutex);
static LIST_HEAD(devices);

/*
 * By the name under which it is registered, whatever it is called by now; in
 * newer kernels a device's name is that of a network namespace, too. Only while
 * the registry counts an open IA of it, so that the device stays.
 */
struct kdat_device *kdat_device_of(const char *name)
{
	struct kdat_device *each, *found = NULL;

	mutex_lock(&devices_mutex);
	list_for_each_entry(each, &devices, entry)
		if (!found &&
		    !strncmp(each->info.ia_name, name, DAT_NAME_MAX_LENGTH))
			found = each;
	mutex_unlock(&devices_mutex);
	return found;
}

static void forget(struct kdat_device *device)
{
	mutex_lock(&devices_mutex);
	list_del(&device->entry);
	mutex_unlock(&devices_mutex);
	kfree(device);
}

static int add_device(struct ib_device *ib)
{
	struct kdat_device *device;

	/* Without it a kernel consumer registers no memory. */
	if (!(ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;
	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	device->ib = ib;
	spin_lock_init(&device->lock);
	INIT_LIST_HEAD(&device->ias);
	device->provider = functions;
	device->provider.device_name = device->info.ia_name;
	strscpy(device->info.ia_name, dev_name(&ib->dev),
		sizeof(device->info.ia_name));
	device->info.dapl_version_major = DAT_VERSION_MAJOR;
	device->info.dapl_version_minor = DAT_VERSION_MINOR;
	device->info.is_thread_safe = DAT_TRUE;
	ib_set_client_data(ib, &client, device);
	/* Before it can be opened; after another device of this name. */
	mutex_lock(&devices_mutex);
	list_add_tail(&device->entry, &devices);
	mutex_unlock(&devices_mutex);
	if (dat_registry_add_provider(&device->provider, &device->info) !=
	    DAT_SUCCESS) {
		pr_err("kdat: %s is registered already\n",
		       device->info.ia_name);
		ib_set_client_data(ib, &client, NULL);
		forget(device);
		return -EEXIST;
	}
	return 0;
}

static void tell_removal(struct kdat_device *device)
{
	struct kdat_ia *each;

	spin_lock(&device->lock);
	device->removed = true;
	list_for_each_entry(each, &device->ias, of_device)
		kdat_tell_async(each, DAT_ASYNC_ERROR_IA_CATASTROPHIC,
				&each->object, DAT_IA_CATASTROPHIC_ERROR);
	spin_unlock(&device->lock);
}

/*
 * A handle is a consumer's until it closes the IA. So each is told, and the
 * device stays until all have closed theirs.
 */
static void remove_device(struct ib_device *ib, void *client_data)
{
	struct kdat_device *device = client_data;

	if (!device)
		return;
	kdat_withdraw(&device->provider);
	tell_removal(device);
	kdat_remove_when_closed(&device->provider);
	forget(device);
}

static struct ib_client client = {
	.name = "kdat",
	.add = add_device,
	.remove = remove_device,
};

static int __init kdat_init(void)
{
	return ib_register_client(&client);
}

static void __exit kdat_exit(void)
{
	ib_unregister_client(&client);
}

module_init(kdat_init);
module_exit(kdat_exit);

MODULE_DESCRIPTION("kDAPL 2.0 over the kernel's own verbs");
MODULE_AUTHOR("The authors of the RNIC conformance suite");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("1");
