// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_ep_create: attributes, dispatchers, and what it refuses.
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"

namespace suite::cases::dat {

DAT_CASE(new_endpoint_is_unconnected_and_idle, calls(dat_ep_create, dat_ep_get_status),
         rules("dat.ep-create.success", "dat.ep-get-status.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect_state(side.ep, DAT_EP_STATE_UNCONNECTED);
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives = DAT_FALSE, requests = DAT_FALSE;
  expect(CALL(dat_ep_get_status, side.ep.get(), &state, &receives, &requests), succeeds,
         "dat.ep-get-status.success");
  expect_that(receives != DAT_FALSE && requests != DAT_FALSE, "idle", "busy",
              "dat.ep-get-status.success");
}

DAT_CASE(endpoint_has_the_attributes_asked_for, calls(dat_ep_create, dat_ep_query),
         rules("dat.ep-create.success", "dat.ep-query.success")) {
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.max_recv_dtos = 11;
  attr.max_request_dtos = 12;
  attr.max_recv_iov = 3;
  attr.max_request_iov = 4;
  attr.max_rdma_read_in = 2;
  attr.max_rdma_read_out = 3;
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz, &attr);
  const DAT_EP_ATTR got = query_endpoint(*this, side.ep.get()).ep_attr;
  expect_number(*this, "service type", attr.service_type, got.service_type);
  expect_at_least(*this, "max_recv_dtos", 11, got.max_recv_dtos);
  expect_at_least(*this, "max_request_dtos", 12, got.max_request_dtos);
  expect_at_least(*this, "max_recv_iov", 3, got.max_recv_iov);
  expect_at_least(*this, "max_request_iov", 4, got.max_request_iov);
  expect_at_least(*this, "max_rdma_read_in", 2, got.max_rdma_read_in);
  expect_at_least(*this, "max_rdma_read_out", 3, got.max_rdma_read_out);
  expect_at_least(*this, "max_message_size", attr.max_message_size, got.max_message_size);
}

DAT_CASE(endpoint_has_the_completion_flags_asked_for, calls(dat_ep_create, dat_ep_query),
         rules("dat.ep-create.success")) {
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz, &attr);
  const DAT_EP_ATTR got = query_endpoint(*this, side.ep.get()).ep_attr;
  expect_number(*this, "request flags", attr.request_completion_flags,
                got.request_completion_flags);
  expect_number(*this, "recv flags", attr.recv_completion_flags, got.recv_completion_flags);
}

DAT_CASE(attributes_of_the_provider_serve_a_message, calls(dat_ep_create),
         rules("dat.ep-create.success")) {
  const DAT_EP_ATTR attr = usual_attributes(*this);
  expect_number(*this, "service type", DAT_SERVICE_TYPE_RC, attr.service_type);
  expect_that(attr.max_recv_dtos <= ia().attributes().max_dto_per_ep, "within the IA's limits",
              fmt::format("max_recv_dtos {}", attr.max_recv_dtos));
  expect_that(attr.max_message_size <= ia().attributes().max_message_size, "within the IA's limits",
              fmt::format("max_message_size {}", attr.max_message_size));
}

// dat_ia_query: what the IA states is the most that any Endpoint can support.
DAT_CASE(attributes_as_large_as_those_of_the_ia_are_taken, calls(dat_ep_create, dat_ia_query),
         rules("dat.ep-create.success")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const LimitedAttribute& attribute : limited_attributes()) {
    DAT_EP_ATTR attr = usual;
    if (!attribute.set(ia().attributes(), attr, 0)) continue;
    row(attribute.name, [&] {
      DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
      // Beside other attributes there may be no room for so much.
      expect(CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(), side.requests.get(),
                  side.connection.get(), &attr, &ep),
             succeeds.or_tolerably(DAT_INSUFFICIENT_RESOURCES));
      Ep made(ep);
    });
  }
}

DAT_CASE(attributes_beyond_those_of_the_ia_are_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-parameter")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const LimitedAttribute& attribute : limited_attributes()) {
    DAT_EP_ATTR attr = usual;
    if (!attribute.set(ia().attributes(), attr, 1)) continue;
    row(attribute.name, [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got = CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(),
                                  side.requests.get(), side.connection.get(), &attr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_attributes);
    });
  }
}

DAT_CASE(negative_attributes_are_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-parameter")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const std::array<std::pair<const char*, DAT_COUNT DAT_EP_ATTR::*>, 4> fields{
      std::pair{"max_recv_dtos", &DAT_EP_ATTR::max_recv_dtos},
      std::pair{"max_request_dtos", &DAT_EP_ATTR::max_request_dtos},
      std::pair{"max_recv_iov", &DAT_EP_ATTR::max_recv_iov},
      std::pair{"max_request_iov", &DAT_EP_ATTR::max_request_iov}};
  for (const auto& [name, field] : fields)
    row(name, [&] {
      DAT_EP_ATTR attr = usual;
      attr.*field = -1;
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got = CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(),
                                  side.requests.get(), side.connection.get(), &attr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_attributes);
    });
}

