/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the parts of kdat share: its objects, and who may hold which lock.
 *
 * An object's consumer serialises the calls that may block on it. Spinlocks are
 * taken with interrupts off, since calls come from any context: a dispatcher's
 * lock is never held around another one, nor around an UpCall.
 */
#ifndef KDAT_PROVIDER_H
#define KDAT_PROVIDER_H

#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "kdat.h"

#define KDAT_MAX_PRIVATE_DATA 255 /* what rdma_conn_param can carry */
#define KDAT_MAX_IB_PRIVATE_DATA \
	56 /* of a request of InfiniBand's, with its IP header */
#define KDAT_MAX_SEGMENTS 16
/* Of every provider: stands for host physical addresses. No STag is 0. */
#define KDAT_RESERVED_CONTEXT 0

#define KDAT_INVALID(argument) \
	DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##argument)
#define KDAT_NO_MEMORY \
	DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)

/* A device of ib_core, for which one provider is registered. */
struct kdat_device {
	struct list_head entry;
	struct ib_device *ib;
	DAT_PROVIDER provider;
	DAT_PROVIDER_INFO info;
	spinlock_t lock; /* of what follows */
	struct list_head ias;
	bool removed;
};

struct kdat_object {
	const DAT_PROVIDER *provider; /* first, see DAT_HANDLE_TO_PROVIDER */
	DAT_HANDLE_TYPE type;
	struct kdat_ia *ia;
	struct list_head of_ia;
	DAT_CONTEXT context;
	atomic_t users; /* objects that need it */
};

struct kdat_ia {
	struct kdat_object object;
	struct kdat_device *device;
	struct list_head of_device;
	struct sockaddr_storage address;
	spinlock_t lock; /* of the lists of objects and works */
	struct list_head objects;
	struct list_head dead_works; /* of shared queues that are gone */
	struct kdat_evd *async_evd;
	struct xarray lmrs, rmrs; /* by the index of their contexts */
	struct kdat_lmr *reserved;
};

struct kdat_evd {
	struct kdat_object object;
	DAT_EVD_FLAGS flags;
	DAT_COUNT qlen;
	struct ib_cq *cq; /* if it takes DTO completions */

	spinlock_t lock; /* of what follows */
	DAT_EVENT *ring;
	DAT_COUNT first, count;
	bool news; /* an event that no notification was for */
	DAT_UPCALL_POLICY policy;
	DAT_UPCALL_OBJECT upcall;
	struct list_head streams; /* of endpoints that complete here */
	struct list_head works;	  /* posted, and not completed yet */
	struct tasklet_struct tasklet;
};

/* The connection of a zone with itself, through which it registers memory. */
struct kdat_registrar {
	struct mutex mutex;
	wait_queue_head_t changed;
	u64 token; /* by which it knows itself */
	struct ib_cq *cq;
	struct ib_qp *active_qp, *passive_qp;
	struct rdma_cm_id *listener, *active, *passive;
	int established; /* ends */
	int failed;
};

struct kdat_pz {
	struct kdat_object object;
	struct ib_pd *pd;
	struct kdat_registrar registrar;
};

struct kdat_lmr {
	struct kdat_object object;
	struct kdat_pz *pz;
	struct ib_mr *mr;
	DAT_MEM_TYPE mem_type;
	DAT_REGION_DESCRIPTION region;
	DAT_VLEN length;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	DAT_VADDR address;
	DAT_LMR_CONTEXT stag; /* of both contexts */
	u32 max_pages;
	struct scatterlist *entries; /* so many */
	unsigned int mapped;	     /* of them, for the device */
	DAT_LMR_HANDLE source; /* DAT_MEM_TYPE_LMR: the region it is like */
	bool fast;	       /* made by dat_lmr_allocate */
	bool bound;	       /* the STag is valid, or about to be */
	atomic_t working;      /* work requests that name it */
};

/* A registration of an RMR: of two, one is bound. */
struct kdat_half {
	struct ib_mr *mr;
	struct scatterlist *entries;
	unsigned int mapped;
};
#define KDAT_HALVES 2

