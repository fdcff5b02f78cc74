// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints as objects: create, query, modify, get_status, free, reset, recv_query, set_watermark.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <functional>
#include <limits>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

DAT_EP_PARAM query(const DatBody& body, DAT_EP_HANDLE ep) {
  DAT_EP_PARAM param{};
  body.need(CALL(dat_ep_query, ep, DAT_EP_FIELD_ALL, &param), "no EP query");
  return param;
}

/// Attributes that the provider itself chose, to be changed one at a time.
DAT_EP_ATTR usual_attributes(DatBody& body) {
  const Pz pz = body.ia().pz();
  const Side side = make_side(body.ia(), pz);
  DAT_EP_ATTR attr = query(body, side.ep.get()).ep_attr;
  attr.ep_transport_specific_count = attr.ep_provider_specific_count = 0;
  attr.ep_transport_specific = attr.ep_provider_specific = nullptr;
  return attr;
}

/// One attribute beyond what the IA has.
struct Excess {
  const char* name;
  std::function<bool(const DAT_IA_ATTR&, DAT_EP_ATTR&)> apply;  ///< false: the IA has no limit
};

template <typename Number>
bool exceed(Number limit, Number& value) {
  if (limit == std::numeric_limits<Number>::max()) return false;
  value = limit + 1;
  return true;
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

const Returns refused = returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_INSUFFICIENT_RESOURCES);

struct SharedQueue {
  SharedQueue(DatBody& body, const Pz& pz) {
    DAT_SRQ_ATTR attr{.max_recv_dtos = 16, .max_recv_iov = 2, .low_watermark = 0};
    DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
    const DAT_RETURN got = CALL(dat_srq_create, body.ia().get(), pz.get(), &attr, &handle);
    if (got != DAT_SUCCESS)
      body.stop("not_applicable", "no shared receive queue: " + return_text(got));
    srq = Srq(handle);
  }
  Srq srq;
};

/// An endpoint whose receives come from a shared queue.
Side shared_side(DatBody& body, const Pz& pz, const SharedQueue& queue) {
  Ia& ia = body.ia();
  Side side{.receives = ia.evd(DAT_EVD_DTO_FLAG),
            .requests = ia.evd(flags_of<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)),
            .connection = ia.evd(DAT_EVD_CONNECTION_FLAG),
            .ep = {}};
  const DAT_EP_ATTR attr = usual_attributes(body);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  body.expect(CALL(dat_ep_create_with_srq, ia.get(), pz.get(), side.receives.get(),
                   side.requests.get(), side.connection.get(), queue.srq.get(), &attr, &handle),
              succeeds);
  side.ep = Ep(handle);
  return side;
}

void expect_number(DatBody& body, const char* name, long long wanted, long long got,
                   RuleRef rule = {}) {
  body.expect_that(got == wanted, fmt::format("{} {}", name, wanted),
                   fmt::format("{} {}", name, got), rule);
}

void expect_at_least(DatBody& body, const char* name, long long wanted, long long got,
                     RuleRef rule = {}) {
  body.expect_that(got >= wanted, fmt::format("{} {} or more", name, wanted),
                   fmt::format("{} {}", name, got), rule);
}

}  // namespace

// ---------------------------------------------------------------- create

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
  const DAT_EP_ATTR got = query(*this, side.ep.get()).ep_attr;
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
  const DAT_EP_ATTR got = query(*this, side.ep.get()).ep_attr;
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

