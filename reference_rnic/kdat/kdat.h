/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * kDAPL 2.0: the calls. A handle begins with the provider that it is of, and a
 * call goes to that provider's table; one that the provider lacks returns
 * DAT_NOT_IMPLEMENTED.
 *
 * A call under "may block" is for process context, where sleeping is allowed.
 * Each other one is safe in any context, UpCalls and hard interrupts included.
 * A handle that the consumer has freed must not be used again: nothing in the
 * kernel can tell it from a living one.
 */
#ifndef KDAT_H
#define KDAT_H

#include "kdat_types.h"

#define DAT_VERSION_MAJOR 2
#define DAT_VERSION_MINOR 0

struct dat_provider {
	const char *device_name;
	void *extension; /* the provider's own */

	/* may block */
	DAT_RETURN (*ia_open_func)(const char *name, DAT_COUNT async_qlen,
				   DAT_EVD_HANDLE *async_evd,
				   DAT_IA_HANDLE *ia);
	DAT_RETURN (*ia_close_func)(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);
	DAT_RETURN (*ia_reserved_lmr_func)(DAT_IA_HANDLE ia,
					   DAT_LMR_HANDLE *lmr,
					   DAT_LMR_CONTEXT *context);
	DAT_RETURN (*pz_create_func)(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz);
	DAT_RETURN (*pz_free_func)(DAT_PZ_HANDLE pz);
	DAT_RETURN (*evd_kcreate_func)(DAT_IA_HANDLE ia, DAT_COUNT qlen,
				       DAT_UPCALL_POLICY policy,
				       const DAT_UPCALL_OBJECT *upcall,
				       DAT_EVD_FLAGS flags,
				       DAT_EVD_HANDLE *evd);
	DAT_RETURN (*evd_resize_func)(DAT_EVD_HANDLE evd, DAT_COUNT qlen);
	DAT_RETURN (*evd_free_func)(DAT_EVD_HANDLE evd);
	DAT_RETURN (*lmr_kcreate_func)(
		DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
		DAT_REGION_DESCRIPTION region, DAT_VLEN length,
		DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
		DAT_VA_TYPE va_type, DAT_MEM_OPTIMIZE_FLAGS optimization,
		DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
		DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
		DAT_VADDR *registered_address);
	DAT_RETURN (*lmr_allocate_func)(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
					DAT_COUNT max_pages,
					DAT_LMR_SCOPE scope,
					DAT_LMR_HANDLE *lmr);
	DAT_RETURN (*lmr_free_func)(DAT_LMR_HANDLE lmr);
	DAT_RETURN (*rmr_create_func)(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr);
	DAT_RETURN (*rmr_create_for_ep_func)(DAT_PZ_HANDLE pz,
					     DAT_RMR_HANDLE *rmr);
	DAT_RETURN (*rmr_free_func)(DAT_RMR_HANDLE rmr);
	DAT_RETURN (*ep_create_func)(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
				     DAT_EVD_HANDLE recv_evd,
				     DAT_EVD_HANDLE request_evd,
				     DAT_EVD_HANDLE connect_evd,
				     const DAT_EP_ATTR *attr,
				     DAT_EP_HANDLE *ep);
	DAT_RETURN (*ep_create_with_srq_func)(
		DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
		DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
		DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);
	DAT_RETURN (*ep_modify_func)(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask,
				     const DAT_EP_PARAM *param);
	DAT_RETURN (*ep_connect_func)(DAT_EP_HANDLE ep,
				      DAT_IA_ADDRESS_PTR address,
				      DAT_CONN_QUAL qualifier,
				      DAT_TIMEOUT timeout, DAT_COUNT size,
				      const void *private_data, DAT_QOS qos,
				      DAT_CONNECT_FLAGS flags);
	DAT_RETURN (*ep_dup_connect_func)(DAT_EP_HANDLE ep, DAT_EP_HANDLE as,
					  DAT_TIMEOUT timeout, DAT_COUNT size,
					  const void *private_data,
					  DAT_QOS qos);
	DAT_RETURN (*ep_common_connect_func)(DAT_EP_HANDLE ep,
					     DAT_IA_ADDRESS_PTR address,
					     DAT_TIMEOUT timeout,
					     DAT_COUNT size,
					     const void *private_data);
	DAT_RETURN (*ep_disconnect_func)(DAT_EP_HANDLE ep,
					 DAT_CLOSE_FLAGS flags);
	DAT_RETURN (*ep_reset_func)(DAT_EP_HANDLE ep);
	DAT_RETURN (*ep_free_func)(DAT_EP_HANDLE ep);
	DAT_RETURN (*srq_create_func)(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
				      const DAT_SRQ_ATTR *attr,
				      DAT_SRQ_HANDLE *srq);
	DAT_RETURN (*srq_free_func)(DAT_SRQ_HANDLE srq);
	DAT_RETURN (*srq_resize_func)(DAT_SRQ_HANDLE srq, DAT_COUNT dtos);
	DAT_RETURN (*srq_set_lw_func)(DAT_SRQ_HANDLE srq, DAT_COUNT watermark);
	DAT_RETURN (*psp_create_func)(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier,
				      DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
				      DAT_PSP_HANDLE *psp);
	DAT_RETURN (*psp_create_any_func)(DAT_IA_HANDLE ia,
					  DAT_CONN_QUAL *qualifier,
					  DAT_EVD_HANDLE evd,
					  DAT_PSP_FLAGS flags,
					  DAT_PSP_HANDLE *psp);
	DAT_RETURN (*psp_free_func)(DAT_PSP_HANDLE psp);
	DAT_RETURN (*rsp_create_func)(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier,
				      DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd,
				      DAT_RSP_HANDLE *rsp);
	DAT_RETURN (*rsp_free_func)(DAT_RSP_HANDLE rsp);
	DAT_RETURN (*csp_create_func)(DAT_IA_HANDLE ia, DAT_COMM *comm,
				      DAT_IA_ADDRESS_PTR address,
				      DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp);
	DAT_RETURN (*csp_free_func)(DAT_CSP_HANDLE csp);
	DAT_RETURN (*cr_accept_func)(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
				     DAT_COUNT size, const void *private_data);
	DAT_RETURN (*cr_reject_func)(DAT_CR_HANDLE cr, DAT_COUNT size,
				     const void *private_data);
	DAT_RETURN (*cr_handoff_func)(DAT_CR_HANDLE cr,
				      DAT_CONN_QUAL qualifier);

