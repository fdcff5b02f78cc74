// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a graceful close finds of calls that were refused, and whom an abrupt close tells.
#include <functional>

#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_notification.hpp"

namespace suite::cases::dat {

namespace {

/// A call that makes an object, with an argument that it refuses.
struct Refused {
  const char* name;
  std::function<DAT_RETURN(const Ia&, const LiveObjects&)> call;
};

DAT_RETURN region(const Ia& ia, const LiveObjects& objects, DAT_MEM_PRIV_FLAGS privileges,
                  DAT_LMR_HANDLE* place) {
  static std::array<std::byte, 64> memory;
  DAT_REGION_DESCRIPTION description{};
  description.for_va = memory.data();
  DAT_LMR_CONTEXT context{};
  DAT_RMR_CONTEXT remote{};
  DAT_VLEN size{};
  DAT_VADDR address{};
  return CALL(dat_lmr_create, ia.get(), DAT_MEM_TYPE_VIRTUAL, description, memory.size(),
              objects.pz.get(), privileges, DAT_VA_TYPE_VA, place, &context, &remote, &size,
              &address);
}

DAT_RETURN endpoint(const Ia& ia, const LiveObjects& objects, const DAT_EP_ATTR* attributes,
                    DAT_EP_HANDLE* place) {
  return CALL(dat_ep_create, ia.get(), objects.pz.get(), objects.side.receives.get(),
              objects.side.requests.get(), objects.side.connection.get(), attributes, place);
}

DAT_RETURN endpoint_of_negative_depth(const Ia& ia, const LiveObjects& objects) {
  DAT_EP_PARAM usual{};
  if (const DAT_RETURN got = CALL(dat_ep_query, objects.side.ep.get(), DAT_EP_FIELD_ALL, &usual);
      got != DAT_SUCCESS)
    return got;
  usual.ep_attr.max_recv_dtos = -1;
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  return endpoint(ia, objects, &usual.ep_attr, &handle);
}

DAT_RETURN queue(const Ia& ia, const LiveObjects& objects, DAT_COUNT low_watermark,
                 DAT_SRQ_HANDLE* place) {
  DAT_SRQ_ATTR attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = low_watermark};
  return CALL(dat_srq_create, ia.get(), objects.pz.get(), &attr, place);
}

DAT_CONN_QUAL taken(const LiveObjects& objects) {
  DAT_PSP_PARAM param{};
  (void)CALL(dat_psp_query, objects.psp.get(), DAT_PSP_FIELD_ALL, &param);
  return param.conn_qual;
}

DAT_RETURN service_point(const Ia& ia, const LiveObjects& objects, DAT_CONN_QUAL qualifier,
                         DAT_PSP_FLAGS flags) {
  DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
  return CALL(dat_psp_create, ia.get(), qualifier, objects.requests.get(), flags, &handle);
}

DAT_RETURN reservation(const Ia& ia, const LiveObjects& objects, DAT_EP_HANDLE ep) {
  DAT_RSP_HANDLE handle = DAT_HANDLE_NULL;
  return CALL(dat_rsp_create, ia.get(), taken(objects), ep, objects.requests.get(), &handle);
}

/// Those that name no place for the handle come last: a provider may not survive them.
const Refused refused_calls[] = {
    {"an EVD of no stream that there is",
     [](const Ia& ia, const LiveObjects& objects) {
       DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
       return CALL(dat_evd_create, ia.get(), 4, objects.cno.get(),
                   no_such<DAT_EVD_FLAGS>(0x40000000), &handle);
     }},
    {"an endpoint of a negative depth", endpoint_of_negative_depth},
    {"a region with privileges that there are not",
     [](const Ia& ia, const LiveObjects& objects) {
       DAT_LMR_HANDLE handle = DAT_HANDLE_NULL;
       return region(ia, objects, no_such<DAT_MEM_PRIV_FLAGS>(0x1000), &handle);
     }},
    {"a shared queue with a watermark above it",
     [](const Ia& ia, const LiveObjects& objects) {
       DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
       return queue(ia, objects, 5, &handle);
     }},
    {"a service point with flags that there are not",
     [](const Ia& ia, const LiveObjects& objects) {
       return service_point(ia, objects, free_qualifier(ia), no_such<DAT_PSP_FLAGS>(0x40));
     }},
    {"a service point at a qualifier in use",
     [](const Ia& ia, const LiveObjects& objects) {
       return service_point(ia, objects, taken(objects), DAT_PSP_CONSUMER_FLAG);
     }},
    {"a reserved service point at a qualifier in use",
     [](const Ia& ia, const LiveObjects& objects) {
       return reservation(ia, objects, objects.side.ep.get());
     }},
    {"the same, without an endpoint",
     [](const Ia& ia, const LiveObjects& objects) {
       return reservation(ia, objects, DAT_HANDLE_NULL);
     }},
    {"a reserved service point without a place",
     [](const Ia& ia, const LiveObjects& objects) {
       return CALL(dat_rsp_create, ia.get(), free_qualifier(ia), objects.side.ep.get(),
                   objects.requests.get(), nullptr);
     }},
    {"a zone without a place",
     [](const Ia& ia, const LiveObjects&) { return CALL(dat_pz_create, ia.get(), nullptr); }},
    {"a CNO without a place",
     [](const Ia& ia, const LiveObjects&) {
       return CALL(dat_cno_create, ia.get(), DAT_OS_WAIT_PROXY_AGENT_NULL, nullptr);
     }},
    {"an EVD without a place",
     [](const Ia& ia, const LiveObjects& objects) {
       return CALL(dat_evd_create, ia.get(), 4, objects.cno.get(), DAT_EVD_DTO_FLAG, nullptr);
     }},
    {"an endpoint without a place",
     [](const Ia& ia, const LiveObjects& objects) {
       return endpoint(ia, objects, nullptr, nullptr);
     }},
    {"a region without a place",
     [](const Ia& ia, const LiveObjects& objects) {
       return region(ia, objects, DAT_MEM_PRIV_ALL_FLAG, nullptr);
     }},
    {"a window without a place",
     [](const Ia&, const LiveObjects& objects) {
       return CALL(dat_rmr_create, objects.pz.get(), nullptr);
     }},
    {"a shared queue without a place",
     [](const Ia& ia, const LiveObjects& objects) { return queue(ia, objects, 0, nullptr); }},
};

}  // namespace