struct kdat_rmr {
	struct kdat_object object;
	struct kdat_pz *pz;
	struct kdat_half half[KDAT_HALVES];
	unsigned int current_half; /* bound, or the last that was */
	u32 max_pages;
	atomic_t working; /* a bind is posted */
	/* With the lock of the IA: */
	bool bound;		  /* or about to be */
	struct kdat_lmr *lmr;	  /* that it is bound to */
	struct kdat_lmr *leaving; /* until the bind is done */
	DAT_LMR_TRIPLET segment;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	DAT_RMR_CONTEXT stag;
};

struct kdat_srq {
	struct kdat_object object;
	struct kdat_pz *pz;
	struct ib_srq *srq;
	DAT_SRQ_ATTR attr;
	struct list_head works; /* with the lock of the IA */
	atomic_t outstanding;
};

/* One of the two queues of an endpoint, in the list of its dispatcher. */
struct kdat_stream {
	struct list_head entry;
	struct kdat_ep *ep;
};

struct kdat_ep {
	struct kdat_object object;
	u64 serial; /* never used twice */
	struct kdat_pz *pz;
	struct kdat_evd *recv_evd, *request_evd, *connect_evd;
	struct kdat_srq *srq;
	DAT_EP_ATTR attr;
	struct kdat_stream recv, request;
	atomic_t recv_outstanding, request_outstanding;
	struct ib_qp *qp;

	struct mutex mutex; /* of `cm`, and of each change of the state */
	struct rdma_cm_id *cm;
	DAT_EP_STATE state;
	bool was_connected;
	unsigned int timeout_ms;
	struct delayed_work timer;
	struct work_struct
		broken; /* ends a connection that an error has ended */
	/* The consumer's, until the peer's arrives. */
	DAT_COUNT private_size;
	u8 private_data[KDAT_MAX_PRIVATE_DATA];
};

/* A service point: public, reserved or common. */
struct kdat_sp {
	struct kdat_object object;
	struct kdat_evd *evd;
	DAT_CONN_QUAL qualifier;
	struct mutex mutex;	 /* of `cm` */
	struct rdma_cm_id *cm;	 /* NULL: it listens no more */
	struct kdat_ep *ep;	 /* reserved */
	struct kdat_cr *request; /* that the reservation was for */
	struct work_struct taken;
	DAT_COMM comm; /* common */
	struct sockaddr_storage address;
};

struct kdat_cr {
	struct kdat_object object;
	struct rdma_cm_id *cm;
	struct kdat_ep *ep; /* of a reserved point */
	bool gone;	    /* the peer has given up */
	DAT_COUNT private_size;
	u8 private_data[KDAT_MAX_PRIVATE_DATA];
};

/* A piece of host memory, mapped for one work request. */
struct kdat_mapped {
	u64 address;
	u32 length;
};

struct kdat_work {
	struct list_head entry;
	struct ib_cqe cqe;
	struct kdat_ia *ia;
	struct kdat_srq *srq; /* posted to it, if it still is there */
	u64 ep_serial; /* posted to this endpoint; 0: to a shared queue */
	struct kdat_lmr *lmr;
	struct kdat_rmr *rmr;
	DAT_CONTEXT cookie;
	DAT_DTOS operation;
	bool receive;
	bool suppress;
	u32 length;
	enum dma_data_direction direction;
	unsigned int mapped_count;
	struct kdat_mapped mapped[];
};

/* registry.c: of a device that goes */
void kdat_withdraw(const DAT_PROVIDER *provider);
void kdat_remove_when_closed(const DAT_PROVIDER *provider);

/* objects.c */
void kdat_add(struct kdat_ia *ia, struct kdat_object *object,
	      DAT_HANDLE_TYPE type);
void kdat_forget(struct kdat_object *object);
void *kdat_find(DAT_HANDLE handle, DAT_HANDLE_TYPE type);
#define KDAT_FIND(handle, TYPE) kdat_find(handle, DAT_HANDLE_TYPE_##TYPE)
DAT_RETURN kdat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);
DAT_RETURN kdat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context);
DAT_RETURN kdat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type);
DAT_RETURN kdat_pz_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE *made);
DAT_RETURN kdat_pz_query(DAT_PZ_HANDLE handle, DAT_PZ_PARAM_MASK mask,
			 DAT_PZ_PARAM *param);