	/* may block if the policy is DAT_UPCALL_TEARDOWN */
	DAT_RETURN (*evd_modify_upcall_func)(DAT_EVD_HANDLE evd,
					     DAT_UPCALL_POLICY policy,
					     const DAT_UPCALL_OBJECT *upcall,
					     DAT_UPCALL_FLAG flag);

	/* in any context */
	DAT_RETURN (*ia_query_func)(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd,
				    DAT_IA_ATTR_MASK mask, DAT_IA_ATTR *attr,
				    DAT_PROVIDER_ATTR_MASK provider_mask,
				    DAT_PROVIDER_ATTR *provider_attr);
	DAT_RETURN (*ia_memtype_hint_func)(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
					   DAT_VLEN length,
					   DAT_MEM_OPTIMIZE_FLAGS optimization,
					   DAT_VLEN *preferred_length,
					   DAT_VADDR *preferred_alignment);
	DAT_RETURN (*set_consumer_context_func)(DAT_HANDLE handle,
						DAT_CONTEXT context);
	DAT_RETURN (*get_consumer_context_func)(DAT_HANDLE handle,
						DAT_CONTEXT *context);
	DAT_RETURN (*get_handle_type_func)(DAT_HANDLE handle,
					   DAT_HANDLE_TYPE *type);
	DAT_RETURN (*pz_query_func)(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask,
				    DAT_PZ_PARAM *param);
	DAT_RETURN (*evd_query_func)(DAT_EVD_HANDLE evd,
				     DAT_EVD_PARAM_MASK mask,
				     DAT_EVD_PARAM *param);
	DAT_RETURN (*evd_post_se_func)(DAT_EVD_HANDLE evd,
				       const DAT_EVENT *event);
	DAT_RETURN (*evd_dequeue_func)(DAT_EVD_HANDLE evd, DAT_EVENT *event);
	DAT_RETURN (*lmr_query_func)(DAT_LMR_HANDLE lmr,
				     DAT_LMR_PARAM_MASK mask,
				     DAT_LMR_PARAM *param);
	DAT_RETURN (*lmr_fmr_func)(DAT_LMR_HANDLE lmr, DAT_MEM_TYPE type,
				   DAT_REGION_DESCRIPTION region,
				   DAT_VLEN page_count,
				   DAT_MEM_PRIV_FLAGS privileges,
				   DAT_VA_TYPE va_type, DAT_EP_HANDLE ep,
				   DAT_LMR_COOKIE cookie,
				   DAT_COMPLETION_FLAGS flags,
				   DAT_LMR_CONTEXT *lmr_context,
				   DAT_RMR_CONTEXT *rmr_context);
	DAT_RETURN (*lmr_invalidate_func)(DAT_LMR_HANDLE lmr, DAT_EP_HANDLE ep,
					  DAT_LMR_COOKIE cookie,
					  DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*lmr_sync_rdma_read_func)(DAT_IA_HANDLE ia,
					      const DAT_LMR_TRIPLET *segments,
					      DAT_VLEN count);
	DAT_RETURN (*lmr_sync_rdma_write_func)(DAT_IA_HANDLE ia,
					       const DAT_LMR_TRIPLET *segments,
					       DAT_VLEN count);
	DAT_RETURN (*rmr_query_func)(DAT_RMR_HANDLE rmr,
				     DAT_RMR_PARAM_MASK mask,
				     DAT_RMR_PARAM *param);
	DAT_RETURN (*rmr_bind_func)(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr,
				    const DAT_LMR_TRIPLET *segment,
				    DAT_MEM_PRIV_FLAGS privileges,
				    DAT_VA_TYPE va_type, DAT_EP_HANDLE ep,
				    DAT_RMR_COOKIE cookie,
				    DAT_COMPLETION_FLAGS flags,
				    DAT_RMR_CONTEXT *context);
	DAT_RETURN (*ep_query_func)(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask,
				    DAT_EP_PARAM *param);
	DAT_RETURN (*ep_get_status_func)(DAT_EP_HANDLE ep, DAT_EP_STATE *state,
					 DAT_BOOLEAN *recv_idle,
					 DAT_BOOLEAN *request_idle);
	DAT_RETURN (*ep_recv_query_func)(DAT_EP_HANDLE ep, DAT_COUNT *buffers,
					 DAT_COUNT *span);
	DAT_RETURN (*ep_set_watermark_func)(DAT_EP_HANDLE ep, DAT_COUNT soft,
					    DAT_COUNT hard);
	DAT_RETURN (*ep_post_send_func)(DAT_EP_HANDLE ep, DAT_COUNT count,
					DAT_LMR_TRIPLET *segments,
					DAT_DTO_COOKIE cookie,
					DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*ep_post_send_with_invalidate_func)(
		DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET *segments,
		DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
		DAT_BOOLEAN invalidate, DAT_RMR_CONTEXT context);
	DAT_RETURN (*ep_post_recv_func)(DAT_EP_HANDLE ep, DAT_COUNT count,
					DAT_LMR_TRIPLET *segments,
					DAT_DTO_COOKIE cookie,
					DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*ep_post_rdma_read_func)(DAT_EP_HANDLE ep, DAT_COUNT count,
					     DAT_LMR_TRIPLET *segments,
					     DAT_DTO_COOKIE cookie,
					     const DAT_RMR_TRIPLET *from,
					     DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*ep_post_rdma_read_to_rmr_func)(DAT_EP_HANDLE ep,
						    const DAT_RMR_TRIPLET *sink,
						    DAT_DTO_COOKIE cookie,
						    const DAT_RMR_TRIPLET *from,
						    DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*ep_post_rdma_write_func)(DAT_EP_HANDLE ep, DAT_COUNT count,
					      DAT_LMR_TRIPLET *segments,
					      DAT_DTO_COOKIE cookie,
					      const DAT_RMR_TRIPLET *to,
					      DAT_COMPLETION_FLAGS flags);
	DAT_RETURN (*srq_query_func)(DAT_SRQ_HANDLE srq,
				     DAT_SRQ_PARAM_MASK mask,
				     DAT_SRQ_PARAM *param);
	DAT_RETURN (*srq_post_recv_func)(DAT_SRQ_HANDLE srq, DAT_COUNT count,
					 DAT_LMR_TRIPLET *segments,
					 DAT_DTO_COOKIE cookie);
	DAT_RETURN (*psp_query_func)(DAT_PSP_HANDLE psp,
				     DAT_PSP_PARAM_MASK mask,
				     DAT_PSP_PARAM *param);
	DAT_RETURN (*rsp_query_func)(DAT_RSP_HANDLE rsp,
				     DAT_RSP_PARAM_MASK mask,
				     DAT_RSP_PARAM *param);
	DAT_RETURN (*csp_query_func)(DAT_CSP_HANDLE csp,
				     DAT_CSP_PARAM_MASK mask,
				     DAT_CSP_PARAM *param);
	DAT_RETURN (*cr_query_func)(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask,
				    DAT_CR_PARAM *param);
};
typedef struct dat_provider DAT_PROVIDER;

