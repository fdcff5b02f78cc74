// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions of the provider's table, in the order of the table. Their
// parameters are those of the DAT calls, except that an IA handle is the provider's own.
#pragma once

#include "reference_rnic/dat/api.hpp"

namespace rnic::dat::calls {

DAT_RETURN ia_open(const DAT_NAME_PTR name, bool thread_safe, DAT_COUNT async_length,
                   DAT_EVD_HANDLE* async_evd, DAT_IA_HANDLE* ia);
DAT_RETURN ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE* async_evd, DAT_IA_ATTR_MASK ia_mask,
                    DAT_IA_ATTR* ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask,
                    DAT_PROVIDER_ATTR* provider_attr);
DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);

DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);
DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT* context);
DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE* type);

DAT_RETURN cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE* cno);
DAT_RETURN cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent);
DAT_RETURN cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM* param);
DAT_RETURN cno_free(DAT_CNO_HANDLE cno);
DAT_RETURN cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd);

DAT_RETURN cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM* param);
DAT_RETURN cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, const DAT_PVOID data);
DAT_RETURN cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data);
DAT_RETURN cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL handoff);

DAT_RETURN evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_length, DAT_CNO_HANDLE cno,
                      DAT_EVD_FLAGS flags, DAT_EVD_HANDLE* evd);
DAT_RETURN evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM* param);
DAT_RETURN evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno);
DAT_RETURN evd_enable(DAT_EVD_HANDLE evd);
DAT_RETURN evd_disable(DAT_EVD_HANDLE evd);
DAT_RETURN evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                    DAT_COUNT* more);
DAT_RETURN evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_length);
DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT* event);
DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT* event);
DAT_RETURN evd_free(DAT_EVD_HANDLE evd);

DAT_RETURN ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
                     DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect, const DAT_EP_ATTR* attr,
                     DAT_EP_HANDLE* ep);
DAT_RETURN ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM* param);
DAT_RETURN ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM* param);
DAT_RETURN ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL conn_qual,
                      DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos,
                      DAT_CONNECT_FLAGS flags);
DAT_RETURN ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size,
                          const DAT_PVOID data, DAT_QOS qos);
DAT_RETURN ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags);
DAT_RETURN ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);
DAT_RETURN ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);
DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                             DAT_COMPLETION_FLAGS flags);
DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                              DAT_COMPLETION_FLAGS flags);
DAT_RETURN ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE* state, DAT_BOOLEAN* recv_idle,
                         DAT_BOOLEAN* request_idle);
DAT_RETURN ep_free(DAT_EP_HANDLE ep);

DAT_RETURN lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                      DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
                      DAT_VA_TYPE va_type, DAT_LMR_HANDLE* lmr, DAT_LMR_CONTEXT* lmr_context,
                      DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_length,
                      DAT_VADDR* registered_address);
DAT_RETURN lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM* param);
DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr);

DAT_RETURN rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE* rmr);
DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM* param);
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET* triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep,
                    DAT_RMR_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context);
DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr);

DAT_RETURN psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd,
                      DAT_PSP_FLAGS flags, DAT_PSP_HANDLE* psp);
DAT_RETURN psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM* param);
DAT_RETURN psp_free(DAT_PSP_HANDLE psp);

DAT_RETURN rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep,
                      DAT_EVD_HANDLE evd, DAT_RSP_HANDLE* rsp);
DAT_RETURN rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM* param);
DAT_RETURN rsp_free(DAT_RSP_HANDLE rsp);

DAT_RETURN pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE* pz);
DAT_RETURN pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM* param);
DAT_RETURN pz_free(DAT_PZ_HANDLE pz);

DAT_RETURN psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL* conn_qual, DAT_EVD_HANDLE evd,
                          DAT_PSP_FLAGS flags, DAT_PSP_HANDLE* psp);
DAT_RETURN ep_reset(DAT_EP_HANDLE ep);
DAT_RETURN evd_set_unwaitable(DAT_EVD_HANDLE evd);
DAT_RETURN evd_clear_unwaitable(DAT_EVD_HANDLE evd);

DAT_RETURN lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET* segments, DAT_VLEN count);
DAT_RETURN lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET* segments, DAT_VLEN count);

DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
                              DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect, DAT_SRQ_HANDLE srq,
                              const DAT_EP_ATTR* attr, DAT_EP_HANDLE* ep);
DAT_RETURN ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT* allocated, DAT_COUNT* span);
DAT_RETURN ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard);
DAT_RETURN srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR* attr, DAT_SRQ_HANDLE* srq);
DAT_RETURN srq_free(DAT_SRQ_HANDLE srq);
DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE srq, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                         DAT_DTO_COOKIE cookie);
DAT_RETURN srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM* param);
DAT_RETURN srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos);
DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark);

DAT_RETURN csp_create(DAT_IA_HANDLE ia, DAT_COMM* comm, DAT_IA_ADDRESS_PTR address,
                      DAT_EVD_HANDLE evd, DAT_CSP_HANDLE* csp);
DAT_RETURN csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM* param);
DAT_RETURN csp_free(DAT_CSP_HANDLE csp);
DAT_RETURN ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout,
                             DAT_COUNT size, const DAT_PVOID data);
DAT_RETURN rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE* rmr);
DAT_RETURN ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT count,
                                        DAT_LMR_TRIPLET* segments, DAT_DTO_COOKIE cookie,
                                        DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
                                        DAT_RMR_CONTEXT rmr_context);
DAT_RETURN ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET* sink,
                                    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                                    DAT_COMPLETION_FLAGS flags);
DAT_RETURN cno_fd_create(DAT_IA_HANDLE ia, DAT_FD* fd, DAT_CNO_HANDLE* cno);
DAT_RETURN cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE* evd);
DAT_RETURN ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN* answer);
DAT_RETURN extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments);

}  // namespace rnic::dat::calls