DAT_CASE(attributes_beyond_those_of_the_ia_are_refused, calls(dat_ep_create),
         rules("dat.ep-create.invalid-parameter")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const Excess& excess : excesses()) {
    DAT_EP_ATTR attr = usual;
    if (!excess.apply(ia().attributes(), attr)) continue;
    row(excess.name, [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got = CALL(dat_ep_create, ia().get(), pz.get(), side.receives.get(),
                                  side.requests.get(), side.connection.get(), &attr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused);
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
      expect(got, refused);
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
  const DAT_EP_PARAM param = query(*this, handle);
  expect_that(param.recv_evd_handle == DAT_HANDLE_NULL, "no dispatcher of receives", "one");
  expect_that(param.request_evd_handle == DAT_HANDLE_NULL, "no dispatcher of requests", "one");
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
  const DAT_EP_PARAM param = query(*this, handle);
  expect_that(param.recv_evd_handle == all.get() && param.request_evd_handle == all.get(),
              "the one dispatcher twice", "others");
}

DAT_CASE(dispatcher_of_another_stream_is_refused, calls(dat_ep_create),
         rules("dat.ep-create.stream")) {
  const Pz pz = ia().pz();
  const Side good = make_side(ia(), pz);
  const Evd wrong = ia().evd(DAT_EVD_CR_FLAG);
  const auto create = [&](const Evd& recv, const Evd& request, const Evd& connection) {
    DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
    const DAT_RETURN got = CALL(dat_ep_create, ia().get(), pz.get(), recv.get(), request.get(),
                                connection.get(), nullptr, &handle);
    const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
    expect(got, returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER}));
  };
  row("receives", [&] { create(wrong, good.requests, good.connection); });
  row("requests", [&] { create(good.receives, wrong, good.connection); });
  row("connection", [&] { create(good.receives, good.requests, wrong); });
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

// ---------------------------------------------------------------- with a shared receive queue

DAT_CASE(endpoint_knows_its_shared_queue, calls(dat_ep_create_with_srq, dat_ep_query),
         rules("dat.ep-create-with-srq.success")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = shared_side(*this, pz, queue);
  expect_state(side.ep, DAT_EP_STATE_UNCONNECTED);
  expect_that(query(*this, side.ep.get()).srq_handle == queue.srq.get(), "the shared queue",
              "another handle");
}

DAT_CASE(query_shows_that_there_is_no_shared_queue, calls(dat_ep_query),
         rules("dat.ep-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect_that(query(*this, side.ep.get()).srq_handle == DAT_HANDLE_NULL, "DAT_HANDLE_NULL",
              "a shared queue");
}

DAT_CASE(messages_fill_the_shared_queue, calls(dat_ep_create_with_srq, dat_srq_post_recv),
         rules("dat.ep-create-with-srq.receive")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side server = shared_side(*this, pz, queue), client = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  (void)expect_event(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const Lmr memory(ia(), pz.get(), 64);
  DAT_LMR_TRIPLET into = memory.triplet(0, 32);
  need(CALL(dat_srq_post_recv, queue.srq.get(), 1, &into, cookie(5)), "no receive");
  need(post_send(client.ep.get(), {memory.triplet(32, 20)}, 6), "no send");
  const auto got = expect_completion(server.receives, 5, DAT_DTO_SUCCESS);
  expect_number(*this, "octets", 20, got.transfered_length);
  expect_that(got.ep_handle == server.ep.get(), "the endpoint that received", "another handle");
}

DAT_CASE(receive_beside_a_shared_queue_is_refused, calls(dat_ep_create_with_srq, dat_ep_post_recv),
         rules("dat.ep-create-with-srq.receive")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = shared_side(*this, pz, queue);
  const Lmr memory(ia(), pz.get(), 64);
  expect(post_recv(side.ep.get(), {memory.triplet()}, 1),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE, DAT_INVALID_STATE}));
}

DAT_CASE(shared_queue_of_an_endpoint_is_not_freed, calls(dat_srq_free),
         rules("dat.ep-create-with-srq.success")) {
  const Pz pz = ia().pz();
  SharedQueue queue(*this, pz);
  Side side = shared_side(*this, pz, queue);
  expect(CALL(dat_srq_free, queue.srq.get()), returns(DAT_INVALID_STATE));
  side.ep.reset();
  expect(CALL(dat_srq_free, queue.srq.release()), succeeds);
}