/* ---------------------------------------------------------------- registry */

/* May block. */
DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider,
				     const DAT_PROVIDER_INFO *info);
DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
					const DAT_PROVIDER_INFO *info);
DAT_RETURN dat_registry_list_providers(DAT_COUNT size, DAT_COUNT *count,
				       DAT_PROVIDER_INFO *list[]);
DAT_RETURN dat_ia_openv(const char *name, DAT_COUNT async_qlen,
			DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia,
			DAT_UINT32 major, DAT_UINT32 minor,
			DAT_BOOLEAN thread_safe);
DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);
/* In any context. */
DAT_RETURN dat_strerror(DAT_RETURN code, const char **major,
			const char **minor);

#define dat_ia_open(name, qlen, async_evd, ia)                     \
	dat_ia_openv(name, qlen, async_evd, ia, DAT_VERSION_MAJOR, \
		     DAT_VERSION_MINOR, DAT_TRUE)

/* ---------------------------------------------------------------- calls */

#define DAT_HANDLE_TO_PROVIDER(handle) (*(const DAT_PROVIDER *const *)(handle))

/* A call of a handle; `kind` names the subtype for a handle that is none. */
#define KDAT_CALL(kind, slot, handle, ...)                               \
	({                                                               \
		DAT_HANDLE _handle = (handle);                           \
		!_handle ? DAT_ERROR(DAT_INVALID_HANDLE, kind)           \
		: !DAT_HANDLE_TO_PROVIDER(_handle)->slot                 \
			? DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE) \
			: DAT_HANDLE_TO_PROVIDER(_handle)->slot(         \
				  _handle, ##__VA_ARGS__);               \
	})
