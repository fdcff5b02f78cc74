// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_ep_create_with_srq: endpoints whose receives come from a shared queue.
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_shared_queue.hpp"

namespace suite::cases::dat {

namespace {

struct SharedQueue {
  SharedQueue(DatBody& body, const Pz& pz) {
    DAT_SRQ_ATTR attr{.max_recv_dtos = 16, .max_recv_iov = 2, .low_watermark = 0};
    DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
    const DAT_RETURN got = CALL(dat_srq_create, body.ia().get(), pz.get(), &attr, &handle);
    if (got != DAT_SUCCESS)
      body.stop(Verdict::not_applicable, "no shared receive queue: " + return_text(got));
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

}  // namespace

DAT_CASE(endpoint_knows_its_shared_queue, calls(dat_ep_create_with_srq, dat_ep_query),
         rules("dat.ep-create-with-srq.success")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = shared_side(*this, pz, queue);
  expect_state(side.ep, DAT_EP_STATE_UNCONNECTED);
  expect_that(query_endpoint(*this, side.ep.get()).srq_handle == queue.srq.get(),
              "the shared queue", "another handle");
}

/// The page has some be exactly what was asked for, others at least that.
DAT_CASE(endpoint_with_a_shared_queue_has_the_attributes_asked_for,
         calls(dat_ep_create_with_srq, dat_ep_query), rules("dat.ep-create-with-srq.attributes")) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), pz);
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.max_recv_dtos = 11;
  attr.max_request_dtos = 12;
  attr.max_request_iov = 2;
  attr.max_message_size = 2000;
  attr.max_rdma_size = 3000;
  attr.max_rdma_read_in = 1;
  attr.max_rdma_read_out = 2;
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
              side.requests.get(), side.connection.get(), queue.srq.get(), &attr, &handle),
         succeeds);
  const Ep ep(handle);
  const DAT_EP_ATTR got = query_endpoint(*this, handle).ep_attr;
  expect_number(*this, "max_recv_dtos", attr.max_recv_dtos, got.max_recv_dtos);
  expect_number(*this, "max_message_size", static_cast<long long>(attr.max_message_size),
                static_cast<long long>(got.max_message_size));
  expect_number(*this, "max_rdma_size", static_cast<long long>(attr.max_rdma_size),
                static_cast<long long>(got.max_rdma_size));
  expect_number(*this, "max_rdma_read_in", attr.max_rdma_read_in, got.max_rdma_read_in);
  expect_number(*this, "max_rdma_read_out", attr.max_rdma_read_out, got.max_rdma_read_out);
  expect_at_least(*this, "max_request_dtos", attr.max_request_dtos, got.max_request_dtos);
  expect_at_least(*this, "max_request_iov", attr.max_request_iov, got.max_request_iov);
}

DAT_CASE(query_shows_that_there_is_no_shared_queue, calls(dat_ep_query),
         rules("dat.ep-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  expect_that(query_endpoint(*this, side.ep.get()).srq_handle == DAT_HANDLE_NULL, "DAT_HANDLE_NULL",
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

// The stock test program for shared queues waits for this event before it frees the queue.
DAT_CASE(broken_endpoint_of_a_shared_queue_is_told, calls(dat_ep_create_with_srq, dat_evd_wait),
         rules("dat.ep-create-with-srq.broken-told")) {
  const Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  need(CALL(dat_ep_disconnect, users.sender.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  (void)next_event(users.receiver.connection);  // its end, which other cases judge
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  constexpr DAT_TIMEOUT a_second = 1'000'000;  // of microseconds
  const DAT_RETURN got = CALL(dat_evd_wait, ia().async_evd(), a_second, 1, &event, &more);
  const bool told = got == DAT_SUCCESS && event.event_number == DAT_ASYNC_ERROR_EP_BROKEN;
  advise_that(told, event_text(DAT_ASYNC_ERROR_EP_BROKEN),
              got == DAT_SUCCESS ? event_text(event.event_number) : return_text(got));
  if (!told) return;
  const auto& data = event.event_data.asynch_error_event_data;
  advise_that(data.dat_handle == users.receiver.ep.get(), "the handle of the broken endpoint",
              "another handle");
  advise_that(data.reason == DAT_EP_TRANSFER_TO_ERROR, "the reason DAT_EP_TRANSFER_TO_ERROR",
              "another reason");
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

DAT_CASE(endpoint_with_a_shared_queue_without_attributes_or_output_is_refused,
         calls(dat_ep_create_with_srq), rules("dat.ep-create-with-srq.invalid-parameter"),
         with_hostile_handles) {
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), pz);
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const auto create = [&](const DAT_EP_ATTR* attr, DAT_EP_HANDLE* place) {
    return CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
                side.requests.get(), side.connection.get(), queue.srq.get(), attr, place);
  };
  row("no attributes", [&] {
    DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
    expect(create(nullptr, &handle), returns(DAT_INVALID_PARAMETER));
  });
  row("no place", [&] { expect(create(&usual, nullptr), returns(DAT_INVALID_PARAMETER)); });
}

DAT_CASE(attributes_beyond_those_of_the_ia_are_refused_with_a_shared_queue,
         calls(dat_ep_create_with_srq), rules("dat.ep-create-with-srq.invalid-parameter")) {
  const DAT_EP_ATTR usual = usual_attributes(*this);
  const Pz pz = ia().pz();
  const SharedQueue queue(*this, pz);
  const Side side = make_side(ia(), pz);
  for (const LimitedAttribute& attribute : limited_attributes()) {
    DAT_EP_ATTR attr = usual;
    // The depth of a queue that is not the endpoint's own is not judged.
    if (!attribute.set(ia().attributes(), attr, 1) ||
        attribute.name == std::string_view("max_recv_dtos"))
      continue;
    row(attribute.name, [&] {
      DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
      const DAT_RETURN got =
          CALL(dat_ep_create_with_srq, ia().get(), pz.get(), side.receives.get(),
               side.requests.get(), side.connection.get(), queue.srq.get(), &attr, &handle);
      const Ep made(got == DAT_SUCCESS ? handle : DAT_HANDLE_NULL);
      expect(got, refused_attributes);
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

DAT_CASES_OF_FILE(ep_create_with_srq)

}  // namespace suite::cases::dat