DAT_CASE(zone_for_a_shared_queue_is_refused, calls(dat_ep_create_with_srq),
         rules("dat.ep-create-with-srq.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), pz);
  const DAT_EP_ATTR attr = usual_attributes(*this);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
              side.requests.get(), side.connection.get(), pz.get(), &attr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(freed_shared_queue_is_refused, calls(dat_ep_create_with_srq),
         rules("dat.ep-create-with-srq.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  SharedQueue queue(*this, pz);
  const DAT_SRQ_HANDLE freed = queue.srq.get();
  need(CALL(dat_srq_free, queue.srq.release()), "not freed");
  const Side side = make_side(ia(), pz);
  const DAT_EP_ATTR attr = usual_attributes(*this);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
              side.requests.get(), side.connection.get(), freed, &attr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(endpoint_with_a_shared_queue_with_an_invalid_ia_is_refused, calls(dat_ep_create_with_srq),
         rules("dat.ep-create-with-srq.invalid-handle")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const DAT_EP_ATTR attr = usual_attributes(*this);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create_with_srq, DAT_HANDLE_NULL, pz.get(), DAT_HANDLE_NULL, DAT_HANDLE_NULL,
              DAT_HANDLE_NULL, queue.srq.get(), &attr, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(attributes_beyond_those_of_the_ia_are_refused_with_a_shared_queue,
         calls(dat_ep_create_with_srq), rules("dat.ep-create-with-srq.invalid-parameter")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), pz);
  for (const Excess& excess : excesses()) {
    DAT_EP_ATTR attr = usual;
    // The depth of a queue that is not the endpoint's own is not judged.
    if (!excess.apply(ia().attributes(), attr) || excess.name == std::string_view("max_recv_dtos"))
      continue;
    row(excess.name, [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got =
          CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
               side.requests.get(), side.connection.get(), queue.srq.get(), &attr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused);
    });
  }
}

DAT_CASE(zone_other_than_the_shared_queues_is_accepted_where_supported,
         calls(dat_ep_create_with_srq), rules("dat.ep-create-with-srq.invalid-parameter")) {
  const Pz pz = ia().pz(), other = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), other);
  const DAT_EP_ATTR attr = usual_attributes(*this);
  DAT_PROVIDER_ATTR provider{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider),
       "no attributes");
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got =
      CALL(dat_ep_create_with_srq, ia().get(), other.get(), side.receives.get(),
           side.requests.get(), side.connection.get(), queue.srq.get(), &attr, &handle);
  const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
  if (provider.srq_ep_pz_difference_supported != DAT_FALSE)
    expect(got, succeeds);
  else
    expect(got,
           returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE, DAT_MODEL_NOT_SUPPORTED}));
}

// ---------------------------------------------------------------- query

