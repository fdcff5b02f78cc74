// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The pages of a region description, and how a memory region gets them. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "provider.h"

static u64 page_size_of(DAT_MEM_TYPE type, const DAT_REGION_DESCRIPTION *region)
{
	return type == DAT_MEM_TYPE_PHYSICAL_VAR_PAGES
		       ? region->for_array.page_size
		       : PAGE_SIZE;
}

static const DAT_PADDR *list_of(DAT_MEM_TYPE type,
				const DAT_REGION_DESCRIPTION *region)
{
	return type == DAT_MEM_TYPE_PHYSICAL_VAR_PAGES ? region->for_array.pages
						       : region->for_physical;
}

static bool is_physical(DAT_MEM_TYPE type)
{
	return type == DAT_MEM_TYPE_PHYSICAL ||
	       type == DAT_MEM_TYPE_PHYSICAL_VAR_PAGES;
}

static DAT_RETURN check_list(DAT_MEM_TYPE type,
			     const DAT_REGION_DESCRIPTION *region, u64 length)
{
	const DAT_PADDR *list = list_of(type, region);
	u64 size = page_size_of(type, region);
	u64 i;

	/* Each page of the consumer's is several of the device's. */
	if (!is_power_of_2(size) || size < PAGE_SIZE || size > SZ_1G)
		return KDAT_INVALID(3);
	if (!list)
		return KDAT_INVALID(3);
	for (i = 0; i < DIV_ROUND_UP_ULL(length, size); i++)
		if (!IS_ALIGNED(list[i], size) ||
		    !pfn_valid(PHYS_PFN(list[i])) ||
		    !pfn_valid(PHYS_PFN(list[i] + size - 1)))
			return KDAT_INVALID(3);
	return DAT_SUCCESS;
}

static bool is_kernel_memory(const void *start, u64 length)
{
	unsigned long first = (unsigned long)start;

	if (!start || first + length < first)
		return false;
	if (is_vmalloc_addr(start))
		return is_vmalloc_addr((const void *)(first + length - 1));
	return virt_addr_valid(first) && virt_addr_valid(first + length - 1);
}

DAT_RETURN kdat_check_region(DAT_MEM_TYPE type,
			     const DAT_REGION_DESCRIPTION *region,
			     DAT_VLEN length)
{
	switch (type) {
	case DAT_MEM_TYPE_VIRTUAL:
		return is_kernel_memory(region->for_va, length)
			       ? DAT_SUCCESS
			       : KDAT_INVALID(3);
	case DAT_MEM_TYPE_PHYSICAL:
	case DAT_MEM_TYPE_PHYSICAL_VAR_PAGES:
		return check_list(type, region, length);
	case DAT_MEM_TYPE_PLATFORM:
	case DAT_MEM_TYPE_IA:
	case DAT_MEM_TYPE_BYPASS:
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	default:
		return KDAT_INVALID(2);
	}
}

u64 kdat_pages_of(DAT_MEM_TYPE type, const DAT_REGION_DESCRIPTION *region,
		  DAT_VLEN length)
{
	u64 size = page_size_of(type, region);
	u64 inset = is_physical(type) ? 0 : offset_in_page(region->for_va);

	return DIV_ROUND_UP_ULL(inset + length, size) * (size / PAGE_SIZE);
}

static struct page *page_of(const void *address)
{
	return is_vmalloc_addr(address) ? vmalloc_to_page(address)
					: virt_to_page(address);
}

static unsigned int fill_virtual(struct scatterlist *entry, u8 *start,
				 u64 length)
{
	unsigned int count = 0;

	while (length) {
		u64 part =
			min_t(u64, PAGE_SIZE - offset_in_page(start), length);

		sg_set_page(entry, page_of(start), part, offset_in_page(start));
		entry = sg_next(entry);
		start += part;
		length -= part;
		count++;
	}
	return count;
}

static unsigned int fill_physical(struct scatterlist *entry,
				  const DAT_PADDR *list, u64 size, u64 length)
{
	unsigned int count = 0;

	while (length) {
		u64 part = min(size, length);

		sg_set_page(entry, pfn_to_page(PHYS_PFN(list[count])), part, 0);
		entry = sg_next(entry);
		length -= part;
		count++;
	}
	return count;
}

static unsigned int fill_like(struct scatterlist *entry,
			      const struct kdat_lmr *like)
{
	unsigned int i;

	for (i = 0; i < like->mapped; i++, entry = sg_next(entry))
		sg_set_page(entry, sg_page(&like->entries[i]),
			    like->entries[i].length, like->entries[i].offset);
	return like->mapped;
}

static unsigned int fill(struct kdat_lmr *lmr, const struct kdat_lmr *like)
{
	if (like)
		return fill_like(lmr->entries, like);
	if (!is_physical(lmr->mem_type))
		return fill_virtual(lmr->entries, lmr->region.for_va,
				    lmr->length);
	return fill_physical(lmr->entries, list_of(lmr->mem_type, &lmr->region),
			     page_size_of(lmr->mem_type, &lmr->region),
			     lmr->length);
}

/* The first octet's address in work requests. */
static u64 address_of(const struct kdat_lmr *lmr)
{
	if (lmr->va_type == DAT_VA_TYPE_ZB)
		return 0;
	if (!is_physical(lmr->mem_type))
		return (uintptr_t)lmr->region.for_va;
	/* Physical pages have one in the kernel's own map. */
	return (uintptr_t)page_address(sg_page(lmr->entries));
}

/* In any context: the entries were allocated with the region. */
DAT_RETURN kdat_map_region(struct kdat_lmr *lmr, const struct kdat_lmr *like)
{
	struct ib_device *ib = lmr->mr->device;
	unsigned int count;
	int mapped;

	kdat_unmap_region(lmr);
	sg_init_table(lmr->entries, lmr->max_pages);
	count = fill(lmr, like);
	mapped = ib_dma_map_sg(ib, lmr->entries, count, DMA_BIDIRECTIONAL);
	if (!mapped)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES,
				 DAT_RESOURCE_MEMORY_REGION);
	lmr->mapped = count;
	if (ib_map_mr_sg(lmr->mr, lmr->entries, mapped, NULL, PAGE_SIZE) !=
	    mapped)
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	lmr->address = address_of(lmr);
	lmr->mr->iova = lmr->address;
	return DAT_SUCCESS;
}

void kdat_unmap_region(struct kdat_lmr *lmr)
{
	if (lmr->mapped)
		ib_dma_unmap_sg(lmr->mr->device, lmr->entries, lmr->mapped,
				DMA_BIDIRECTIONAL);
	lmr->mapped = 0;
}
