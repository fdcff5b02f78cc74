// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The handles and the memory of a session. */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "consumer.h"

/* A mistyped length must not use up the host's memory. */
#define MAX_MEMORY (4ULL << 20)

/* 0 if there is no memory. In any context. */
static u32 enter(struct session *session, struct held *held)
{
	unsigned long flags;
	int error;

	xa_lock_irqsave(&session->held, flags);
	error = __xa_alloc_cyclic(&session->held, &held->id, held, xa_limit_31b,
				  &session->next_id, GFP_ATOMIC);
	xa_unlock_irqrestore(&session->held, flags);
	return error < 0 ? 0 : held->id;
}

u32 hold(struct session *session, DAT_HANDLE handle, u32 ia,
	 struct receiver *receiver)
{
	struct held *held = kzalloc(sizeof(*held), GFP_ATOMIC);
	u32 id;

	if (!held)
		return 0;
	held->handle = handle;
	held->receiver = receiver;
	held->ia = ia;
	id = enter(session, held);
	if (!id)
		kfree(held);
	else if (!ia)
		held->ia = id;
	return id;
}

void drop(struct session *session, u32 id)
{
	struct held *held;
	unsigned long flags;

	xa_lock_irqsave(&session->held, flags);
	held = __xa_erase(&session->held, id);
	xa_unlock_irqrestore(&session->held, flags);
	if (!held)
		return;
	if (held->memory) {
		struct held *memory = find_held(session, held->memory);

		if (memory)
			memory->regions--;
	}
	kfree(held->receiver);
	kfree_rcu(held, rcu);
}

/* After its close: no UpCall comes any more. */
void drop_ia(struct session *session, u32 ia)
{
	struct held *held;
	unsigned long id;

	xa_for_each(&session->held, id, held)
		if (held->ia == ia)
			drop(session, id);
}

struct held *find_held(struct session *session, u64 id)
{
	return id <= U32_MAX ? xa_load(&session->held, id) : NULL;
}

DAT_HANDLE handle_of(struct session *session, u64 id)
{
	struct held *held = find_held(session, id);

	return held ? held->handle : DAT_HANDLE_NULL;
}

u32 ia_of(struct session *session, u64 id)
{
	struct held *held = find_held(session, id);

	return held ? held->ia : 0;
}

u32 id_of(struct session *session, DAT_HANDLE handle)
{
	struct held *held;
	unsigned long id;
	u32 found = 0;

	rcu_read_lock();
	xa_for_each(&session->held, id, held)
		if (handle && held->handle == handle)
			found = id;
	rcu_read_unlock();
	return found;
}

void *place_of(struct session *session, u64 memory, u64 offset, u64 length)
{
	struct held *held = find_held(session, memory);

	if (!held || !held->start || offset > held->length ||
	    length > held->length - offset)
		return NULL;
	return held->start + offset;
}

int alloc_memory(struct session *session, struct rnic_kdat_memory *memory)
{
	struct held *held;

	if (!memory->length || memory->length > MAX_MEMORY)
		return -EINVAL;
	held = kzalloc(sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	held->length = PAGE_ALIGN(memory->length);
	held->start = alloc_pages_exact(held->length, GFP_KERNEL | __GFP_ZERO);
	if (!held->start)
		goto free;
	memory->handle = enter(session, held);
	if (!memory->handle)
		goto free_pages;
	memory->address = (uintptr_t)held->start;
	memory->page_size = PAGE_SIZE;
	return 0;

free_pages:
	free_pages_exact(held->start, held->length);
free:
	kfree(held);
	return -ENOMEM;
}

void name_memory(struct session *session, u64 lmr, u64 memory)
{
	struct held *region = find_held(session, lmr);
	struct held *named = find_held(session, memory);

	if (!named || !named->start)
		return;
	if (!region) { /* there was no memory to hold it */
		named->kept = true;
		return;
	}
	region->memory = memory;
	named->regions++;
}

void keep_memory(struct session *session, u64 memory)
{
	struct held *held = find_held(session, memory);

	if (held && held->memory) /* of a region */
		held = find_held(session, held->memory);
	if (held)
		held->kept = true;
}

int free_memory(struct session *session, u32 memory)
{
	struct held *held = find_held(session, memory);

	if (!held || !held->start)
		return -ENOENT;
	if (held->regions || held->kept)
		return -EBUSY;
	free_pages_exact(held->start, held->length);
	drop(session, memory);
	return 0;
}

/* Before the memory that its regions name. */
static void close_ias(struct session *session)
{
	DAT_HANDLE_TYPE type;
	struct held *held;
	unsigned long id;

	xa_for_each(&session->held, id, held)
		if (held->handle && held->ia == id &&
		    dat_get_handle_type(held->handle, &type) == DAT_SUCCESS &&
		    type == DAT_HANDLE_TYPE_IA &&
		    dat_ia_close(held->handle, DAT_CLOSE_ABRUPT_FLAG) ==
			    DAT_SUCCESS)
			drop_ia(session, id);
}

void close_removed(struct work_struct *work)
{
	struct session *session =
		container_of(work, struct session, device_gone);

	mutex_lock(&session->mutex);
	close_ias(session);
	mutex_unlock(&session->mutex);
}

void close_all(struct session *session)
{
	struct held *held;
	unsigned long id;

	mutex_lock(&session->mutex);
	close_ias(session);
	mutex_unlock(&session->mutex);
	/* Its last UpCall may have started it. */
	cancel_work_sync(&session->device_gone);
	xa_for_each(&session->held, id, held) {
		if (held->start)
			free_pages_exact(held->start, held->length);
		drop(session, id);
	}
	if (session->registered)
		dat_registry_remove_provider(&session->provider,
					     &session->info);
	xa_destroy(&session->held);
}
