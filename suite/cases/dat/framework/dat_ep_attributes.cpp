// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"

#include <fmt/format.h>

#include <limits>

namespace suite::cases::dat {

namespace {

template <typename Number>
bool exceed(Number limit, Number& value) {
  if (limit == std::numeric_limits<Number>::max()) return false;
  value = limit + 1;
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

const std::vector<Excess>& excesses() {
  static const std::vector<Excess> all{
      {"max_message_size",
       [](auto& ia, auto& ep) { return exceed(ia.max_message_size, ep.max_message_size); }},
      {"max_rdma_size",
       [](auto& ia, auto& ep) { return exceed(ia.max_rdma_size, ep.max_rdma_size); }},
      {"max_recv_dtos",
       [](auto& ia, auto& ep) { return exceed(ia.max_dto_per_ep, ep.max_recv_dtos); }},
      {"max_request_dtos",
       [](auto& ia, auto& ep) { return exceed(ia.max_dto_per_ep, ep.max_request_dtos); }},
      {"max_recv_iov",
       [](auto& ia, auto& ep) { return exceed(ia.max_iov_segments_per_dto, ep.max_recv_iov); }},
      {"max_request_iov",
       [](auto& ia, auto& ep) { return exceed(ia.max_iov_segments_per_dto, ep.max_request_iov); }},
      {"max_rdma_read_in",
       [](auto& ia, auto& ep) { return exceed(ia.max_rdma_read_per_ep_in, ep.max_rdma_read_in); }},
      {"max_rdma_read_out",
       [](auto& ia, auto& ep) {
         return exceed(ia.max_rdma_read_per_ep_out, ep.max_rdma_read_out);
       }},
      {"max_rdma_read_iov",
       [](auto& ia, auto& ep) {
         return exceed(ia.max_iov_segments_per_rdma_read, ep.max_rdma_read_iov);
       }},
      {"max_rdma_write_iov",
       [](auto& ia, auto& ep) {
         return exceed(ia.max_iov_segments_per_rdma_write, ep.max_rdma_write_iov);
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