DAT_RETURN kdat_pz_free(DAT_PZ_HANDLE handle);

/* ia.c */
DAT_RETURN kdat_ia_open(const char *name, DAT_COUNT async_qlen,
			DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *made);
DAT_RETURN kdat_ia_close(DAT_IA_HANDLE handle, DAT_CLOSE_FLAGS flags);
DAT_RETURN kdat_ia_query(DAT_IA_HANDLE handle, DAT_EVD_HANDLE *async_evd,
			 DAT_IA_ATTR_MASK mask, DAT_IA_ATTR *attr,
			 DAT_PROVIDER_ATTR_MASK provider_mask,
			 DAT_PROVIDER_ATTR *provider_attr);
DAT_RETURN kdat_ia_memtype_hint(DAT_IA_HANDLE handle, DAT_MEM_TYPE type,
				DAT_VLEN length, DAT_MEM_OPTIMIZE_FLAGS flags,
				DAT_VLEN *preferred, DAT_VADDR *alignment);
struct kdat_device *kdat_device_of(const char *name);

/* address.c */
int kdat_find_address(struct ib_device *device, struct sockaddr_storage *found);

/* evd.c */
DAT_RETURN kdat_evd_kcreate(DAT_IA_HANDLE handle, DAT_COUNT qlen,
			    DAT_UPCALL_POLICY policy,
			    const DAT_UPCALL_OBJECT *upcall,
			    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *made);
DAT_RETURN kdat_evd_modify_upcall(DAT_EVD_HANDLE handle,
				  DAT_UPCALL_POLICY policy,
				  const DAT_UPCALL_OBJECT *upcall,
				  DAT_UPCALL_FLAG flag);
DAT_RETURN kdat_evd_query(DAT_EVD_HANDLE handle, DAT_EVD_PARAM_MASK mask,
			  DAT_EVD_PARAM *param);
DAT_RETURN kdat_evd_post_se(DAT_EVD_HANDLE handle, const DAT_EVENT *event);
DAT_RETURN kdat_evd_dequeue(DAT_EVD_HANDLE handle, DAT_EVENT *event);
DAT_RETURN kdat_evd_resize(DAT_EVD_HANDLE handle, DAT_COUNT qlen);
DAT_RETURN kdat_evd_free(DAT_EVD_HANDLE handle);
DAT_RETURN kdat_make_evd(struct kdat_ia *ia, DAT_COUNT qlen,
			 DAT_UPCALL_POLICY policy,
			 const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags,
			 struct kdat_evd **made);
void kdat_destroy_evd(struct kdat_evd *evd);
/* False if the queue is full: then the event is lost, and the IA told. */
bool kdat_tell(struct kdat_evd *evd, DAT_EVENT *event);
void kdat_tell_async(struct kdat_ia *ia, DAT_EVENT_NUMBER number,
		     struct kdat_object *object, DAT_COUNT reason);

/* registrar.c */
void kdat_init_registrar(struct kdat_registrar *registrar);
void kdat_stop_registrar(struct kdat_registrar *registrar);
/* Makes the STag of a mapped region valid. */
int kdat_register(struct kdat_pz *pz, struct kdat_lmr *lmr);

/* lmr.c */
DAT_RETURN kdat_lmr_kcreate(DAT_IA_HANDLE handle, DAT_MEM_TYPE type,
			    DAT_REGION_DESCRIPTION region, DAT_VLEN length,
			    DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
			    DAT_VA_TYPE va_type, DAT_MEM_OPTIMIZE_FLAGS flags,
			    DAT_LMR_HANDLE *made, DAT_LMR_CONTEXT *lmr_context,
			    DAT_RMR_CONTEXT *rmr_context,
			    DAT_VLEN *registered_length,
			    DAT_VADDR *registered_address);