DAT_CASE(graceful_close_after_a_refused_creation_succeeds, calls(dat_ia_close),
         rules("dat.ia-close.success"), with_hostile_handles, deadline_of(10s)) {
  for (const Refused& refused : refused_calls)
    row(refused.name, [&] {
      Ia one(target());
      {
        const LiveObjects objects(one);
        if (refused.call(one, objects) == DAT_SUCCESS)  // other cases judge that
          stop(Verdict::not_applicable, "the provider does not refuse it");
      }
      const DAT_RETURN got = CALL(dat_ia_close, one.get(), DAT_CLOSE_GRACEFUL_FLAG);
      if (got == DAT_SUCCESS) one.release();
      expect(got, succeeds);
    });
}

DAT_CASE(abrupt_close_calls_the_agent_of_a_cno, calls(dat_ia_close),
         rules("dat.ia-close.cno-waiter")) {
  AgentCalls told;
  told.evd = ia().async_evd();
  Ia one(target());
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, one.get(), told.agent(), &cno), "no CNO");
  expect(CALL(dat_ia_close, one.release(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  expect_that(told.within(std::chrono::seconds(1)), "a call of the agent", "no call");
  same(*this, "EVD", told.evd.load(), DAT_EVD_HANDLE{DAT_HANDLE_NULL});
}

DAT_CASES_OF_PART(ia, close)

}  // namespace suite::cases::dat
