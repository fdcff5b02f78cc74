// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Protection domains, memory of the module, and fast registration. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "kagent.h"

/* A mistyped length must not use up the host's memory. */
#define MAX_MEMORY (64ULL << 20)

int kagent_alloc_pd(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_object *request = argument;
	struct kagent_pd *pd = kzalloc(sizeof(*pd), GFP_KERNEL);
	int error;

	if (!pd)
		return -ENOMEM;
	pd->ib = ib_alloc_pd(session->device->ib, 0);
	if (IS_ERR(pd->ib)) {
		error = PTR_ERR(pd->ib);
		goto free;
	}
	error = kagent_add(session, &pd->object, KAGENT_PD);
	if (error)
		goto dealloc;
	request->handle = pd->object.handle;
	return 0;

dealloc:
	ib_dealloc_pd(pd->ib);
free:
	kfree(pd);
	return error;
}

void kagent_destroy_pd(struct kagent_pd *pd)
{
	ib_dealloc_pd(pd->ib);
	kfree(pd);
}

static void free_pages_of(struct kagent_memory *memory)
{
	unsigned int i;

	for (i = 0; i < memory->page_count; i++)
		__free_page(memory->pages[i]);
	kvfree(memory->pages);
}

int kagent_alloc_memory(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_memory *request = argument;
	struct kagent_memory *memory;
	unsigned int wanted;
	int error = -ENOMEM;

	if (request->length == 0 || request->length > MAX_MEMORY)
		return -EINVAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	memory->length = request->length;
	wanted = DIV_ROUND_UP(request->length, PAGE_SIZE);
	memory->pages = kvcalloc(wanted, sizeof(*memory->pages), GFP_KERNEL);
	if (!memory->pages)
		goto free;
	for (; memory->page_count < wanted; memory->page_count++) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		if (!page)
			goto free_pages;
		memory->pages[memory->page_count] = page;
	}
	error = kagent_add(session, &memory->object, KAGENT_MEMORY);
	if (error)
		goto free_pages;
	request->handle = memory->object.handle;
	return 0;

free_pages:
	free_pages_of(memory);
free:
	kfree(memory);
	return error;
}

/* Pages that a process has mapped stay with it. */
void kagent_destroy_memory(struct kagent_memory *memory)
{
	free_pages_of(memory);
	kfree(memory);
}

int kagent_map_pages(struct kagent_session *session,
		     struct vm_area_struct *area)
{
	struct kagent_memory *memory = NULL;
	unsigned long place = area->vm_start;
	unsigned int i;
	int error = 0;

	if (area->vm_pgoff <= U32_MAX)
		memory = KAGENT_FIND(session, area->vm_pgoff, KAGENT_MEMORY,
				     kagent_memory);
	if (!memory)
		return -ENOENT;
	if (vma_pages(area) > memory->page_count)
		return -EINVAL;
	for (i = 0; i < vma_pages(area) && !error; i++, place += PAGE_SIZE)
		error = vm_insert_page(area, place, memory->pages[i]);
	return error;
}

int kagent_alloc_mr(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_mr *request = argument;
	struct kagent_pd *pd =
		KAGENT_FIND(session, request->pd, KAGENT_PD, kagent_pd);
	struct kagent_mr *mr;
	int error;

	if (!pd)
		return -ENOENT;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return -ENOMEM;
	INIT_LIST_HEAD(&mr->mappings);
	atomic_set(&mr->registering, 0);
	mr->max_pages = request->max_pages;
	mr->ib = ib_alloc_mr(pd->ib, IB_MR_TYPE_MEM_REG, request->max_pages);
	if (IS_ERR(mr->ib)) {
		error = PTR_ERR(mr->ib);
		goto free;
	}
	error = kagent_add(session, &mr->object, KAGENT_MR);
	if (error)
		goto dereg;
	mr->pd = pd;
	pd->object.users++;
	request->handle = mr->object.handle;
	request->lkey = mr->ib->lkey;
	request->rkey = mr->ib->rkey;
	return 0;

dereg:
	ib_dereg_mr(mr->ib);
free:
	kfree(mr);
	return error;
}

