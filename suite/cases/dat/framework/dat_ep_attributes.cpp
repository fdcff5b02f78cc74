// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"

#include <fmt/format.h>

#include <limits>

namespace suite::cases::dat {

namespace {

template <typename Number>
bool at(Number limit, Number& value, unsigned beyond) {
  if (limit == 0 && beyond == 0) return false;
  if (beyond > 0 && limit > std::numeric_limits<Number>::max() - static_cast<Number>(beyond))
    return false;
  value = limit + static_cast<Number>(beyond);
  return true;
}

}  // namespace

DAT_EP_PARAM query_endpoint(const DatBody& body, DAT_EP_HANDLE ep) {
  DAT_EP_PARAM param{};
  body.need(CALL(dat_ep_query, ep, DAT_EP_FIELD_ALL, &param), "no EP query");
  return param;
}

DAT_EP_ATTR usual_attributes(DatBody& body) {
  const Pz pz = body.ia().pz();
  const Side side = make_side(body.ia(), pz);
  DAT_EP_ATTR attr = query_endpoint(body, side.ep.get()).ep_attr;
  attr.ep_transport_specific_count = attr.ep_provider_specific_count = 0;
  attr.ep_transport_specific = attr.ep_provider_specific = nullptr;
  return attr;
}

const std::vector<LimitedAttribute>& limited_attributes() {
  static const std::vector<LimitedAttribute> all{
      {"max_message_size",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_message_size, ep.max_message_size, beyond);
       }},
      {"max_rdma_size",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_rdma_size, ep.max_rdma_size, beyond);
       }},
      {"max_recv_dtos",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_dto_per_ep, ep.max_recv_dtos, beyond);
       }},
      {"max_request_dtos",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_dto_per_ep, ep.max_request_dtos, beyond);
       }},
      {"max_recv_iov",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_iov_segments_per_dto, ep.max_recv_iov, beyond);
       }},
      {"max_request_iov",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_iov_segments_per_dto, ep.max_request_iov, beyond);
       }},
      {"max_rdma_read_in",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_rdma_read_per_ep_in, ep.max_rdma_read_in, beyond);
       }},
      {"max_rdma_read_out",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_rdma_read_per_ep_out, ep.max_rdma_read_out, beyond);
       }},
      {"max_rdma_read_iov",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_iov_segments_per_rdma_read, ep.max_rdma_read_iov, beyond);
       }},
      {"max_rdma_write_iov",
       [](auto& ia, auto& ep, unsigned beyond) {
         return at(ia.max_iov_segments_per_rdma_write, ep.max_rdma_write_iov, beyond);
       }},
  };
  return all;
}

void expect_number(DatBody& body, const char* name, long long wanted, long long got, RuleRef rule) {
  body.expect_that(got == wanted, fmt::format("{} {}", name, wanted),
                   fmt::format("{} {}", name, got), rule);
}

void expect_at_least(DatBody& body, const char* name, long long wanted, long long got,
                     RuleRef rule) {
  body.expect_that(got >= wanted, fmt::format("{} {} or more", name, wanted),
                   fmt::format("{} {}", name, got), rule);
}

}  // namespace suite::cases::dat
