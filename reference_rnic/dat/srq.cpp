// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The watermark and the buffers; the calls on SRQs.
#include "reference_rnic/dat/srq.hpp"

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/error_mapping.hpp"
#include "reference_rnic/dat/rnic_dat_extensions.h"

namespace rnic::dat {

DAT_COUNT Srq::available() const {
  const auto info = ia->rnic().query_shared_queue(queue);
  return info ? static_cast<DAT_COUNT>(info->posted) : 0;
}

void Srq::report_low() {
  ia->report(static_cast<DAT_EVENT_NUMBER>(DAT_IW_ASYNC_WATERMARK), *this,
             DAT_SRQ_LOW_WATERMARK_EVENT);
}

void Srq::arm(DAT_COUNT low_watermark) {
  attr.low_watermark = low_watermark;
  const bool below = available() < low_watermark;
  static_cast<void>(
      ia->rnic().arm_limit(queue, below ? 0 : static_cast<std::uint32_t>(low_watermark)));
  if (below) report_low();
}

void Srq::limit_passed(Ia& of, verbs::SharedQueueHandle passed) {
  for (Object* object : engine().handles().of(of)) {
    if (object->kind != its_kind) continue;
    auto& srq = static_cast<Srq&>(*object);
    if (srq.queue == passed) return srq.report_low();
  }
}

namespace calls {

DAT_RETURN srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* attr,
                      DAT_SRQ_HANDLE* srq_handle) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    Pz* pz = find<Pz>(pz_handle);
    if (pz == nullptr || pz->ia != &ia) return invalid_handle(Pz::subtype);
    if (attr == nullptr || attr->max_recv_dtos <= 0 || attr->max_recv_iov < 0 ||
        attr->max_recv_iov > limits::segments || attr->low_watermark < 0 ||
        attr->low_watermark > attr->max_recv_dtos)
      return invalid_parameter(3);
    if (srq_handle == nullptr) return invalid_parameter(4);
    if (attr->max_recv_dtos > limits::dtos)
      return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    const auto queue = ia.rnic().create_shared_queue(
        pz->domain, {.depth = static_cast<std::uint32_t>(attr->max_recv_dtos),
                     .max_pieces = static_cast<std::uint32_t>(attr->max_recv_iov)});
    if (!queue) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    Srq& srq = ia.add(std::make_unique<Srq>(&ia, pz, *queue, *attr));
    if (attr->low_watermark != DAT_SRQ_LW_DEFAULT) srq.arm(attr->low_watermark);
    *srq_handle = srq.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN srq_free(DAT_SRQ_HANDLE srq_handle) {
  return call_on<Srq>(srq_handle, [&](Srq& srq) -> DAT_RETURN {
    if (srq.users != 0) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
    engine().handles().destroy(srq);
    return DAT_SUCCESS;
  });
}

DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                         DAT_DTO_COOKIE cookie) {
  return call_on<Srq>(srq_handle, [&](Srq& srq) -> DAT_RETURN {
    if (count < 0 || count > srq.attr.max_recv_iov) return invalid_parameter(2);
    if (segments == nullptr && count > 0) return invalid_parameter(3);
    const auto local =
        read_segments(*srq.ia, *srq.pz.get(), std::span(segments, static_cast<std::size_t>(count)),
                      LocalUse::sink);
    if (!local) return local.error();
    if (srq.outstanding >= srq.attr.max_recv_dtos)
      return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    const verbs::ReceiveRequest request{.id = srq.ia->next_work_id(), .pieces = local->pieces};
    const auto posted = srq.ia->rnic().post_receive(srq.queue, std::span(&request, 1));
    if (!posted) return post_return(posted.error().error);
    srq.posted.add(request.id, {.operation = DAT_DTO_RECEIVE, .cookie = cookie});
    ++srq.outstanding;
    return DAT_SUCCESS;
  });
}

DAT_RETURN srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM* param) {
  return call_on<Srq>(srq_handle, [&](Srq& srq) -> DAT_RETURN {
    if (exceeds(mask, DAT_SRQ_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    *param = {.ia_handle = srq.ia->consumers_handle(),
              .srq_state = DAT_SRQ_STATE_OPERATIONAL,
              .pz_handle = srq.pz.handle(),
              .max_recv_dtos = srq.attr.max_recv_dtos,
              .max_recv_iov = srq.attr.max_recv_iov,
              .low_watermark = srq.attr.low_watermark,
              .available_dto_count = srq.available(),
              .outstanding_dto_count = srq.outstanding};
    return DAT_SUCCESS;
  });
}

DAT_RETURN srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos) {
  return call_on<Srq>(srq_handle, [&](Srq& srq) -> DAT_RETURN {
    if (max_recv_dtos <= 0) return invalid_parameter(2);
    if (max_recv_dtos > limits::dtos) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    if (max_recv_dtos < srq.outstanding || max_recv_dtos < srq.attr.low_watermark)
      return failure(DAT_INVALID_STATE);
    const auto resized =
        srq.ia->rnic().resize_shared_queue(srq.queue, static_cast<std::uint32_t>(max_recv_dtos));
    if (!resized) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ);
    srq.attr.max_recv_dtos = max_recv_dtos;
    return DAT_SUCCESS;
  });
}

DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  return call_on<Srq>(srq_handle, [&](Srq& srq) -> DAT_RETURN {
    if (low_watermark < 0 || low_watermark > srq.attr.max_recv_dtos) return invalid_parameter(2);
    srq.arm(low_watermark);
    return DAT_SUCCESS;
  });
}

}  // namespace calls

}  // namespace rnic::dat
