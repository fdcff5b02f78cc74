// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * The connection of a protection zone with itself.
 *
 * A kernel consumer makes an STag valid by a work request, and that needs a
 * connected queue pair of the same protection domain. dat_lmr_kcreate has no
 * endpoint, and its STag is the zone's. So a zone that registers memory has a
 * connection of its own for that, made when it is first needed.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "provider.h"

#define DEPTH 4
#define TIMEOUT_MS 10000

void kdat_init_registrar(struct kdat_registrar *registrar)
{
	mutex_init(&registrar->mutex);
	init_waitqueue_head(&registrar->changed);
}

static struct rdma_conn_param parameters(struct kdat_registrar *registrar,
					 const struct ib_qp *qp)
{
	return (struct rdma_conn_param){
		.private_data = &registrar->token,
		.private_data_len = sizeof(registrar->token),
		.responder_resources = 1,
		.initiator_depth = 1,
		.qp_num = qp->qp_num,
	};
}

/* Anybody can connect to the port: only the token is from here. */
static int take_request(struct kdat_registrar *registrar, struct rdma_cm_id *cm,
			const struct rdma_conn_param *given)
{
	struct rdma_conn_param taken =
		parameters(registrar, registrar->passive_qp);

	if (registrar->passive ||
	    given->private_data_len < sizeof(registrar->token) ||
	    memcmp(given->private_data, &registrar->token,
		   sizeof(registrar->token)))
		return -EACCES;
	registrar->passive = cm;
	/* If it fails, the other end is told, or times out. */
	if (!kdat_start_qp(cm, registrar->passive_qp, &taken))
		rdma_accept(cm, &taken);
	return 0;
}

static int handle(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	struct kdat_registrar *registrar = cm->context;
	struct rdma_conn_param given;
	int error = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		error = rdma_resolve_route(cm, TIMEOUT_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		given = parameters(registrar, registrar->active_qp);
		error = rdma_connect_locked(cm, &given);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return take_request(registrar, cm, &event->param.conn);
	case RDMA_CM_EVENT_CONNECT_RESPONSE: /* of InfiniBand */
		given = parameters(registrar, registrar->active_qp);
		error = kdat_start_qp(cm, registrar->active_qp, &given);
		if (!error)
			error = rdma_accept(cm, NULL);
		if (error)
			break;
		fallthrough;
	case RDMA_CM_EVENT_ESTABLISHED:
		WRITE_ONCE(registrar->established, registrar->established + 1);
		break;
	default:
		error = event->status ?: -ENOTCONN;
		break;
	}
	if (error)
		WRITE_ONCE(registrar->failed, error);
	wake_up(&registrar->changed);
	return 0;
}

static struct ib_qp *make_qp(struct kdat_pz *pz)
{
	struct ib_qp_init_attr attributes = {
		.send_cq = pz->registrar.cq,
		.recv_cq = pz->registrar.cq,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	return ib_create_qp(pz->pd, &attributes);
}

static struct rdma_cm_id *make_id(struct kdat_registrar *registrar)
{
	return rdma_create_id(&init_net, handle, registrar, RDMA_PS_TCP,
			      IB_QPT_RC);
}

static int make_objects(struct kdat_pz *pz)
{
	struct kdat_registrar *registrar = &pz->registrar;

	registrar->cq = ib_alloc_cq(pz->pd->device, NULL, 4 * DEPTH, 0,
				    IB_POLL_SOFTIRQ);
	if (IS_ERR(registrar->cq))
		return PTR_ERR(registrar->cq);
	registrar->active_qp = make_qp(pz);
	if (IS_ERR(registrar->active_qp))
		return PTR_ERR(registrar->active_qp);
	registrar->passive_qp = make_qp(pz);
	if (IS_ERR(registrar->passive_qp))
		return PTR_ERR(registrar->passive_qp);
	registrar->listener = make_id(registrar);
	if (IS_ERR(registrar->listener))
		return PTR_ERR(registrar->listener);
	registrar->active = make_id(registrar);
	return PTR_ERR_OR_ZERO(registrar->active);
}

static int start(struct kdat_pz *pz)
{
	struct kdat_registrar *registrar = &pz->registrar;
	struct sockaddr_storage own = pz->object.ia->address;
	struct sockaddr *address = (struct sockaddr *)&own;
	int error = make_objects(pz);

	if (error)
		return error;
	registrar->token = get_random_u64();
	error = rdma_bind_addr(registrar->listener, address);
	if (!error)
		error = rdma_listen(registrar->listener, 1);
	if (error)
		return error;
	address = (struct sockaddr *)&registrar->listener->route.addr.src_addr;
	error = rdma_resolve_addr(registrar->active, NULL, address, TIMEOUT_MS);
	if (error)
		return error;
	wait_event_timeout(registrar->changed,
			   READ_ONCE(registrar->established) == 2 ||
				   READ_ONCE(registrar->failed),
			   msecs_to_jiffies(TIMEOUT_MS));
	if (registrar->failed)
		return registrar->failed;
	return registrar->established == 2 ? 0 : -ETIMEDOUT;
}

static void destroy_qp(struct ib_qp *qp)
{
	struct ib_qp_attr attributes = { .qp_state = IB_QPS_ERR };

	if (IS_ERR_OR_NULL(qp))
		return;
	ib_modify_qp(qp, &attributes, IB_QP_STATE);
	ib_destroy_qp(qp);
}

static void destroy_id(struct rdma_cm_id *cm)
{
	if (!IS_ERR_OR_NULL(cm))
		rdma_destroy_id(cm);
}

void kdat_stop_registrar(struct kdat_registrar *registrar)
{
	/* After the listener is gone no request comes. */
	destroy_id(registrar->listener);
	destroy_id(registrar->active);
	destroy_id(registrar->passive);
	destroy_qp(registrar->active_qp);
	destroy_qp(registrar->passive_qp);
	if (!IS_ERR_OR_NULL(registrar->cq))
		ib_free_cq(registrar->cq);
	registrar->listener = NULL;
	registrar->active = NULL;
	registrar->passive = NULL;
	registrar->active_qp = NULL;
	registrar->passive_qp = NULL;
	registrar->cq = NULL;
	registrar->established = 0;
	registrar->failed = 0;
}

struct registration {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct registration *waiting =
		container_of(wc->wr_cqe, struct registration, cqe);

	waiting->status = wc->status;
	complete(&waiting->done);
}

static int post_registration(struct kdat_registrar *registrar,
			     struct kdat_lmr *lmr)
{
	struct registration waiting = { .cqe.done = registered };
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
			.wr_cqe = &waiting.cqe },
		.mr = lmr->mr,
		.key = lmr->stag,
		.access = kdat_access(lmr->privileges),
	};
	int error;

	init_completion(&waiting.done);
	error = ib_post_send(registrar->active_qp, &wr.wr, NULL);
	if (error)
		return error;
	wait_for_completion(&waiting.done);
	return waiting.status == IB_WC_SUCCESS ? 0 : -EIO;
}

int kdat_register(struct kdat_pz *pz, struct kdat_lmr *lmr)
{
	struct kdat_registrar *registrar = &pz->registrar;
	int error = 0;

	mutex_lock(&registrar->mutex);
	/* A connection that has ended meanwhile is made again. */
	if (registrar->failed)
		kdat_stop_registrar(registrar);
	if (!registrar->established)
		error = start(pz);
	if (!error)
		error = post_registration(registrar, lmr);
	if (error)
		kdat_stop_registrar(registrar);
	mutex_unlock(&registrar->mutex);
	return error;
}