DAT_CASE(endpoint_knows_what_it_was_made_with, calls(dat_ep_query), rules("dat.ep-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM param = query(*this, side.ep.get());
  const auto same = [&](const char* name, bool is) { expect_that(is, name, "another"); };
  same("the consumer's IA handle", param.ia_handle == ia().get());
  same("the zone", param.pz_handle == pz.get());
  same("the dispatcher of receives", param.recv_evd_handle == side.receives.get());
  same("the dispatcher of requests", param.request_evd_handle == side.requests.get());
  same("the dispatcher of the connection", param.connect_evd_handle == side.connection.get());
  same("the state", param.ep_state == DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(each_parameter_can_be_queried_alone, calls(dat_ep_query), rules("dat.ep-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM all = query(*this, side.ep.get());
  const auto ask = [&](DAT_EP_PARAM_MASK mask) {
    DAT_EP_PARAM param{};
    expect(CALL(dat_ep_query, side.ep.get(), mask, &param), succeeds);
    return param;
  };
  const auto same = [&](const char* name, bool is) { expect_that(is, name, "another value"); };
  same("the IA", ask(DAT_EP_FIELD_IA_HANDLE).ia_handle == all.ia_handle);
  same("the state", ask(DAT_EP_FIELD_EP_STATE).ep_state == all.ep_state);
  same("the zone", ask(DAT_EP_FIELD_PZ_HANDLE).pz_handle == all.pz_handle);
  same("receives", ask(DAT_EP_FIELD_RECV_EVD_HANDLE).recv_evd_handle == all.recv_evd_handle);
  same("requests",
       ask(DAT_EP_FIELD_REQUEST_EVD_HANDLE).request_evd_handle == all.request_evd_handle);
  same("connection",
       ask(DAT_EP_FIELD_CONNECT_EVD_HANDLE).connect_evd_handle == all.connect_evd_handle);
  same("service type",
       ask(DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE).ep_attr.service_type == all.ep_attr.service_type);
  same("max_message_size", ask(DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE).ep_attr.max_message_size ==
                               all.ep_attr.max_message_size);
  same("max_recv_dtos",
       ask(DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS).ep_attr.max_recv_dtos == all.ep_attr.max_recv_dtos);
  same("max_request_iov", ask(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV).ep_attr.max_request_iov ==
                              all.ep_attr.max_request_iov);
}

DAT_CASE(both_ends_of_a_connection_agree_on_addresses, calls(dat_ep_query),
         rules("dat.ep-query.addresses")) {
  const Pair pair = connected();
  const DAT_EP_PARAM here = query(*this, pair.active.ep.get());
  const DAT_EP_PARAM there = query(*this, pair.passive.ep.get());
  const auto address = [](DAT_IA_ADDRESS_PTR pointer) {
    std::string text = "no address";
    if (pointer == nullptr) return text;
    text.assign(INET6_ADDRSTRLEN, '\0');
    const auto* generic = reinterpret_cast<const sockaddr*>(pointer);
    const void* number = &reinterpret_cast<const sockaddr_in*>(generic)->sin_addr;
    if (generic->sa_family == AF_INET6)
      number = &reinterpret_cast<const sockaddr_in6*>(generic)->sin6_addr;
    if (::inet_ntop(generic->sa_family, number, text.data(), INET6_ADDRSTRLEN) == nullptr)
      return std::string("no address");
    return std::string(text.c_str());
  };
  const auto same = [&](const std::string& wanted, const std::string& got) {
    expect_that(got == wanted && got != "no address", wanted, got);
  };
  same(address(here.local_ia_address_ptr), address(there.remote_ia_address_ptr));
  same(address(there.local_ia_address_ptr), address(here.remote_ia_address_ptr));
  expect_number(*this, "port", static_cast<long long>(here.local_port_qual),
                static_cast<long long>(there.remote_port_qual));
}

DAT_CASE(query_of_unknown_parameters_is_refused, calls(dat_ep_query),
         rules("dat.ep-query.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_PARAM param{};
  expect(CALL(dat_ep_query, side.ep.get(), DAT_UINT64{1} << 40U, &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_ep_query),
         rules("dat.ep-query.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_ep_query, side.ep.get(), DAT_EP_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

// ---------------------------------------------------------------- modify

DAT_CASE(only_what_the_mask_names_is_modified, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM before = query(*this, side.ep.get());
  DAT_EP_PARAM asked{};
  asked.ep_attr.max_recv_dtos = 13;
  asked.ep_attr.max_request_dtos = 1;
  expect(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &asked), succeeds);
  const DAT_EP_PARAM after = query(*this, side.ep.get());
  expect_at_least(*this, "max_recv_dtos", 13, after.ep_attr.max_recv_dtos);
  expect_number(*this, "max_request_dtos", before.ep_attr.max_request_dtos,
                after.ep_attr.max_request_dtos);
  expect_that(after.pz_handle == before.pz_handle, "the same zone", "another zone");
  expect_that(after.recv_evd_handle == before.recv_evd_handle, "the same dispatcher", "another");
}

DAT_CASE(each_attribute_is_modified, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  struct Field {
    const char* name;
    DAT_EP_PARAM_MASK mask;
    DAT_COUNT DAT_EP_ATTR::* field;
    DAT_COUNT value;
  };
  const std::array<Field, 6> fields{
      Field{"max_recv_dtos", DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &DAT_EP_ATTR::max_recv_dtos, 21},
      Field{"max_request_dtos", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
            &DAT_EP_ATTR::max_request_dtos, 22},
      Field{"max_recv_iov", DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &DAT_EP_ATTR::max_recv_iov, 2},
      Field{"max_request_iov", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, &DAT_EP_ATTR::max_request_iov,
            2},
      Field{"max_rdma_read_in", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,
            &DAT_EP_ATTR::max_rdma_read_in, 1},
      Field{"max_rdma_read_out", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
            &DAT_EP_ATTR::max_rdma_read_out, 1}};
  for (const Field& field : fields)
    row(field.name, [&] {
      DAT_EP_PARAM asked{};
      asked.ep_attr.*field.field = field.value;
      expect(CALL(dat_ep_modify, side.ep.get(), field.mask, &asked), succeeds);
      expect_at_least(*this, field.name, field.value,
                      query(*this, side.ep.get()).ep_attr.*field.field);
    });
}

DAT_CASE(dispatchers_and_zone_are_modified, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.success")) {
  const Pz pz = ia().pz(), other = ia().pz();
  const Side side = make_side(ia(), pz), donor = make_side(ia(), pz);
  DAT_EP_PARAM asked{};
  asked.pz_handle = other.get();
  asked.recv_evd_handle = donor.receives.get();
  asked.request_evd_handle = donor.requests.get();
  asked.connect_evd_handle = donor.connection.get();
  expect(CALL(dat_ep_modify, side.ep.get(),
              DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                  DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
              &asked),
         succeeds);
  const DAT_EP_PARAM got = query(*this, side.ep.get());
  const auto same = [&](const char* name, bool is) { expect_that(is, name, "another"); };
  same("the new zone", got.pz_handle == other.get());
  same("the new dispatcher of receives", got.recv_evd_handle == donor.receives.get());
  same("the new dispatcher of requests", got.request_evd_handle == donor.requests.get());
  same("the new dispatcher of the connection", got.connect_evd_handle == donor.connection.get());
}

DAT_CASE(events_go_to_the_new_dispatcher, calls(dat_ep_modify), rules("dat.ep-modify.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz), donor = make_side(ia(), pz);
  DAT_EP_PARAM asked{};
  asked.connect_evd_handle = donor.connection.get();
  need(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_CONNECT_EVD_HANDLE, &asked), "no modify");
  need(start_connect(ia(), side.ep.get(), free_qualifier(ia())), "no connect");
  const DAT_EVENT event = expect_event(donor.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  expect_that(event.event_data.connect_event_data.ep_handle == side.ep.get(), "the endpoint",
              "another handle");
}

DAT_CASE(fixed_parameters_are_not_modified, calls(dat_ep_modify), rules("dat.ep-modify.fixed")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const std::array fields{std::pair{"IA", DAT_EP_FIELD_IA_HANDLE},
                          std::pair{"state", DAT_EP_FIELD_EP_STATE},
                          std::pair{"local address", DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR},
                          std::pair{"local port", DAT_EP_FIELD_LOCAL_PORT_QUAL},
                          std::pair{"remote address", DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR},
                          std::pair{"remote port", DAT_EP_FIELD_REMOTE_PORT_QUAL}};
  for (const auto& [name, field] : fields)
    row(name, [&] {
      DAT_EP_PARAM same = query(*this, side.ep.get());
      expect(CALL(dat_ep_modify, side.ep.get(), field, &same), returns(DAT_INVALID_PARAMETER));
    });
}

DAT_CASE(modify_beyond_the_attributes_of_the_ia_is_refused, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM before = query(*this, side.ep.get());
  const std::array masks{
      DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,  DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
      DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,     DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
      DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,      DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
      DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,  DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
      DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    DAT_EP_PARAM asked = before;
    if (!excesses()[i].apply(ia().attributes(), asked.ep_attr)) continue;
    row(excesses()[i].name,
        [&] { expect(CALL(dat_ep_modify, side.ep.get(), masks.at(i), &asked), refused); });
  }
  expect_number(*this, "max_recv_dtos", before.ep_attr.max_recv_dtos,
                query(*this, side.ep.get()).ep_attr.max_recv_dtos);
}

DAT_CASE(modify_of_unknown_parameters_is_refused, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_PARAM same = query(*this, side.ep.get());
  expect(CALL(dat_ep_modify, side.ep.get(), DAT_UINT64{1} << 40U, &same),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(modify_without_parameters_is_refused, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(modify_to_an_invalid_zone_is_refused, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_PARAM asked{};
  asked.pz_handle = side.receives.get();
  expect(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_PZ_HANDLE, &asked),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
  expect_that(query(*this, side.ep.get()).pz_handle == pz.get(), "the zone as before", "another");
}

DAT_CASE(modify_to_an_invalid_dispatcher_is_refused, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const auto& [name, field] : {std::pair{"receives", DAT_EP_FIELD_RECV_EVD_HANDLE},
                                    std::pair{"requests", DAT_EP_FIELD_REQUEST_EVD_HANDLE},
                                    std::pair{"connection", DAT_EP_FIELD_CONNECT_EVD_HANDLE}})
    row(name, [&] {
      DAT_EP_PARAM asked{};
      asked.recv_evd_handle = asked.request_evd_handle = asked.connect_evd_handle = pz.get();
      expect(CALL(dat_ep_modify, side.ep.get(), field, &asked),
             returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
    });
}

// ---------------------------------------------------------------- get_status, free, reset

DAT_CASE(posted_receive_is_not_idle, calls(dat_ep_get_status), rules("dat.ep-get-status.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives{}, requests{};
  need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  expect(CALL(dat_ep_get_status, pair.passive.ep.get(), &state, &receives, &requests), succeeds);
  expect_that(state == DAT_EP_STATE_CONNECTED, "connected", state_text(state));
  expect_that(receives == DAT_FALSE, "receives outstanding", "idle");
  expect_that(requests != DAT_FALSE, "requests idle", "requests outstanding");
  need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 2), "no send");
  (void)expect_completion(pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect(CALL(dat_ep_get_status, pair.passive.ep.get(), &state, &receives, &requests), succeeds);
  expect_that(receives != DAT_FALSE, "receives idle", "receives outstanding");
}

DAT_CASE(status_may_be_asked_in_part, calls(dat_ep_get_status), rules("dat.ep-get-status.success"),
         with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_STATE state{};
  expect(CALL(dat_ep_get_status, side.ep.get(), &state, nullptr, nullptr), succeeds);
  expect_that(state == DAT_EP_STATE_UNCONNECTED, "unconnected", state_text(state));
}

DAT_CASE(objects_of_a_freed_endpoint_can_be_freed, calls(dat_ep_free),
         rules("dat.ep-free.success")) {
  Pz pz = ia().pz();
  Side side = make_side(ia(), pz);
  expect(CALL(dat_ep_free, side.ep.release()), succeeds);
  expect(CALL(dat_evd_free, side.receives.release()), succeeds);
  expect(CALL(dat_evd_free, side.requests.release()), succeeds);
  expect(CALL(dat_evd_free, side.connection.release()), succeeds);
  expect(CALL(dat_pz_free, pz.release()), succeeds);
}

DAT_CASE(endpoint_with_receives_is_freed, calls(dat_ep_free), rules("dat.ep-free.success")) {
  const Pz pz = ia().pz();
  Side side = make_side(ia(), pz);
  Lmr memory(ia(), pz.get(), 64);
  need(post_recv(side.ep.get(), {memory.triplet()}, 1), "no receive");
  expect(CALL(dat_ep_free, side.ep.release()), succeeds);
  expect(CALL(dat_lmr_free, memory.release()), succeeds);
}

DAT_CASE(freed_endpoint_disconnects_its_peer, calls(dat_ep_free), rules("dat.ep-free.peer")) {
  Pair pair = connected();
  expect(CALL(dat_ep_free, pair.active.ep.release()), succeeds);
  const DAT_EVENT event = next_event(pair.passive.connection);
  expect_that(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                  event.event_number == DAT_CONNECTION_EVENT_BROKEN,
              "DAT_CONNECTION_EVENT_DISCONNECTED", event_text(event.event_number));
  expect_state(pair.passive.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(attempt_of_a_freed_endpoint_ends, calls(dat_ep_free), rules("dat.ep-free.success")) {
  const Pz pz = ia().pz();
  Side side = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), side.ep.get(), listener.qualifier), "no connect");
  const DAT_CR_HANDLE cr = listener.next();
  expect(CALL(dat_ep_free, side.ep.release()), succeeds);
  need(CALL(dat_cr_accept, cr, server.ep.get(), 0, nullptr), "no accept");
  const DAT_EVENT event = next_event(server.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED, "no connection",
              event_text(event.event_number));
}

DAT_CASE(reset_endpoint_connects_again, calls(dat_ep_reset, dat_ep_connect),
         rules("dat.ep-reset.success")) {
  const Pair pair = connected();
  end_connection(pair);
  for (const Side* side : {&pair.active, &pair.passive}) {
    expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
    expect_state(side->ep, DAT_EP_STATE_UNCONNECTED);
  }
  const Listener listener(ia());
  expect(start_connect(ia(), pair.active.ep.get(), listener.qualifier), succeeds);
  need(CALL(dat_cr_accept, listener.next(), pair.passive.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const Lmr memory(ia(), pair.pz.get(), 64);
  need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 2), "no send");
  (void)expect_completion(pair.passive.receives, 1, DAT_DTO_SUCCESS);
}

DAT_CASE(reset_of_an_unconnected_endpoint_keeps_its_receives, calls(dat_ep_reset),
         rules("dat.ep-reset.success")) {
  const Pz pz = ia().pz();
  const Side server = make_side(ia(), pz), client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  need(post_recv(server.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  expect(CALL(dat_ep_reset, server.ep.get()), succeeds);
  expect_state(server.ep, DAT_EP_STATE_UNCONNECTED);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  need(post_send(client.ep.get(), {memory.triplet(8, 8)}, 2), "no send");
  (void)expect_completion(server.receives, 1, DAT_DTO_SUCCESS);
}

// ---------------------------------------------------------------- receive buffers

DAT_CASE(receive_buffers_are_counted, calls(dat_ep_recv_query),
         rules("dat.ep-recv-query.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 3; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  DAT_COUNT held = -2, span = -2;
  expect(CALL(dat_ep_recv_query, pair.passive.ep.get(), &held, &span), succeeds);
  const bool known = held != DAT_VALUE_UNKNOWN;
  expect_that(!known || held == 3, "3 buffers", fmt::format("{} buffers", held));
  expect_that(span == DAT_VALUE_UNKNOWN || !known || span >= held, "a span of 3 or more",
              fmt::format("a span of {}", span));
  need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 9), "no send");
  (void)expect_completion(pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect(CALL(dat_ep_recv_query, pair.passive.ep.get(), &held, &span), succeeds);
  expect_that(held == DAT_VALUE_UNKNOWN || held == 2, "2 buffers", fmt::format("{} buffers", held));
}

DAT_CASE(either_count_of_receive_buffers_may_be_left_out, calls(dat_ep_recv_query),
         rules("dat.ep-recv-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_COUNT held = -2, span = -2;
  expect(CALL(dat_ep_recv_query, side.ep.get(), &held, nullptr), succeeds);
  expect(CALL(dat_ep_recv_query, side.ep.get(), nullptr, &span), succeeds);
  expect_that(held == 0 || held == DAT_VALUE_UNKNOWN, "no buffers", fmt::format("{}", held));
  expect_that(span == 0 || span == DAT_VALUE_UNKNOWN, "no span", fmt::format("{}", span));
}

DAT_CASE(soft_watermark_is_reported_once, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.soft", "dat.ep-set-watermark.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), 2, DAT_WATERMARK_INFINITE), succeeds,
         "dat.ep-set-watermark.success");
  const auto post = [&](DAT_UINT64 id) {
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  };
  const auto asynchronous = [&](DAT_EVENT& event) {
    return CALL(dat_evd_dequeue, ia().async_evd(), &event);
  };
  DAT_EVENT event{};
  post(1), post(2);
  expect(asynchronous(event), returns(DAT_QUEUE_EMPTY));
  post(3);
  expect(asynchronous(event), succeeds);
  const auto& data = event.event_data.asynch_error_event_data;
  expect_that(data.dat_handle == pair.passive.ep.get(), "the endpoint", "another handle");
  expect_number(*this, "reason", DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT, data.reason);
  post(4);
  expect(asynchronous(event), returns(DAT_QUEUE_EMPTY));
  expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), 3, DAT_WATERMARK_INFINITE), succeeds);
  expect(asynchronous(event), succeeds);
}

DAT_CASE(hard_watermark_breaks_the_connection, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.hard")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), DAT_WATERMARK_INFINITE, 1), succeeds);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_BROKEN);
  expect_state(pair.passive.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(negative_watermark_is_refused, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  row("soft", [&] {
    expect(CALL(dat_ep_set_watermark, side.ep.get(), -7, DAT_WATERMARK_INFINITE),
           returns(DAT_INVALID_PARAMETER));
  });
  row("hard", [&] {
    expect(CALL(dat_ep_set_watermark, side.ep.get(), DAT_WATERMARK_INFINITE, -7),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASES_OF_FILE(ep)

}  // namespace suite::cases::dat
