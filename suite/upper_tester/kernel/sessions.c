// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Sessions: the device that each has opened, its objects and its events. */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kagent.h"

/* Far more than a consumer leaves unread that is alive. */
#define MAX_EVENTS 65536

/* Taken within a session's mutex, never around it. */
static DEFINE_MUTEX(devices_mutex);
static LIST_HEAD(devices);

struct kagent_session *kagent_new_session(void)
{
	struct kagent_session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return NULL;
	kref_init(&session->users);
	mutex_init(&session->mutex);
	INIT_LIST_HEAD(&session->of_device);
	INIT_LIST_HEAD(&session->dead_work);
	xa_init_flags(&session->objects, XA_FLAGS_ALLOC1);
	spin_lock_init(&session->event_lock);
	INIT_LIST_HEAD(&session->events);
	init_waitqueue_head(&session->readable);
	return session;
}

/* ---------------------------------------------------------------- objects */

int kagent_add(struct kagent_session *session, struct kagent_object *object,
	       enum kagent_kind kind)
{
	int error;

	object->session = session;
	object->kind = kind;
	error = xa_alloc_cyclic(&session->objects, &object->handle, object,
				xa_limit_31b, &session->next_handle,
				GFP_KERNEL);
	return error < 0 ? error : 0;
}

struct kagent_object *kagent_find(struct kagent_session *session, u32 handle,
				  enum kagent_kind kind)
{
	struct kagent_object *object = xa_load(&session->objects, handle);

	return object && object->kind == kind ? object : NULL;
}

static int destroy_object(struct kagent_object *object)
{
	switch (object->kind) {
	case KAGENT_LISTENER:
	case KAGENT_ID:
		kagent_destroy_id(
			container_of(object, struct kagent_id, object));
		return 0;
	case KAGENT_QP:
		return kagent_destroy_qp(
			container_of(object, struct kagent_qp, object));
	case KAGENT_SRQ:
		kagent_destroy_srq(
			container_of(object, struct kagent_srq, object));
		return 0;
	case KAGENT_CQ:
		kagent_destroy_cq(
			container_of(object, struct kagent_cq, object));
		return 0;
	case KAGENT_MR:
		return kagent_destroy_mr(
			container_of(object, struct kagent_mr, object));
	case KAGENT_PD:
		kagent_destroy_pd(
			container_of(object, struct kagent_pd, object));
		return 0;
	case KAGENT_MEMORY:
		kagent_destroy_memory(
			container_of(object, struct kagent_memory, object));
		return 0;
	case KAGENT_KINDS:
		break;
	}
	return -EINVAL;
}

/* A region that a posted work request names is in use as well. */
static bool in_use(const struct kagent_object *object)
{
	if (object->users)
		return true;
	return object->kind == KAGENT_MR &&
	       atomic_read(&container_of(object, struct kagent_mr, object)
				    ->registering) > 0;
}

int kagent_destroy(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_object *request = argument;
	struct kagent_object *object =
		xa_load(&session->objects, request->handle);
	u32 handle = request->handle;
	int error;

	if (!object)
		return -ENOENT;
	if (in_use(object))
		return -EBUSY;
	/* Its handlers may still run, and find it by its context alone. */
	error = destroy_object(object);
	if (!error)
		xa_erase(&session->objects, handle);
	return error;
}

/* What a driver does not let go is lost, and said to be. */
static void destroy_kind(struct kagent_session *session, enum kagent_kind kind)
{
	struct kagent_object *object;
	unsigned long handle;

	xa_for_each(&session->objects, handle, object) {
		int error = -EBUSY;

		if (object->kind != kind)
			continue;
		xa_erase(&session->objects, handle);
		if (!in_use(object))
			error = destroy_object(object);
		if (error)
			pr_err("rnic_kagent: object %lu of kind %d cannot be destroyed: %d\n",
			       handle, kind, error);
	}
}

/* ---------------------------------------------------------------- events */

struct kept_event {
	struct list_head entry;
	struct rnic_kagent_event event;
};