DAT_CASE(unknown_service_type_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-parameter")) {
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.service_type = flags_of<DAT_SERVICE_TYPE>(0x77);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(), side.requests.get(),
              side.connection.get(), &attr, &handle),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED}));
}

DAT_CASE(endpoint_with_a_null_handle_output_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(), side.requests.get(),
              side.connection.get(), nullptr, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(endpoint_may_have_no_dispatchers_for_completions, calls(dat_ep_create, dat_ep_query),
         rules("dat.ep-create.no-dispatcher")) {
  const Pz pz = ia().pz();
  const Evd connection = ia().evd(DAT_EVD_CONNECTION_FLAG);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), pz.get(), DAT_HANDLE_NULL, DAT_HANDLE_NULL,
              connection.get(), nullptr, &handle),
         succeeds.or_tolerably(DAT_INVALID_HANDLE));
  const Ep ep(handle);
  const DAT_EP_PARAM param = query_endpoint(*this, handle);
  expect_that(param.recv_evd_handle == DAT_HANDLE_NULL, "no dispatcher of receives",
              "a dispatcher");
  expect_that(param.request_evd_handle == DAT_HANDLE_NULL, "no dispatcher of requests",
              "a dispatcher");
}

DAT_CASE(one_dispatcher_serves_receives_and_requests, calls(dat_ep_create, dat_ep_query),
         rules("dat.ep-create.success")) {
  const Pz pz = ia().pz();
  const Evd all = ia().evd(DAT_EVD_DTO_FLAG), connection = ia().evd(DAT_EVD_CONNECTION_FLAG);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), pz.get(), all.get(), all.get(), connection.get(), nullptr,
              &handle),
         succeeds);
  const Ep ep(handle);
  const DAT_EP_PARAM param = query_endpoint(*this, handle);
  expect_that(param.recv_evd_handle == all.get() && param.request_evd_handle == all.get(),
              "the same dispatcher for both", "other dispatchers");
}

DAT_CASE(dispatcher_of_another_stream_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.stream")) {
  const Pz pz = ia().pz();
  const Side good = make_side(ia(), pz);
  const auto create = [&](const Evd& recv, const Evd& request, const Evd& connection) {
    DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
    const DAT_RETURN got = CALL(dat_ep_create, ia().get(), pz.get(), recv.get(), request.get(),
                                connection.get(), nullptr, &handle);
    const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
    expect(got, returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER}));
  };
  for (const auto& [name, flag] : {std::pair{"of requests for connections", DAT_EVD_CR_FLAG},
                                   std::pair{"of software events", DAT_EVD_SOFTWARE_FLAG}}) {
    const Evd wrong = ia().evd(flag);
    const auto named = [&](const char* place) { return fmt::format("{}: one {}", place, name); };
    row(named("receives"), [&] { create(wrong, good.requests, good.connection); });
    row(named("requests"), [&] { create(good.receives, wrong, good.connection); });
    row(named("connection"), [&] { create(good.receives, good.requests, wrong); });
  }
}

DAT_CASE(endpoint_with_an_invalid_ia_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-handle")) {
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_ep_create, DAT_HANDLE_NULL, pz.get(), side.receives.get(), side.requests.get(),
              side.connection.get(), nullptr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(endpoint_of_a_freed_zone_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  Pz gone = ia().pz();
  const DAT_PZ_HANDLE freed = gone.get();
  gone.reset();
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), freed, side.receives.get(), side.requests.get(),
              side.connection.get(), nullptr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(dispatcher_for_a_zone_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), side.receives.get(), side.receives.get(),
              side.requests.get(), side.connection.get(), nullptr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(zone_for_a_dispatcher_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create, ia().get(), pz.get(), pz.get(), side.requests.get(),
              side.connection.get(), nullptr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(many_threads_make_endpoints, calls(dat_ep_create, dat_ep_get_status),
         rules("dat.ep-create.success"), deadline_of(10s)) {
  Ia& shared = ia();
  const Pz pz = shared.pz();
  const Side model = make_side(shared, pz);
  std::vector<std::future<DAT_RETURN>> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(std::async(std::launch::async, [&] {
      for (int made = 0; made < 25; ++made) {
        DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
        const DAT_RETURN got = CALL(dat_ep_create, shared.get(), pz.get(), model.receives.get(),
                                    model.requests.get(), model.connection.get(), nullptr, &handle);
        if (got != DAT_SUCCESS) return got;
        DAT_EP_STATE state{};
        DAT_BOOLEAN idle{};
        const DAT_RETURN status = CALL(dat_ep_get_status, handle, &state, &idle, &idle);
        (void)CALL(dat_ep_free, handle);
        if (status != DAT_SUCCESS) return status;
      }
      return static_cast<DAT_RETURN>(DAT_SUCCESS);
    }));
  for (auto& thread : threads) expect(thread.get(), succeeds);
}

DAT_CASES_OF_FILE(ep_create)

}  // namespace suite::cases::dat