#define KDAT_ANY(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE1, slot, __VA_ARGS__)
#define KDAT_IA(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_IA, slot, __VA_ARGS__)
#define KDAT_PZ(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_PZ, slot, __VA_ARGS__)
#define KDAT_LMR(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_LMR, slot, __VA_ARGS__)
#define KDAT_RMR(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_RMR, slot, __VA_ARGS__)
#define KDAT_EP(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_EP, slot, __VA_ARGS__)
#define KDAT_SRQ(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_SRQ, slot, __VA_ARGS__)
#define KDAT_PSP(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_PSP, slot, __VA_ARGS__)
#define KDAT_RSP(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_RSP, slot, __VA_ARGS__)
#define KDAT_CSP(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_CSP, slot, __VA_ARGS__)
#define KDAT_CR(slot, ...) KDAT_CALL(DAT_INVALID_HANDLE_CR, slot, __VA_ARGS__)

#define dat_ia_query(...) KDAT_IA(ia_query_func, __VA_ARGS__)
#define dat_ia_memtype_hint(...) KDAT_IA(ia_memtype_hint_func, __VA_ARGS__)
#define dat_ia_reserved_lmr(...) KDAT_IA(ia_reserved_lmr_func, __VA_ARGS__)
#define dat_set_consumer_context(...) \
	KDAT_ANY(set_consumer_context_func, __VA_ARGS__)