void kagent_tell(struct kagent_session *session,
		 const struct rnic_kagent_event *event)
{
	struct kept_event *kept = kmalloc(sizeof(*kept), GFP_ATOMIC);
	unsigned long flags;

	if (kept)
		kept->event = *event;
	spin_lock_irqsave(&session->event_lock, flags);
	if (!kept || session->event_count >= MAX_EVENTS) {
		session->lost = true;
	} else {
		if (session->lost)
			kept->event.flags |= RNIC_KAGENT_EVENT_LOST;
		session->lost = false;
		list_add_tail(&kept->entry, &session->events);
		session->event_count++;
		kept = NULL;
	}
	spin_unlock_irqrestore(&session->event_lock, flags);
	kfree(kept);
	wake_up_interruptible(&session->readable);
}

bool kagent_has_events(struct kagent_session *session)
{
	return READ_ONCE(session->event_count) > 0;
}

static struct kept_event *take_event(struct kagent_session *session)
{
	struct kept_event *kept;

	spin_lock_irq(&session->event_lock);
	kept = list_first_entry_or_null(&session->events, struct kept_event,
					entry);
	if (kept) {
		list_del(&kept->entry);
		session->event_count--;
	}
	spin_unlock_irq(&session->event_lock);
	return kept;
}

/* One that could not be copied is the next to be read. */
static void give_back(struct kagent_session *session, struct kept_event *kept)
{
	spin_lock_irq(&session->event_lock);
	list_add(&kept->entry, &session->events);
	session->event_count++;
	spin_unlock_irq(&session->event_lock);
}

ssize_t kagent_read_events(struct kagent_session *session, char __user *place,
			   size_t size, bool wait)
{
	size_t given = 0;

	if (size < sizeof(struct rnic_kagent_event))
		return -EINVAL;
	if (wait && wait_event_interruptible(session->readable,
					     kagent_has_events(session)))
		return -ERESTARTSYS;
	while (size - given >= sizeof(struct rnic_kagent_event)) {
		struct kept_event *kept = take_event(session);

		if (!kept)
			break;
		if (copy_to_user(place + given, &kept->event,
				 sizeof(kept->event))) {
			give_back(session, kept);
			return given ? given : -EFAULT;
		}
		kfree(kept);
		given += sizeof(struct rnic_kagent_event);
	}
	return given ? given : -EAGAIN;
}

/* ---------------------------------------------------------------- devices */

static bool is_wanted(const struct ib_device *device, const char *name)
{
	if (*name)
		return !strcmp(dev_name(&device->dev), name);
	return device->node_type == RDMA_NODE_RNIC;
}

static void describe(struct rnic_kagent_open *told, struct ib_device *device)
{
	const struct ib_device_attr *attributes = &device->attrs;

	strscpy(told->device, dev_name(&device->dev), sizeof(told->device));
	if (device->ops.get_dev_fw_str) {
		char firmware[IB_FW_VERSION_NAME_MAX] = {};

		ib_get_device_fw_str(device, firmware);
		strscpy(told->firmware, firmware, sizeof(told->firmware));
	}
	told->device_cap_flags = attributes->device_cap_flags;
	told->kernel_cap_flags = attributes->kernel_cap_flags;
	told->max_mr_size = attributes->max_mr_size;
	told->page_size_cap = attributes->page_size_cap;
	told->vendor_id = attributes->vendor_id;
	told->vendor_part_id = attributes->vendor_part_id;
	told->hw_ver = attributes->hw_ver;
	told->node_type = device->node_type;
	told->max_qp = attributes->max_qp;
	told->max_qp_wr = attributes->max_qp_wr;
	told->max_send_sge = attributes->max_send_sge;
	told->max_recv_sge = attributes->max_recv_sge;
	told->max_sge_rd = attributes->max_sge_rd;
	told->max_cqe = attributes->max_cqe;
	told->max_mr = attributes->max_mr;
	told->max_qp_rd_atom = attributes->max_qp_rd_atom;
	told->max_qp_init_rd_atom = attributes->max_qp_init_rd_atom;
	told->atomic_cap = attributes->atomic_cap;
	told->max_srq = attributes->max_srq;
	told->max_srq_wr = attributes->max_srq_wr;
	told->max_srq_sge = attributes->max_srq_sge;
	told->max_fast_reg_page_list_len =
		attributes->max_fast_reg_page_list_len;
	told->page_size = PAGE_SIZE;
	told->reads_with_invalidate =
		rdma_cap_read_inv(device, rdma_start_port(device));
}

