// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* /dev/rnic_kdat: the file, and the contexts in which a call is made. */
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "consumer.h"

/* ---------------------------------------------------------------- contexts */

struct running {
	struct session *session;
	struct rnic_kdat_call *call;
	const struct call *entry;
	struct tasklet_struct tasklet;
	struct irq_work work;
	struct completion done;
};

static void run(struct running *running)
{
	running->call->context = current_context();
	running->call->returned =
		running->entry->make(running->session, running->call);
}

static void run_in_softirq(struct tasklet_struct *tasklet)
{
	struct running *running = from_tasklet(running, tasklet, tasklet);

	run(running);
	complete(&running->done);
}

static void run_in_hardirq(struct irq_work *work)
{
	struct running *running = container_of(work, struct running, work);

	run(running);
	complete(&running->done);
}

/* What may block is made in process context alone. */
static int run_call(struct session *session, struct rnic_kdat_call *call,
		    const struct call *entry)
{
	struct running running = {
		.session = session,
		.call = call,
		.entry = entry,
	};

	if (call->context != RNIC_KDAT_PROCESS && !entry->anywhere)
		return -EDEADLK;
	init_completion(&running.done);
	switch (call->context) {
	case RNIC_KDAT_PROCESS:
		run(&running);
		break;
	case RNIC_KDAT_SOFTIRQ:
		tasklet_setup(&running.tasklet, run_in_softirq);
		tasklet_schedule(&running.tasklet);
		wait_for_completion(&running.done);
		tasklet_kill(&running.tasklet);
		break;
	case RNIC_KDAT_HARDIRQ:
		running.work = IRQ_WORK_INIT_HARD(run_in_hardirq);
		irq_work_queue(&running.work);
		wait_for_completion(&running.done);
		irq_work_sync(&running.work);
		break;
	default:
		return -EINVAL;
	}
	return call->returned == MISUSED ? -EACCES : 0;
}

/* ---------------------------------------------------------------- the file */

static const struct call *find_call(u32 number)
{
	static const struct call *const tables[] = { object_calls, memory_calls,
						     endpoint_calls,
						     point_calls };
	size_t i;

	if (number >= RNIC_KDAT_END)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (tables[i][number].make)
			return &tables[i][number];
	return NULL;
}

static int make_call(struct session *session, struct rnic_kdat_call *call)
{
	const struct call *entry = find_call(call->number);
	int error;

	if (!entry || call->data_length > RNIC_KDAT_DATA)
		return -EINVAL;
	memset(call->out, 0, sizeof(call->out));
	mutex_lock(&session->mutex);
	error = run_call(session, call, entry);
	mutex_unlock(&session->mutex);
	return error;
}

static int change_memory(struct session *session, unsigned int command,
			 void *argument)
{
	int error;

	mutex_lock(&session->mutex);
	error = command == RNIC_KDAT_ALLOC_MEMORY
			? alloc_memory(session, argument)
			: free_memory(session, *(u32 *)argument);
	mutex_unlock(&session->mutex);
	return error;
}

static long kdat_ioctl(struct file *file, unsigned int command,
		       unsigned long place)
{
	struct session *session = file->private_data;
	void __user *user = (void __user *)place;
	void *argument;
	int error;

	if (command == RNIC_KDAT_GET_VERSION)
		return put_user(RNIC_KDAT_VERSION, (u32 __user *)user);
	if (command != RNIC_KDAT_CALL && command != RNIC_KDAT_ALLOC_MEMORY &&
	    command != RNIC_KDAT_FREE_MEMORY)
		return -ENOTTY;
	argument = memdup_user(user, _IOC_SIZE(command));
	if (IS_ERR(argument))
		return PTR_ERR(argument);
	error = command == RNIC_KDAT_CALL
			? make_call(session, argument)
			: change_memory(session, command, argument);
	if (!error && _IOC_DIR(command) & _IOC_READ &&
	    copy_to_user(user, argument, _IOC_SIZE(command)))
		error = -EFAULT;
	kfree(argument);
	return error;
}

static ssize_t kdat_read(struct file *file, char __user *place, size_t size,
			 loff_t *offset)
{
	return read_upcalls(file->private_data, place, size,
			    !(file->f_flags & O_NONBLOCK));
}

static __poll_t kdat_poll(struct file *file, poll_table *table)
{
	struct session *session = file->private_data;

	poll_wait(file, &session->readable, table);
	return has_upcalls(session) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int map_pages(struct session *session, struct vm_area_struct *area)
{
	u64 length = area->vm_end - area->vm_start;
	u8 *start = place_of(session, area->vm_pgoff, 0, length);
	u64 offset;
	int error = 0;

	if (!start)
		return -ENOENT;
	for (offset = 0; offset < length && !error; offset += PAGE_SIZE)
		error = vm_insert_page(area, area->vm_start + offset,
				       virt_to_page(start + offset));
	return error;
}

static int kdat_mmap(struct file *file, struct vm_area_struct *area)
{
	struct session *session = file->private_data;
	int error;

	mutex_lock(&session->mutex);
	error = map_pages(session, area);
	mutex_unlock(&session->mutex);
	return error;
}

static int kdat_open(struct inode *inode, struct file *file)
{
	struct session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	mutex_init(&session->mutex);
	xa_init_flags(&session->held, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	spin_lock_init(&session->lock);
	INIT_LIST_HEAD(&session->upcalls);
	init_waitqueue_head(&session->readable);
	INIT_WORK(&session->device_gone, close_removed);
	file->private_data = session;
	return 0;
}

static int kdat_release(struct inode *inode, struct file *file)
{
	struct session *session = file->private_data;

	close_all(session);
	free_upcalls(session);
	mutex_destroy(&session->mutex);
	kfree(session);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE, /* no rmmod while it is open */
	.open = kdat_open,
	.release = kdat_release,
	.unlocked_ioctl = kdat_ioctl,
	.read = kdat_read,
	.poll = kdat_poll,
	.mmap = kdat_mmap,
};

static struct miscdevice device_file = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rnic_kdat",
	.fops = &operations,
	.mode = 0600,
};

module_misc_device(device_file);

MODULE_DESCRIPTION("Kernel consumer of kDAPL for the RNIC conformance suite");
MODULE_AUTHOR("The authors of the RNIC conformance suite");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("1");
