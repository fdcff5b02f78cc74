// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Objects of another open instance of the IA, in each place where a call takes one of its own.
//
// An object belongs to the open instance in which it was made. The pages say DAT_INVALID_HANDLE for
// what is none, and not whether an object of another instance is none: success is an advisory.
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_posts.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/cases/dat/framework/dat_shared_queue.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

const Returns refused_handle =
    returns(DAT_INVALID_HANDLE).or_tolerably(DAT_INVALID_PARAMETER).or_tolerably(DAT_SUCCESS);

/// An endpoint and its parts, in another instance. It is closed after what may hold them.
struct Elsewhere {
  explicit Elsewhere(const DatTarget& target) : ia(target), pz(ia.pz()), side(make_side(ia, pz)) {}
  Ia ia;
  Pz pz;
  Side side;
};

/// The four objects that an endpoint is made of.
struct Parts {
  DAT_PZ_HANDLE pz;
  DAT_EVD_HANDLE receives, requests, connection;
};
Parts parts_of(const Pz& pz, const Side& side) {
  return {pz.get(), side.receives.get(), side.requests.get(), side.connection.get()};
}
struct Part {
  const char* name;
  DAT_HANDLE Parts::* place;
  DAT_EP_PARAM_MASK field;
};
constexpr std::array each_part{
    Part{"zone", &Parts::pz, DAT_EP_FIELD_PZ_HANDLE},
    Part{"dispatcher of receives", &Parts::receives, DAT_EP_FIELD_RECV_EVD_HANDLE},
    Part{"dispatcher of requests", &Parts::requests, DAT_EP_FIELD_REQUEST_EVD_HANDLE},
    Part{"dispatcher of the connection", &Parts::connection, DAT_EP_FIELD_CONNECT_EVD_HANDLE}};

}  // namespace

DAT_CASE(endpoint_of_the_parts_of_another_ia_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-handle"), with_hostile_handles) {
  const Elsewhere elsewhere(target());
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const Part& part : each_part)
    row(part.name, [&] {
      Parts parts = parts_of(pz, side);
      parts.*part.place = parts_of(elsewhere.pz, elsewhere.side).*part.place;
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got = CALL(dat_ep_create, ia().get(), parts.pz, parts.receives,
                                  parts.requests, parts.connection, nullptr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_handle);
    });
}

DAT_CASE(endpoint_of_the_shared_queue_of_another_ia_is_refused, calls(dat_ep_create_with_srq),
         rules("dat.ep-create-with-srq.invalid-handle"), with_hostile_handles) {
  const Elsewhere elsewhere(target());
  DAT_SRQ_ATTR attr{.max_recv_dtos = 8, .max_recv_iov = 2, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE queue = DAT_HANDLE_NULL;
  need(CALL(dat_srq_create, elsewhere.ia.get(), elsewhere.pz.get(), &attr, &queue), "no SRQ");
  const Srq srq(queue);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_ATTR usual = usual_attributes(*this);
  // With either zone: the queue's own, so that the zones do not differ, and one of the endpoint's IA.
  for (const Pz* zone : {&elsewhere.pz, &pz})
    row(zone == &pz ? "in a zone of the endpoint's IA" : "in the queue's zone", [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got =
          CALL(dat_ep_create_with_srq, ia().get(), zone->get(), side.receives.get(),
               side.requests.get(), side.connection.get(), srq.get(), &usual, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_handle);
    });
}

DAT_CASE(modify_to_the_parts_of_another_ia_is_refused, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.invalid-parameter"), with_hostile_handles) {
  const Elsewhere elsewhere(target());
  const Parts others = parts_of(elsewhere.pz, elsewhere.side);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const Part& part : each_part)
    row(part.name, [&] {
      DAT_EP_PARAM asked{};
      asked.pz_handle = others.pz;
      asked.recv_evd_handle = others.receives;
      asked.request_evd_handle = others.requests;
      asked.connect_evd_handle = others.connection;
      expect(CALL(dat_ep_modify, side.ep.get(), part.field, &asked),
             returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}).or_tolerably(DAT_SUCCESS));
    });
}

DAT_CASE(dispatcher_of_the_cno_of_another_ia_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-handle"), with_hostile_handles) {
  const Ia other(target());
  const Cno cno = other.cno();
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got =
      CALL(dat_evd_create, ia().get(), 8, cno.get(), DAT_EVD_SOFTWARE_FLAG, &handle);
  const Evd made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
  expect(got, refused_handle);
}

DAT_CASE(modify_to_the_cno_of_another_ia_is_refused, calls(dat_evd_modify_cno),
         rules("dat.evd-modify-cno.invalid-handle"), with_hostile_handles) {
  const Ia other(target());
  const Cno cno = other.cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  expect(CALL(dat_evd_modify_cno, evd.get(), cno.get()), refused_handle);
}

