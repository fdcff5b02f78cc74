// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The address of an IA: the first IPv4 address of its device. */
#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "provider.h"

#define MAX_ADDRESSES 64

static unsigned int list_addresses(__be32 *list)
{
	const struct in_ifaddr *each;
	struct net_device *device;
	unsigned int count = 0;

	rtnl_lock();
	for_each_netdev(&init_net, device) {
		struct in_device *in = __in_dev_get_rtnl(device);

		if (!in || (device->flags & IFF_LOOPBACK))
			continue;
		for (each = rtnl_dereference(in->ifa_list);
		     each && count < MAX_ADDRESSES;
		     each = rtnl_dereference(each->ifa_next))
			list[count++] = each->ifa_local;
	}
	rtnl_unlock();
	return count;
}

static int ignore_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	return 0;
}

/* The connection manager knows: it binds an address to the device that has it. */
static bool is_of_device(struct ib_device *device, struct sockaddr *address)
{
	struct rdma_cm_id *cm = rdma_create_id(&init_net, ignore_event, NULL,
					       RDMA_PS_TCP, IB_QPT_RC);
	bool is = false;

	if (IS_ERR(cm))
		return false;
	if (!rdma_bind_addr(cm, address))
		is = cm->device == device;
	rdma_destroy_id(cm);
	return is;
}

int kdat_find_address(struct ib_device *device, struct sockaddr_storage *found)
{
	struct sockaddr_in *address = (struct sockaddr_in *)found;
	__be32 *list;
	unsigned int i, count;
	int error = -EADDRNOTAVAIL;

	list = kcalloc(MAX_ADDRESSES, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	count = list_addresses(list);
	for (i = 0; i < count && error; i++) {
		memset(found, 0, sizeof(*found));
		address->sin_family = AF_INET;
		address->sin_addr.s_addr = list[i];
		if (is_of_device(device, (struct sockaddr *)address))
			error = 0;
	}
	kfree(list);
	return error;
}