DAT_RETURN kdat_lmr_allocate(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
			     DAT_COUNT max_pages, DAT_LMR_SCOPE scope,
			     DAT_LMR_HANDLE *made);
DAT_RETURN kdat_lmr_query(DAT_LMR_HANDLE handle, DAT_LMR_PARAM_MASK mask,
			  DAT_LMR_PARAM *param);
DAT_RETURN kdat_lmr_free(DAT_LMR_HANDLE handle);
DAT_RETURN kdat_ia_reserved_lmr(DAT_IA_HANDLE handle, DAT_LMR_HANDLE *lmr,
				DAT_LMR_CONTEXT *context);
DAT_RETURN kdat_lmr_sync(DAT_IA_HANDLE handle, const DAT_LMR_TRIPLET *segments,
			 DAT_VLEN count);
void kdat_destroy_lmr(struct kdat_lmr *lmr);
/* The living region of this context, or NULL. */
struct kdat_lmr *kdat_lmr_of(struct kdat_ia *ia, DAT_LMR_CONTEXT context);
int kdat_access(DAT_MEM_PRIV_FLAGS privileges);

/* region.c: the pages of a description, mapped into the region. */
DAT_RETURN kdat_check_region(DAT_MEM_TYPE type,
			     const DAT_REGION_DESCRIPTION *region,
			     DAT_VLEN length);
u64 kdat_pages_of(DAT_MEM_TYPE type, const DAT_REGION_DESCRIPTION *region,
		  DAT_VLEN length);
DAT_RETURN kdat_map_region(struct kdat_lmr *lmr, const struct kdat_lmr *like);
void kdat_unmap_region(struct kdat_lmr *lmr);

/* rmr.c */
DAT_RETURN kdat_rmr_create(DAT_PZ_HANDLE handle, DAT_RMR_HANDLE *made);
DAT_RETURN kdat_rmr_create_for_ep(DAT_PZ_HANDLE handle, DAT_RMR_HANDLE *made);
DAT_RETURN kdat_rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask,
			  DAT_RMR_PARAM *param);
DAT_RETURN kdat_rmr_bind(DAT_RMR_HANDLE handle, DAT_LMR_HANDLE lmr,
			 const DAT_LMR_TRIPLET *segment,
			 DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			 DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
			 DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context);
DAT_RETURN kdat_rmr_free(DAT_RMR_HANDLE handle);
void kdat_destroy_rmr(struct kdat_rmr *rmr);
void kdat_bind_done(struct kdat_rmr *rmr, bool success);
/* The peer has invalidated this context; it may be no RMR's. */
void kdat_peer_unbound(struct kdat_ia *ia, DAT_RMR_CONTEXT context);
/* Whether a Read of the zone may have it as its sink. */
DAT_RETURN kdat_check_sink(struct kdat_pz *pz, const DAT_RMR_TRIPLET *sink);

/* ep.c */
DAT_RETURN kdat_ep_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
			  DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			  DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
			  DAT_EP_HANDLE *made);
DAT_RETURN kdat_ep_create_with_srq(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
				   DAT_EVD_HANDLE recv_evd,
				   DAT_EVD_HANDLE request_evd,
				   DAT_EVD_HANDLE connect_evd,
				   DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr,
				   DAT_EP_HANDLE *made);
DAT_RETURN kdat_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
			  const DAT_EP_PARAM *param);
DAT_RETURN kdat_ep_reset(DAT_EP_HANDLE handle);
DAT_RETURN kdat_ep_free(DAT_EP_HANDLE handle);
void kdat_destroy_ep(struct kdat_ep *ep);

/* ep_query.c */
DAT_RETURN kdat_ep_query(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
			 DAT_EP_PARAM *param);
DAT_RETURN kdat_ep_get_status(DAT_EP_HANDLE handle, DAT_EP_STATE *state,
			      DAT_BOOLEAN *recv_idle,
			      DAT_BOOLEAN *request_idle);
DAT_RETURN kdat_ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *buffers,
			      DAT_COUNT *span);
DAT_RETURN kdat_ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft,
				 DAT_COUNT hard);

