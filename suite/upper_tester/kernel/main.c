// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* /dev/rnic_kagent: the file, and the table of its requests. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "kagent.h"

struct request {
	unsigned int command;
	int (*run)(struct kagent_session *session, void *argument);
	bool without_device; /* it may come before OPEN, or after removal */
};

static const struct request requests[] = {
	{ RNIC_KAGENT_OPEN, kagent_open_device, true },
	{ RNIC_KAGENT_DESTROY, kagent_destroy, true },
	{ RNIC_KAGENT_ALLOC_PD, kagent_alloc_pd },
	{ RNIC_KAGENT_ALLOC_MEMORY, kagent_alloc_memory },
	{ RNIC_KAGENT_ALLOC_MR, kagent_alloc_mr },
	{ RNIC_KAGENT_MAP_MR, kagent_map_mr },
	{ RNIC_KAGENT_CREATE_CQ, kagent_create_cq },
	{ RNIC_KAGENT_PROCESS_CQ, kagent_process_cq },
	{ RNIC_KAGENT_CREATE_SRQ, kagent_create_srq },
	{ RNIC_KAGENT_MODIFY_SRQ, kagent_modify_srq },
	{ RNIC_KAGENT_CREATE_QP, kagent_create_qp },
	{ RNIC_KAGENT_MODIFY_QP, kagent_modify_qp },
	{ RNIC_KAGENT_QUERY_QP, kagent_query_qp },
	{ RNIC_KAGENT_DRAIN_QP, kagent_drain_qp },
	{ RNIC_KAGENT_POST_SEND, kagent_post_send },
	{ RNIC_KAGENT_POST_RECV, kagent_post_recv },
	{ RNIC_KAGENT_POST_SEND_CHAIN, kagent_post_send_chain },
	{ RNIC_KAGENT_POST_RECV_CHAIN, kagent_post_recv_chain },
	{ RNIC_KAGENT_CREATE_ID, kagent_create_id },
	{ RNIC_KAGENT_BIND, kagent_bind },
	{ RNIC_KAGENT_RESOLVE_ADDR, kagent_resolve_addr },
	{ RNIC_KAGENT_RESOLVE_ROUTE, kagent_resolve_route },
	{ RNIC_KAGENT_CONNECT, kagent_connect },
	{ RNIC_KAGENT_ACCEPT, kagent_accept },
	{ RNIC_KAGENT_ESTABLISH, kagent_establish },
	{ RNIC_KAGENT_REJECT, kagent_reject },
	{ RNIC_KAGENT_DISCONNECT, kagent_disconnect },
};

static const struct request *find_request(unsigned int command)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].command == command)
			return &requests[i];
	return NULL;
}

/*
 * User memory is touched outside the session's mutex alone, since mmap() takes
 * that one within the lock that a page fault takes.
 */
static long kagent_ioctl(struct file *file, unsigned int command,
			 unsigned long place)
{
	struct kagent_session *session = file->private_data;
	const struct request *request = find_request(command);
	void __user *user = (void __user *)place;
	size_t size = _IOC_SIZE(command);
	void *argument;
	int error;

	if (!request)
		return -ENOTTY;
	argument = memdup_user(user, size);
	if (IS_ERR(argument))
		return PTR_ERR(argument);
	mutex_lock(&session->mutex);
	if (session->device || request->without_device)
		error = request->run(session, argument);
	else
		error = -ENODEV;
	mutex_unlock(&session->mutex);
	/* Also of one that failed: OPEN tells the version that it speaks. */
	if (copy_to_user(user, argument, size) && !error)
		error = -EFAULT;
	kfree(argument);
	return error;
}

static ssize_t kagent_read(struct file *file, char __user *place, size_t size,
			   loff_t *offset)
{
	return kagent_read_events(file->private_data, place, size,
				  !(file->f_flags & O_NONBLOCK));
}

static __poll_t kagent_poll(struct file *file, poll_table *table)
{
	struct kagent_session *session = file->private_data;

	poll_wait(file, &session->readable, table);
	return kagent_has_events(session) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int kagent_mmap(struct file *file, struct vm_area_struct *area)
{
	struct kagent_session *session = file->private_data;
	int error;

	mutex_lock(&session->mutex);
	error = kagent_map_pages(session, area);
	mutex_unlock(&session->mutex);
	return error;
}

static int kagent_open(struct inode *inode, struct file *file)
{
	file->private_data = kagent_new_session();
	return file->private_data ? 0 : -ENOMEM;
}

static int kagent_release(struct inode *inode, struct file *file)
{
	kagent_end_session(file->private_data);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE, /* no rmmod while it is open */
	.open = kagent_open,
	.release = kagent_release,
	.unlocked_ioctl = kagent_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = kagent_read,
	.poll = kagent_poll,
	.mmap = kagent_mmap,
};

static struct miscdevice device_file = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rnic_kagent",
	.fops = &operations,
	.mode = 0600,
};

static int __init kagent_init(void)
{
	int error;

	BUILD_BUG_ON(sizeof(struct rnic_kagent_event) % sizeof(u64));
	error = ib_register_client(&kagent_client);
	if (error)
		return error;
	error = misc_register(&device_file);
	if (error)
		ib_unregister_client(&kagent_client);
	return error;
}

static void __exit kagent_exit(void)
{
	misc_deregister(&device_file);
	ib_unregister_client(&kagent_client);
}

module_init(kagent_init);
module_exit(kagent_exit);

MODULE_DESCRIPTION("Kernel side of the RNIC conformance suite's agent");
MODULE_AUTHOR("The authors of the RNIC conformance suite");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("1");
