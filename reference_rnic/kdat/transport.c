// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * What differs between iWARP and InfiniBand. The connection manager of iWARP
 * moves a queue pair through its states; that of InfiniBand leaves it to
 * whoever has made the queue pair apart from the connection.
 */
#include <rdma/ib_cm.h>

#include "provider.h"

bool kdat_is_iwarp(const struct ib_device *ib)
{
	return rdma_protocol_iwarp(ib, rdma_start_port(ib));
}

bool kdat_is_peers(struct rdma_cm_id *cm, int status)
{
	return kdat_is_iwarp(cm->device) ||
	       status == IB_CM_REJ_CONSUMER_DEFINED;
}

DAT_COUNT kdat_private_limit(const struct kdat_ia *ia)
{
	return kdat_is_iwarp(ia->device->ib) ? KDAT_MAX_PRIVATE_DATA
					     : KDAT_MAX_IB_PRIVATE_DATA;
}

int kdat_init_qp(struct ib_qp *qp)
{
	struct ib_qp_attr attributes = {
		.qp_state = IB_QPS_INIT,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE,
		.port_num = rdma_start_port(qp->device),
	};
	int mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;

	if (!kdat_is_iwarp(qp->device))
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT;
	return ib_modify_qp(qp, &attributes, mask);
}

int kdat_start_qp(struct rdma_cm_id *cm, struct ib_qp *qp,
		  const struct rdma_conn_param *param)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR,
						   IB_QPS_RTS };
	struct ib_qp_attr attributes;
	int i, mask, error = 0;

	if (kdat_is_iwarp(qp->device))
		return 0;
	for (i = 0; i < ARRAY_SIZE(states) && !error; i++) {
		memset(&attributes, 0, sizeof(attributes));
		attributes.qp_state = states[i];
		error = rdma_init_qp_attr(cm, &attributes, &mask);
		if (error)
			break;
		if (states[i] == IB_QPS_RTR)
			attributes.max_dest_rd_atomic =
				param->responder_resources;
		if (states[i] == IB_QPS_RTS)
			attributes.max_rd_atomic = param->initiator_depth;
		error = ib_modify_qp(qp, &attributes, mask);
	}
	return error;
}