int kagent_open_device(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_open *request = argument;
	struct kagent_device *each, *found = NULL;
	int error = 0;

	if (request->version != RNIC_KAGENT_VERSION) {
		request->version = RNIC_KAGENT_VERSION;
		return -EPROTO;
	}
	if (session->device)
		return -EBUSY;
	request->device[RNIC_KAGENT_NAME_SIZE - 1] = 0;
	mutex_lock(&devices_mutex);
	list_for_each_entry(each, &devices, entry) {
		if (!is_wanted(each->ib, request->device))
			continue;
		if (found)
			error = -ENOTUNIQ;
		found = each;
	}
	if (!found)
		error = -ENODEV;
	if (!error) {
		session->device = found;
		list_add(&session->of_device, &found->sessions);
		describe(request, found->ib);
	}
	mutex_unlock(&devices_mutex);
	return error;
}

/* With the session's mutex; once it has returned, nothing uses the device. */
static void leave_device(struct kagent_session *session)
{
	int kind;

	for (kind = 0; kind < KAGENT_KINDS; kind++)
		destroy_kind(session, kind);
	kagent_free_work(&session->dead_work);
	mutex_lock(&devices_mutex);
	list_del_init(&session->of_device);
	WRITE_ONCE(session->device, NULL);
	mutex_unlock(&devices_mutex);
}

static void free_session(struct kref *users)
{
	struct kagent_session *session =
		container_of(users, struct kagent_session, users);
	struct kept_event *kept;

	while ((kept = take_event(session)))
		kfree(kept);
	xa_destroy(&session->objects);
	mutex_destroy(&session->mutex);
	kfree(session);
}

void kagent_end_session(struct kagent_session *session)
{
	mutex_lock(&session->mutex);
	leave_device(session);
	mutex_unlock(&session->mutex);
	kref_put(&session->users, free_session);
}

static int add_device(struct ib_device *ib)
{
	struct kagent_device *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return -ENOMEM;
	device->ib = ib;
	INIT_LIST_HEAD(&device->sessions);
	ib_set_client_data(ib, &kagent_client, device);
	mutex_lock(&devices_mutex);
	list_add_tail(&device->entry, &devices);
	mutex_unlock(&devices_mutex);
	return 0;
}

static struct kagent_session *first_session(struct kagent_device *device)
{
	struct kagent_session *session;

	mutex_lock(&devices_mutex);
	session = list_first_entry_or_null(&device->sessions,
					   struct kagent_session, of_device);
	if (session)
		kref_get(&session->users);
	mutex_unlock(&devices_mutex);
	return session;
}

/* This client came after the connection manager, so it goes before it. */
static void remove_device(struct ib_device *ib, void *client_data)
{
	struct rnic_kagent_event event = { .type = RNIC_KAGENT_EVENT_REMOVED };
	struct kagent_device *device = client_data;
	struct kagent_session *session;

	mutex_lock(&devices_mutex);
	list_del(&device->entry);
	mutex_unlock(&devices_mutex);
	while ((session = first_session(device))) {
		mutex_lock(&session->mutex);
		leave_device(session);
		mutex_unlock(&session->mutex);
		kagent_tell(session, &event);
		kref_put(&session->users, free_session);
	}
	kfree(device);
}

struct ib_client kagent_client = {
	.name = "rnic_kagent",
	.add = add_device,
	.remove = remove_device,
};