/* One entry per page, of which the first and the last may be parts. */
static int fill_table(struct sg_table *table, struct kagent_memory *memory,
		      u64 offset, u64 length)
{
	unsigned int first = offset >> PAGE_SHIFT;
	unsigned int count = ((offset + length - 1) >> PAGE_SHIFT) - first + 1;
	unsigned int within = offset & ~PAGE_MASK;
	struct scatterlist *entry;
	unsigned int i;
	int error;

	error = sg_alloc_table(table, count, GFP_KERNEL);
	if (error)
		return error;
	for_each_sg(table->sgl, entry, count, i) {
		unsigned int part = min_t(u64, PAGE_SIZE - within, length);

		sg_set_page(entry, memory->pages[first + i], part, within);
		length -= part;
		within = 0;
	}
	return 0;
}

static int map_table(struct kagent_mr *mr, struct kagent_mapping *mapping)
{
	struct ib_device *device = mr->ib->device;
	int mapped = ib_dma_map_sg(device, mapping->table.sgl,
				   mapping->table.orig_nents,
				   DMA_BIDIRECTIONAL);
	int used;

	if (!mapped)
		return -EIO;
	used = ib_map_mr_sg(mr->ib, mapping->table.sgl, mapped, NULL,
			    PAGE_SIZE);
	if (used == mapped)
		return 0;
	ib_dma_unmap_sg(device, mapping->table.sgl, mapping->table.orig_nents,
			DMA_BIDIRECTIONAL);
	return used < 0 ? used : -EINVAL;
}

static bool within(const struct kagent_memory *memory, u64 offset, u64 length)
{
	return length > 0 && offset <= memory->length &&
	       length <= memory->length - offset;
}

int kagent_map_mr(struct kagent_session *session, void *argument)
{
	struct rnic_kagent_map *request = argument;
	struct kagent_mr *mr =
		KAGENT_FIND(session, request->mr, KAGENT_MR, kagent_mr);
	struct kagent_memory *memory = KAGENT_FIND(
		session, request->memory, KAGENT_MEMORY, kagent_memory);
	struct kagent_mapping *mapping;
	int error;

	if (!mr || !memory)
		return -ENOENT;
	if (!within(memory, request->offset, request->length))
		return -ERANGE;
	if (request->set_iova &&
	    ((request->iova ^ request->offset) & ~PAGE_MASK) != 0)
		return -EINVAL;
	if (atomic_read(&mr->registering) > 0)
		return -EBUSY;
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;
	error = fill_table(&mapping->table, memory, request->offset,
			   request->length);
	if (error)
		goto free;
	error = map_table(mr, mapping);
	if (error)
		goto free_table;
	mapping->memory = memory;
	memory->object.users++;
	list_add(&mapping->entry, &mr->mappings);
	if (request->set_iova)
		mr->ib->iova = request->iova;
	ib_update_fast_reg_key(mr->ib, request->key);
	request->iova = mr->ib->iova;
	request->lkey = mr->ib->lkey;
	request->rkey = mr->ib->rkey;
	return 0;

free_table:
	sg_free_table(&mapping->table);
free:
	kfree(mapping);
	return error;
}

int kagent_destroy_mr(struct kagent_mr *mr)
{
	struct ib_device *device = mr->ib->device;
	struct kagent_mapping *mapping, *next;
	int error;

	error = ib_dereg_mr(mr->ib);
	if (error)
		return error;
	list_for_each_entry_safe(mapping, next, &mr->mappings, entry) {
		ib_dma_unmap_sg(device, mapping->table.sgl,
				mapping->table.orig_nents, DMA_BIDIRECTIONAL);
		sg_free_table(&mapping->table);
		mapping->memory->object.users--;
		kfree(mapping);
	}
	mr->pd->object.users--;
	kfree(mr);
	return 0;
}