/* connection.c */
DAT_RETURN kdat_ep_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address,
			   DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
			   DAT_COUNT size, const void *private_data,
			   DAT_QOS qos, DAT_CONNECT_FLAGS flags);
DAT_RETURN kdat_ep_dup_connect(DAT_EP_HANDLE handle, DAT_EP_HANDLE as,
			       DAT_TIMEOUT timeout, DAT_COUNT size,
			       const void *private_data, DAT_QOS qos);
DAT_RETURN kdat_ep_common_connect(DAT_EP_HANDLE handle,
				  DAT_IA_ADDRESS_PTR address,
				  DAT_TIMEOUT timeout, DAT_COUNT size,
				  const void *private_data);
DAT_RETURN kdat_ep_disconnect(DAT_EP_HANDLE handle, DAT_CLOSE_FLAGS flags);
void kdat_connect_timed_out(struct work_struct *work);
void kdat_accept_failed(struct kdat_ep *ep, struct rdma_cm_id *cm);
void kdat_end_connection(struct kdat_ep *ep);
void kdat_end_broken(struct work_struct *work);
struct rdma_conn_param kdat_conn_param(const struct kdat_ep *ep,
				       const void *data, DAT_COUNT size);
int kdat_cm_event(struct rdma_cm_id *cm, struct rdma_cm_event *event);

/* transport.c: what differs between iWARP and InfiniBand */
bool kdat_is_iwarp(const struct ib_device *ib);
/* A rejection: whether it is the consumer's at the other end. */
bool kdat_is_peers(struct rdma_cm_id *cm, int status);
DAT_COUNT kdat_private_limit(const struct kdat_ia *ia);
/* From its beginning into the state in which a connection takes it. */
int kdat_init_qp(struct ib_qp *qp);
/* Where the driver's connection manager does not do it. */
int kdat_start_qp(struct rdma_cm_id *cm, struct ib_qp *qp,
		  const struct rdma_conn_param *param);

/* service_point.c */
DAT_RETURN kdat_psp_create(DAT_IA_HANDLE handle, DAT_CONN_QUAL qualifier,
			   DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
			   DAT_PSP_HANDLE *made);
DAT_RETURN kdat_psp_create_any(DAT_IA_HANDLE handle, DAT_CONN_QUAL *qualifier,
			       DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
			       DAT_PSP_HANDLE *made);
DAT_RETURN kdat_psp_query(DAT_PSP_HANDLE handle, DAT_PSP_PARAM_MASK mask,
			  DAT_PSP_PARAM *param);
DAT_RETURN kdat_psp_free(DAT_PSP_HANDLE handle);
DAT_RETURN kdat_rsp_create(DAT_IA_HANDLE handle, DAT_CONN_QUAL qualifier,
			   DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd,
			   DAT_RSP_HANDLE *made);
DAT_RETURN kdat_rsp_query(DAT_RSP_HANDLE handle, DAT_RSP_PARAM_MASK mask,
			  DAT_RSP_PARAM *param);
DAT_RETURN kdat_rsp_free(DAT_RSP_HANDLE handle);
DAT_RETURN kdat_csp_create(DAT_IA_HANDLE handle, DAT_COMM *comm,
			   DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd,
			   DAT_CSP_HANDLE *made);
DAT_RETURN kdat_csp_query(DAT_CSP_HANDLE handle, DAT_CSP_PARAM_MASK mask,
			  DAT_CSP_PARAM *param);
DAT_RETURN kdat_csp_free(DAT_CSP_HANDLE handle);
void kdat_destroy_sp(struct kdat_sp *sp);

/* cr.c */
DAT_RETURN kdat_cr_query(DAT_CR_HANDLE handle, DAT_CR_PARAM_MASK mask,
			 DAT_CR_PARAM *param);
DAT_RETURN kdat_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep,
			  DAT_COUNT size, const void *private_data);
DAT_RETURN kdat_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size,
			  const void *private_data);
DAT_RETURN kdat_cr_handoff(DAT_CR_HANDLE handle, DAT_CONN_QUAL qualifier);
void kdat_destroy_cr(struct kdat_cr *cr);
int kdat_take_request(struct kdat_sp *sp, struct rdma_cm_id *cm,
		      const struct rdma_conn_param *param);