DAT_CASE(region_of_a_region_of_another_ia_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const Elsewhere elsewhere(target());
  const Lmr memory(elsewhere.ia, elsewhere.pz.get(), 64);
  const Pz pz = ia().pz();
  DAT_REGION_DESCRIPTION region{};
  region.for_lmr_handle = memory.get();
  DAT_LMR_HANDLE handle = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0;
  DAT_VLEN length = 0;
  DAT_VADDR address = 0;
  const DAT_RETURN got =
      CALL(dat_lmr_create, ia().get(), DAT_MEM_TYPE_LMR, region, 64, pz.get(),
           DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &handle, &local, &remote, &length, &address);
  if (got == DAT_SUCCESS) (void)dat_lmr_free(handle);
  expect(got, refused_handle);
}

DAT_CASE(shared_queue_in_a_zone_of_another_ia_is_refused, calls(dat_srq_create),
         rules("dat.srq-create.invalid-handle"), with_hostile_handles) {
  const Ia other(target());
  const Pz pz = other.pz();
  DAT_SRQ_ATTR attr{.max_recv_dtos = 8, .max_recv_iov = 2, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got = CALL(dat_srq_create, ia().get(), pz.get(), &attr, &handle);
  const Srq made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
  expect(got, refused_handle);
}

DAT_CASE(service_point_with_the_evd_of_another_ia_is_refused,
         calls(dat_psp_create, dat_psp_create_any),
         rules("dat.psp-create.invalid-handle", "dat.psp-create-any.invalid-handle"),
         with_hostile_handles) {
  const Ia other(target());
  const Evd requests = other.evd(DAT_EVD_CR_FLAG);
  DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
  row("at a qualifier", [&] {
    const DAT_RETURN got = CALL(dat_psp_create, ia().get(), free_qualifier(ia()), requests.get(),
                                DAT_PSP_CONSUMER_FLAG, &handle);
    const Psp made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
    expect(got, refused_handle);
  });
  row("at any qualifier", [&] {
    DAT_CONN_QUAL qualifier = 0;
    const DAT_RETURN got = CALL(dat_psp_create_any, ia().get(), &qualifier, requests.get(),
                                DAT_PSP_CONSUMER_FLAG, &handle);
    const Psp made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
    expect(got, refused_handle, "dat.psp-create-any.invalid-handle");
  });
}

DAT_CASE(reservation_with_the_objects_of_another_ia_is_refused, calls(dat_rsp_create),
         rules("dat.rsp-create.invalid-handle"), with_hostile_handles) {
  const Elsewhere elsewhere(target());
  const Evd others = elsewhere.ia.evd(DAT_EVD_CR_FLAG), requests = ia().evd(DAT_EVD_CR_FLAG);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const auto refused = [&](const char* name, const Ep& ep, const Evd& evd) {
    row(name, [&] {
      DAT_RSP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got =
          CALL(dat_rsp_create, ia().get(), free_qualifier(ia()), ep.get(), evd.get(), &handle);
      const Rsp made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_handle);
    });
  };
  refused("endpoint", elsewhere.side.ep, requests);
  refused("dispatcher", side.ep, others);
}

DAT_CASE(bind_of_the_objects_of_another_ia_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-handle"), with_hostile_handles) {
  need_windows(*this);
  const Elsewhere elsewhere(target());
  const Pair others = connect_pair(elsewhere.ia, {});
  const Lmr others_memory(elsewhere.ia, others.pz.get(), 64);
  const PairWithMemory setup(*this);
  const auto refused = [&](const char* name, const Lmr& lmr, const Ep& ep) {
    row(name, [&] {
      const Rmr rmr = make_window(*this, setup.pair.pz);
      const DAT_LMR_TRIPLET segment = lmr.triplet();
      DAT_RMR_CONTEXT context = 0;
      expect(CALL(dat_rmr_bind, rmr.get(), lmr.get(), &segment, DAT_MEM_PRIV_ALL_FLAG,
                  DAT_VA_TYPE_VA, ep.get(), cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context),
             returns_one_of({DAT_INVALID_HANDLE, DAT_PROTECTION_VIOLATION})
                 .or_tolerably(DAT_INVALID_PARAMETER));
    });
  };
  refused("region", others_memory, setup.pair.active.ep);
  refused("endpoint", setup.own, others.active.ep);
}

DAT_CASE(regions_of_two_ias_have_contexts_that_differ, calls(dat_lmr_create),
         rules("rdmap.security.stag-unpredictable")) {
  const Ia first(target()), second(target());
  const std::string contexts = drawn_contexts(first);
  expect_that(drawn_contexts(second) != contexts, "others than another IA has been given",
              contexts);
}

DAT_CASES_OF_FILE(other_ia)

}  // namespace suite::cases::dat
