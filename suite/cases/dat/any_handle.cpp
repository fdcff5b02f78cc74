// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls that accept any handle: dat_set_consumer_context, dat_get_consumer_context,
// dat_get_handle_type.
#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

namespace {

/// One of every kind.
class EveryKind {
 public:
  explicit EveryKind(Ia& ia) : objects_(ia) {
    pair_requests_ = ia.evd(DAT_EVD_CR_FLAG);
    auto [psp, qualifier] = ia.psp(pair_requests_);
    psp_ = std::move(psp);
    need(dat_ep_connect(objects_.side.ep.get(), ia.address(), qualifier, DAT_TIMEOUT_INFINITE, 0,
                        nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         "no connect");
    cr_ = next_event(pair_requests_).event_data.cr_arrival_event_data.cr_handle;
    all = {{"IA", {DAT_HANDLE_TYPE_IA, ia.get()}},
           {"EP", {DAT_HANDLE_TYPE_EP, objects_.side.ep.get()}},
           {"EVD", {DAT_HANDLE_TYPE_EVD, objects_.evd.get()}},
           {"CR", {DAT_HANDLE_TYPE_CR, cr_}},
           {"PSP", {DAT_HANDLE_TYPE_PSP, psp_.get()}},
           {"PZ", {DAT_HANDLE_TYPE_PZ, objects_.pz.get()}},
           {"LMR", {DAT_HANDLE_TYPE_LMR, objects_.region.get()}},
           {"CNO", {DAT_HANDLE_TYPE_CNO, objects_.cno.get()}}};
    add_optional(ia);
  }
  ~EveryKind() {
    (void)dat_cr_reject(cr_, 0, nullptr);
    if (csp_ != DAT_HANDLE_NULL) (void)DAT_CSP_FREE(csp_);
  }
  EveryKind(const EveryKind&) = delete;
  EveryKind& operator=(const EveryKind&) = delete;

  std::vector<std::pair<std::string, std::pair<DAT_HANDLE_TYPE, DAT_HANDLE>>> all;

 private:
  static void need(DAT_RETURN got, const char* what) {
    if (got != DAT_SUCCESS)
      throw CaseStop{Verdict::inconclusive, fmt::format("{}: {}", what, return_text(got))};
  }
  // What a provider may lack.
  void add_optional(const Ia& ia) {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    if (dat_rmr_create(objects_.pz.get(), &rmr) == DAT_SUCCESS) {
      rmr_ = Rmr(rmr);
      all.push_back({"RMR", {DAT_HANDLE_TYPE_RMR, rmr}});
    }
    DAT_SRQ_ATTR attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    if (dat_srq_create(ia.get(), objects_.pz.get(), &attr, &srq) == DAT_SUCCESS) {
      srq_ = Srq(srq);
      all.push_back({"SRQ", {DAT_HANDLE_TYPE_SRQ, srq}});
    }
    add_common_service_point(ia);
    reserved_ = make_side(ia, objects_.pz);
    auto [psp, qualifier] = ia.psp(pair_requests_);  // one that is free again in a moment
    psp.reset();
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    if (dat_rsp_create(ia.get(), qualifier, reserved_.ep.get(), pair_requests_.get(), &rsp) !=
        DAT_SUCCESS)
      return;
    rsp_ = Rsp(rsp);
    all.push_back({"RSP", {DAT_HANDLE_TYPE_RSP, rsp}});
  }
  void add_common_service_point(const Ia& ia) {
    DAT_IA_HANDLE own = DAT_HANDLE_NULL;
    if (dats_get_ia_handle(ia.get(), &own) != DAT_SUCCESS) return;
    DAT_COMM comm = tcp_communicator(ia);
    if (DAT_CSP_CREATE(own, &comm, ia.address(), pair_requests_.get(), &csp_) == DAT_SUCCESS)
      all.push_back({"CSP", {DAT_HANDLE_TYPE_CSP, csp_}});
    else
      csp_ = DAT_HANDLE_NULL;
  }

  LiveObjects objects_;
  Rmr rmr_;
  Evd pair_requests_;
  Psp psp_;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
  DAT_CSP_HANDLE csp_ = DAT_HANDLE_NULL;
  Srq srq_;
  Side reserved_;
  Rsp rsp_;
};

// What a call returns for an object of this kind. The pages' lists of kinds are older than shared
// receive queues and common service points.
Returns takes(DAT_HANDLE_TYPE type) {
  const bool later = type == DAT_HANDLE_TYPE_SRQ || type == DAT_HANDLE_TYPE_CSP;
  return later ? succeeds.or_tolerably(DAT_INVALID_HANDLE) : succeeds;
}

DAT_CONTEXT context_of(DAT_UINT64 value) {
  DAT_CONTEXT context{};
  context.as_64 = value;
  return context;
}

}  // namespace

DAT_CASE(every_object_keeps_its_context, calls(dat_set_consumer_context, dat_get_consumer_context),
         rules("dat.set-consumer-context.success", "dat.get-consumer-context.success")) {
  const EveryKind kinds(ia());
  DAT_UINT64 value = 0xFEDC'BA98'7654'3210;
  for (const auto& [name, object] : kinds.all)
    row(name, [&, type = object.first, handle = object.second] {
      DAT_CONTEXT got{};
      const DAT_RETURN set = CALL(dat_set_consumer_context, handle, context_of(++value));
      expect(set, takes(type));
      if (set != DAT_SUCCESS) return;
      expect(CALL(dat_get_consumer_context, handle, &got), succeeds,
             "dat.get-consumer-context.success");
      same(*this, "context", got.as_64, value, "dat.get-consumer-context.success");
    });
}

DAT_CASE(objects_have_contexts_of_their_own,
         calls(dat_set_consumer_context, dat_get_consumer_context),
         rules("dat.set-consumer-context.success")) {
  const EveryKind kinds(ia());
  DAT_UINT64 value = 100;
  for (const auto& [name, object] : kinds.all)
    expect(CALL(dat_set_consumer_context, object.second, context_of(value++)), takes(object.first));
  value = 100;
  for (const auto& [name, object] : kinds.all) {
    const DAT_UINT64 wanted = value++;
    if (object.first == DAT_HANDLE_TYPE_SRQ) continue;
    DAT_CONTEXT got{};
    expect(CALL(dat_get_consumer_context, object.second, &got), succeeds);
    same(*this, "context of the " + name, got.as_64, wanted);
  }
}

DAT_CASE(later_context_replaces_the_earlier, calls(dat_set_consumer_context),
         rules("dat.set-consumer-context.success")) {
  const Pz pz = ia().pz();
  DAT_CONTEXT got{};
  for (const DAT_UINT64 value : {DAT_UINT64{1}, ~DAT_UINT64{0}, DAT_UINT64{0}}) {
    expect(CALL(dat_set_consumer_context, pz.get(), context_of(value)), succeeds);
    got = context_of(7);
    expect(CALL(dat_get_consumer_context, pz.get(), &got), succeeds);
    same(*this, "context", got.as_64, value);
  }
}

DAT_CASE(new_object_has_no_context, calls(dat_get_consumer_context),
         rules("dat.get-consumer-context.success")) {
  const Pz pz = ia().pz();
  DAT_CONTEXT got = context_of(7);
  expect(CALL(dat_get_consumer_context, pz.get(), &got), succeeds);
  advise_that(got.as_ptr == nullptr, "null", value_text(got.as_64));
}

DAT_CASE(context_with_a_null_output_is_refused, calls(dat_get_consumer_context),
         rules("dat.get-consumer-context.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  expect(CALL(dat_get_consumer_context, pz.get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(context_for_a_null_handle_is_refused, calls(dat_set_consumer_context),
         rules("dat.set-consumer-context.invalid-handle")) {
  expect(CALL(dat_set_consumer_context, DAT_HANDLE_NULL, context_of(1)),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(context_for_a_freed_handle_is_refused, calls(dat_set_consumer_context),
         rules("dat.set-consumer-context.invalid-handle"), with_hostile_handles) {
  const DAT_HANDLE handle = freed(ia().pz());
  expect(CALL(dat_set_consumer_context, handle, context_of(1)), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(context_of_a_null_handle_is_refused, calls(dat_get_consumer_context),
         rules("dat.get-consumer-context.invalid-handle")) {
  DAT_CONTEXT got{};
  expect(CALL(dat_get_consumer_context, DAT_HANDLE_NULL, &got), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(context_of_a_freed_handle_is_refused, calls(dat_get_consumer_context),
         rules("dat.get-consumer-context.invalid-handle"), with_hostile_handles) {
  const DAT_HANDLE handle = freed(ia().evd(DAT_EVD_DTO_FLAG));
  DAT_CONTEXT got{};
  expect(CALL(dat_get_consumer_context, handle, &got), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(every_object_says_what_it_is, calls(dat_get_handle_type),
         rules("dat.get-handle-type.success")) {
  const EveryKind kinds(ia());
  for (const auto& [name, object] : kinds.all)
    row(name, [&, wanted = object.first, handle = object.second] {
      auto got = no_such<DAT_HANDLE_TYPE>(77);
      const DAT_RETURN told = CALL(dat_get_handle_type, handle, &got);
      expect(told, takes(wanted));
      if (told == DAT_SUCCESS) same(*this, "type", got, wanted);
    });
}

DAT_CASE(type_of_a_null_handle_is_refused, calls(dat_get_handle_type),
         rules("dat.get-handle-type.invalid-handle")) {
  auto got = DAT_HANDLE_TYPE_PZ;
  expect(CALL(dat_get_handle_type, DAT_HANDLE_NULL, &got), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(type_of_a_freed_handle_is_refused, calls(dat_get_handle_type),
         rules("dat.get-handle-type.invalid-handle"), with_hostile_handles) {
  const DAT_HANDLE handle = freed(ia().cno());
  auto got = DAT_HANDLE_TYPE_PZ;
  expect(CALL(dat_get_handle_type, handle, &got), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(type_with_a_null_output_is_refused, calls(dat_get_handle_type),
         rules("dat.get-handle-type.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  expect(CALL(dat_get_handle_type, pz.get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASES_OF_FILE(any_handle)

}  // namespace suite::cases::dat