/* Of the request of a reserved point, once that listens no more. */
void kdat_tell_reserved(struct kdat_sp *sp);

/* srq.c */
DAT_RETURN kdat_srq_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz,
			   const DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *made);
DAT_RETURN kdat_srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask,
			  DAT_SRQ_PARAM *param);
DAT_RETURN kdat_srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT dtos);
DAT_RETURN kdat_srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT watermark);
DAT_RETURN kdat_srq_free(DAT_SRQ_HANDLE handle);
void kdat_destroy_srq(struct kdat_srq *srq);

/* work.c: work requests and their completions */
struct kdat_work *kdat_make_work(struct kdat_pz *pz, DAT_CONTEXT cookie,
				 DAT_DTOS operation, DAT_COUNT segments);
void kdat_free_work(struct kdat_work *work);
void kdat_free_works(struct list_head *works);
/* Fills in the scatter-gather list; what is beyond `limit` is left out. */
DAT_RETURN kdat_fill(struct kdat_work *work, struct kdat_pz *pz,
		     const DAT_LMR_TRIPLET *segments, DAT_COUNT count,
		     DAT_MEM_PRIV_FLAGS needed, u64 limit, struct ib_sge *list,
		     int *used);
void kdat_work_done(struct ib_cq *cq, struct ib_wc *wc);
void kdat_describe_bind(const struct kdat_work *work, const struct ib_wc *wc,
			DAT_EVENT *event);

/* post.c */
DAT_RETURN kdat_check_request_state(const struct kdat_ep *ep);
/* The work is the queue's from then on, or is freed. */
DAT_RETURN kdat_post_request(struct kdat_ep *ep, struct kdat_work *work,
			     struct ib_send_wr *wr, DAT_COMPLETION_FLAGS flags);
/* The same with others before it, whose first is `first`; only `wr` is told. */
DAT_RETURN kdat_post_chain(struct kdat_ep *ep, struct kdat_work *work,
			   struct ib_send_wr *first, struct ib_send_wr *wr,
			   DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT count,
			     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
			     DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_ep_post_send_with_invalidate(
	DAT_EP_HANDLE handle, DAT_COUNT count, DAT_LMR_TRIPLET *segments,
	DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
	DAT_BOOLEAN invalidate, DAT_RMR_CONTEXT context);
DAT_RETURN kdat_ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT count,
			     DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie,
			     DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT count,
				  DAT_LMR_TRIPLET *segments,
				  DAT_DTO_COOKIE cookie,
				  const DAT_RMR_TRIPLET *from,
				  DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE handle,
					 const DAT_RMR_TRIPLET *sink,
					 DAT_DTO_COOKIE cookie,
					 const DAT_RMR_TRIPLET *from,
					 DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT count,
				   DAT_LMR_TRIPLET *segments,
				   DAT_DTO_COOKIE cookie,
				   const DAT_RMR_TRIPLET *to,
				   DAT_COMPLETION_FLAGS flags);
DAT_RETURN kdat_srq_post_recv(DAT_SRQ_HANDLE handle, DAT_COUNT count,
			      DAT_LMR_TRIPLET *segments, DAT_DTO_COOKIE cookie);

/* fmr.c */
DAT_RETURN kdat_lmr_fmr(DAT_LMR_HANDLE handle, DAT_MEM_TYPE type,
			DAT_REGION_DESCRIPTION region, DAT_VLEN page_count,
			DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			DAT_EP_HANDLE ep, DAT_LMR_COOKIE cookie,
			DAT_COMPLETION_FLAGS flags,
			DAT_LMR_CONTEXT *lmr_context,
			DAT_RMR_CONTEXT *rmr_context);
DAT_RETURN kdat_lmr_invalidate(DAT_LMR_HANDLE handle, DAT_EP_HANDLE ep,
			       DAT_LMR_COOKIE cookie,
			       DAT_COMPLETION_FLAGS flags);

#endif /* KDAT_PROVIDER_H */