#define dat_get_consumer_context(...) \
	KDAT_ANY(get_consumer_context_func, __VA_ARGS__)
#define dat_get_handle_type(...) KDAT_ANY(get_handle_type_func, __VA_ARGS__)
#define dat_pz_create(...) KDAT_IA(pz_create_func, __VA_ARGS__)
#define dat_pz_query(...) KDAT_PZ(pz_query_func, __VA_ARGS__)
#define dat_pz_free(...) KDAT_PZ(pz_free_func, __VA_ARGS__)
#define dat_evd_kcreate(...) KDAT_IA(evd_kcreate_func, __VA_ARGS__)
#define dat_evd_modify_upcall(...) KDAT_ANY(evd_modify_upcall_func, __VA_ARGS__)
#define dat_evd_query(...) KDAT_ANY(evd_query_func, __VA_ARGS__)
#define dat_evd_post_se(...) KDAT_ANY(evd_post_se_func, __VA_ARGS__)
#define dat_evd_dequeue(...) KDAT_ANY(evd_dequeue_func, __VA_ARGS__)
#define dat_evd_resize(...) KDAT_ANY(evd_resize_func, __VA_ARGS__)
#define dat_evd_free(...) KDAT_ANY(evd_free_func, __VA_ARGS__)
#define dat_lmr_kcreate(...) KDAT_IA(lmr_kcreate_func, __VA_ARGS__)
#define dat_lmr_allocate(...) KDAT_IA(lmr_allocate_func, __VA_ARGS__)
#define dat_lmr_query(...) KDAT_LMR(lmr_query_func, __VA_ARGS__)
#define dat_lmr_fmr(...) KDAT_LMR(lmr_fmr_func, __VA_ARGS__)
#define dat_lmr_invalidate(...) KDAT_LMR(lmr_invalidate_func, __VA_ARGS__)
#define dat_lmr_free(...) KDAT_LMR(lmr_free_func, __VA_ARGS__)
#define dat_lmr_sync_rdma_read(...) \
	KDAT_IA(lmr_sync_rdma_read_func, __VA_ARGS__)
#define dat_lmr_sync_rdma_write(...) \
	KDAT_IA(lmr_sync_rdma_write_func, __VA_ARGS__)
#define dat_rmr_create(...) KDAT_PZ(rmr_create_func, __VA_ARGS__)
#define dat_rmr_create_for_ep(...) KDAT_PZ(rmr_create_for_ep_func, __VA_ARGS__)
#define dat_rmr_query(...) KDAT_RMR(rmr_query_func, __VA_ARGS__)
#define dat_rmr_bind(...) KDAT_RMR(rmr_bind_func, __VA_ARGS__)
#define dat_rmr_free(...) KDAT_RMR(rmr_free_func, __VA_ARGS__)
#define dat_ep_create(...) KDAT_IA(ep_create_func, __VA_ARGS__)
#define dat_ep_create_with_srq(...) \
	KDAT_IA(ep_create_with_srq_func, __VA_ARGS__)
#define dat_ep_query(...) KDAT_EP(ep_query_func, __VA_ARGS__)
#define dat_ep_modify(...) KDAT_EP(ep_modify_func, __VA_ARGS__)
#define dat_ep_recv_query(...) KDAT_EP(ep_recv_query_func, __VA_ARGS__)
#define dat_ep_set_watermark(...) KDAT_EP(ep_set_watermark_func, __VA_ARGS__)
#define dat_ep_get_status(...) KDAT_EP(ep_get_status_func, __VA_ARGS__)
#define dat_ep_connect(...) KDAT_EP(ep_connect_func, __VA_ARGS__)
#define dat_ep_dup_connect(...) KDAT_EP(ep_dup_connect_func, __VA_ARGS__)
#define dat_ep_common_connect(...) KDAT_EP(ep_common_connect_func, __VA_ARGS__)
#define dat_ep_disconnect(...) KDAT_EP(ep_disconnect_func, __VA_ARGS__)
#define dat_ep_reset(...) KDAT_EP(ep_reset_func, __VA_ARGS__)
#define dat_ep_free(...) KDAT_EP(ep_free_func, __VA_ARGS__)
#define dat_ep_post_send(...) KDAT_EP(ep_post_send_func, __VA_ARGS__)
#define dat_ep_post_send_with_invalidate(...) \
	KDAT_EP(ep_post_send_with_invalidate_func, __VA_ARGS__)
#define dat_ep_post_recv(...) KDAT_EP(ep_post_recv_func, __VA_ARGS__)
#define dat_ep_post_rdma_read(...) KDAT_EP(ep_post_rdma_read_func, __VA_ARGS__)
#define dat_ep_post_rdma_write(...) \
	KDAT_EP(ep_post_rdma_write_func, __VA_ARGS__)
#define dat_ep_post_rdma_read_to_rmr(...) \
	KDAT_EP(ep_post_rdma_read_to_rmr_func, __VA_ARGS__)
#define dat_srq_create(...) KDAT_IA(srq_create_func, __VA_ARGS__)
#define dat_srq_query(...) KDAT_SRQ(srq_query_func, __VA_ARGS__)
#define dat_srq_post_recv(...) KDAT_SRQ(srq_post_recv_func, __VA_ARGS__)
#define dat_srq_resize(...) KDAT_SRQ(srq_resize_func, __VA_ARGS__)
#define dat_srq_set_lw(...) KDAT_SRQ(srq_set_lw_func, __VA_ARGS__)
#define dat_srq_free(...) KDAT_SRQ(srq_free_func, __VA_ARGS__)
#define dat_psp_create(...) KDAT_IA(psp_create_func, __VA_ARGS__)
#define dat_psp_create_any(...) KDAT_IA(psp_create_any_func, __VA_ARGS__)
#define dat_psp_query(...) KDAT_PSP(psp_query_func, __VA_ARGS__)
#define dat_psp_free(...) KDAT_PSP(psp_free_func, __VA_ARGS__)
#define dat_rsp_create(...) KDAT_IA(rsp_create_func, __VA_ARGS__)
#define dat_rsp_query(...) KDAT_RSP(rsp_query_func, __VA_ARGS__)
#define dat_rsp_free(...) KDAT_RSP(rsp_free_func, __VA_ARGS__)
#define dat_csp_create(...) KDAT_IA(csp_create_func, __VA_ARGS__)
#define dat_csp_query(...) KDAT_CSP(csp_query_func, __VA_ARGS__)
#define dat_csp_free(...) KDAT_CSP(csp_free_func, __VA_ARGS__)
#define dat_cr_query(...) KDAT_CR(cr_query_func, __VA_ARGS__)
#define dat_cr_accept(...) KDAT_CR(cr_accept_func, __VA_ARGS__)
#define dat_cr_reject(...) KDAT_CR(cr_reject_func, __VA_ARGS__)
#define dat_cr_handoff(...) KDAT_CR(cr_handoff_func, __VA_ARGS__)

#endif /* KDAT_H */
