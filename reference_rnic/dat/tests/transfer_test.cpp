// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs of every kind between two Endpoints: their data, their completions, flushes.
#include <future>
#include <memory>

#include "reference_rnic/dat/rnic_dat_extensions.h"
#include "reference_rnic/dat/tests/two_endpoints.hpp"

namespace rnic::dat::tests {

namespace {

void post_recv(const Side& side, DAT_LMR_TRIPLET segment, DAT_UINT64 id) {
  CHECK_DAT(dat_ep_post_recv(side.ep, 1, &segment, cookie(id), DAT_COMPLETION_DEFAULT_FLAG));
}

void post_send(const Side& side, DAT_LMR_TRIPLET segment, DAT_UINT64 id,
               unsigned flags = DAT_COMPLETION_DEFAULT_FLAG) {
  CHECK_DAT(
      dat_ep_post_send(side.ep, 1, &segment, cookie(id), static_cast<DAT_COMPLETION_FLAGS>(flags)));
}

/// A completion as it should be.
void check(const DAT_DTO_COMPLETION_EVENT_DATA& dto, const Side& side, DAT_DTOS operation,
           DAT_UINT64 id, std::size_t length) {
  BOOST_CHECK_EQUAL(dto.ep_handle, side.ep);
  BOOST_CHECK_EQUAL(dto.status, DAT_DTO_SUCCESS);
  BOOST_CHECK_EQUAL(dto.operation, operation);
  BOOST_CHECK_EQUAL(dto.user_cookie.as_64, id);
  BOOST_CHECK_EQUAL(dto.transfered_length, length);
}

void check_flushed(const DAT_DTO_COMPLETION_EVENT_DATA& dto, DAT_UINT64 id) {
  BOOST_CHECK_EQUAL(dto.status, DAT_DTO_ERR_FLUSHED);
  BOOST_CHECK_EQUAL(dto.user_cookie.as_64, id);
}

DAT_RMR_BIND_COMPLETION_EVENT_DATA wait_for_bind(const Side& side) {
  return wait_for(side.request, DAT_RMR_BIND_COMPLETION_EVENT).event_data.rmr_completion_event_data;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transfers)

BOOST_AUTO_TEST_CASE(messages_go_both_ways) {
  Connected pair;
  Region memory(pair, 256);
  memory.write(0, "to the server");
  memory.write(32, "to the client");
  post_recv(pair.server, memory.local(64, 64), 1);
  post_recv(pair.client, memory.local(128, 64), 2);
  post_send(pair.server, memory.local(32, 13), 3);  // the passive side may be first
  check(wait_for_dto(pair.client.recv), pair.client, DAT_DTO_RECEIVE, 2, 13);
  check(wait_for_dto(pair.server.request), pair.server, DAT_DTO_SEND, 3, 13);
  post_send(pair.client, memory.local(0, 13), 4);
  check(wait_for_dto(pair.server.recv), pair.server, DAT_DTO_RECEIVE, 1, 13);
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_SEND, 4, 13);
  BOOST_CHECK_EQUAL(memory.read(64, 13), "to the server");
  BOOST_CHECK_EQUAL(memory.read(128, 13), "to the client");
}

BOOST_AUTO_TEST_CASE(receives_posted_before_the_connection_serve_it) {
  OpenIa opened;
  Side client(opened), server(opened);
  Service service(opened);
  Region memory(opened, 64);
  memory.write(0, "early");
  post_recv(server, memory.local(32, 32), 7);
  ask(opened, client, service.port);
  CHECK_DAT(dat_cr_accept(service.next().cr_handle, server.ep, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  post_send(client, memory.local(0, 5), 8);
  check(wait_for_dto(server.recv), server, DAT_DTO_RECEIVE, 7, 5);
  BOOST_CHECK_EQUAL(memory.read(32, 5), "early");
}

BOOST_AUTO_TEST_CASE(a_write_and_a_read_move_data_without_the_peer) {
  Connected pair;
  Region memory(pair, 256);
  memory.write(0, "written");
  DAT_LMR_TRIPLET source = memory.local(0, 7);
  const DAT_RMR_TRIPLET sink = memory.remote(64, 7);
  CHECK_DAT(dat_ep_post_rdma_write(pair.client.ep, 1, &source, cookie(1), &sink,
                                   DAT_COMPLETION_DEFAULT_FLAG));
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_RDMA_WRITE, 1, 7);
  // A Read after the Write sees its data; the sink has three segments, so there are three Reads.
  std::array<DAT_LMR_TRIPLET, 3> sinks{memory.local(128, 3), memory.local(140, 2),
                                       memory.local(150, 10)};
  CHECK_DAT(dat_ep_post_rdma_read(pair.client.ep, 3, sinks.data(), cookie(2), &sink,
                                  DAT_COMPLETION_DEFAULT_FLAG));
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_RDMA_READ, 2, 7);
  BOOST_CHECK_EQUAL(memory.read(64, 7), "written");
  BOOST_CHECK_EQUAL(memory.read(128, 3) + memory.read(140, 2) + memory.read(150, 2), "written");
}

BOOST_AUTO_TEST_CASE(a_read_needs_no_more_than_local_write) {
  Connected pair;
  Region remote(pair, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  Region local(pair, 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  BOOST_CHECK_EQUAL(local.rmr_context, 0U);
  remote.write(0, "fetched");
  DAT_LMR_TRIPLET sink = local.local(8, 7);
  const DAT_RMR_TRIPLET source = remote.remote(0, 7);
  CHECK_DAT(dat_ep_post_rdma_read(pair.server.ep, 1, &sink, cookie(1), &source,
                                  DAT_COMPLETION_DEFAULT_FLAG));
  check(wait_for_dto(pair.server.request), pair.server, DAT_DTO_RDMA_READ, 1, 7);
  BOOST_CHECK_EQUAL(local.read(8, 7), "fetched");
  CHECK_DAT(dat_lmr_free(local.lmr));
}

BOOST_AUTO_TEST_CASE(zero_based_regions_count_from_zero) {
  Connected pair;
  Region memory(pair, 64, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB);
  memory.write(0, "zero");
  DAT_LMR_TRIPLET source = memory.local(0, 4);
  const DAT_RMR_TRIPLET sink{32, 4, memory.rmr_context};
  CHECK_DAT(dat_ep_post_rdma_write(pair.client.ep, 1, &source, cookie(1), &sink,
                                   DAT_COMPLETION_DEFAULT_FLAG));
  DAT_LMR_TRIPLET back = memory.local(48, 4);
  CHECK_DAT(dat_ep_post_rdma_read(pair.client.ep, 1, &back, cookie(2), &sink,
                                  DAT_COMPLETION_DEFAULT_FLAG));
  wait_for_dto(pair.client.request);
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_RDMA_READ, 2, 4);
  BOOST_CHECK_EQUAL(memory.read(48, 4), "zero");
}

BOOST_AUTO_TEST_CASE(local_segments_are_checked_when_posted) {
  Connected pair;
  Region memory(pair, 64), read_only(pair, 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  OpenIa other;
  const auto recv = [&](DAT_LMR_TRIPLET segment) {
    return dat_ep_post_recv(pair.server.ep, 1, &segment, cookie(0), DAT_COMPLETION_DEFAULT_FLAG);
  };
  CHECK_TYPE(recv(memory.local(60, 5)), DAT_INVALID_PARAMETER);
  CHECK_TYPE(recv(read_only.local(0, 5)), DAT_PRIVILEGES_VIOLATION);
  CHECK_TYPE(recv({0, 5, memory.context ^ 0xFFFFFF00U}), DAT_PRIVILEGES_VIOLATION);
  BOOST_CHECK_EQUAL(recv({0, 0, 12345}), DAT_RETURN{DAT_SUCCESS});  // of length 0: irrelevant
  DAT_PZ_HANDLE other_zone = DAT_HANDLE_NULL;
  CHECK_DAT(dat_pz_create(pair.ia, &other_zone));
  const DAT_PZ_HANDLE own = std::exchange(pair.pz, other_zone);
  Region elsewhere(pair, 64);
  pair.pz = own;
  CHECK_TYPE(recv(elsewhere.local(0, 5)), DAT_PROTECTION_VIOLATION);
  DAT_LMR_TRIPLET sink = memory.local(0, 4);
  const DAT_RMR_TRIPLET source = memory.remote(0, 5);
  CHECK_TYPE(dat_ep_post_rdma_read(pair.client.ep, 1, &sink, cookie(0), &source,
                                   DAT_COMPLETION_DEFAULT_FLAG),
             DAT_LENGTH_ERROR);
}

BOOST_AUTO_TEST_CASE(a_message_too_long_for_its_buffer_ends_the_connection) {
  Connected pair;
  Region memory(pair, 64);
  post_recv(pair.server, memory.local(0, 4), 1);
  post_recv(pair.server, memory.local(8, 4), 2);
  post_send(pair.client, memory.local(16, 5), 3);
  const auto dto = wait_for_dto(pair.server.recv);
  BOOST_CHECK_EQUAL(dto.status, DAT_DTO_ERR_LOCAL_LENGTH);
  BOOST_CHECK_EQUAL(dto.user_cookie.as_64, 1U);
  check_flushed(wait_for_dto(pair.server.recv), 2);
  wait_for(pair.server.connection, DAT_CONNECTION_EVENT_BROKEN);
  wait_for(pair.client.connection, DAT_CONNECTION_EVENT_BROKEN);
}

BOOST_AUTO_TEST_CASE(a_read_that_the_peer_refuses_fails_and_breaks_the_connection) {
  Connected pair;
  Region memory(pair, 64), closed(pair, 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_LMR_TRIPLET sink = memory.local(0, 4);
  const DAT_RMR_TRIPLET source{closed.based_at, 4, closed.context};
  CHECK_DAT(dat_ep_post_rdma_read(pair.client.ep, 1, &sink, cookie(1), &source,
                                  DAT_COMPLETION_DEFAULT_FLAG));
  BOOST_CHECK_EQUAL(wait_for_dto(pair.client.request).status, DAT_DTO_ERR_REMOTE_ACCESS);
  wait_for(pair.client.connection, DAT_CONNECTION_EVENT_BROKEN);
  wait_for(pair.server.connection, DAT_CONNECTION_EVENT_BROKEN);
}

BOOST_AUTO_TEST_CASE(what_is_posted_without_a_connection_is_flushed) {
  Connected pair;
  Region memory(pair, 64);
  post_recv(pair.server, memory.local(0, 8), 1);
  DAT_BOOLEAN idle = DAT_TRUE;
  CHECK_DAT(dat_ep_get_status(pair.server.ep, nullptr, &idle, nullptr));
  BOOST_CHECK(idle == DAT_FALSE);
  CHECK_DAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_GRACEFUL_FLAG));
  check_flushed(wait_for_dto(pair.server.recv), 1);
  wait_for(pair.server.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  post_recv(pair.server, memory.local(0, 8), 2);
  check_flushed(wait_for_dto(pair.server.recv), 2);
  post_send(pair.server, memory.local(0, 8), 3);
  check_flushed(wait_for_dto(pair.server.request), 3);
  CHECK_DAT(dat_ep_get_status(pair.server.ep, nullptr, &idle, nullptr));
  BOOST_CHECK(idle == DAT_TRUE);
  CHECK_DAT(dat_ep_reset(pair.server.ep));
  DAT_LMR_TRIPLET segment = memory.local(0, 8);
  CHECK_TYPE(dat_ep_post_send(pair.server.ep, 1, &segment, cookie(4), DAT_COMPLETION_DEFAULT_FLAG),
             DAT_INVALID_STATE);
}

BOOST_AUTO_TEST_CASE(a_suppressed_success_is_not_seen) {
  Connected pair;
  Region memory(pair, 64);
  for (DAT_UINT64 id : {1U, 2U}) post_recv(pair.server, memory.local(0, 8), id);
  post_send(pair.client, memory.local(8, 8), 3, DAT_COMPLETION_SUPPRESS_FLAG);
  post_send(pair.client, memory.local(8, 8), 4);
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_SEND, 4, 8);
  DAT_LMR_TRIPLET segment = memory.local(8, 8);
  CHECK_TYPE(
      dat_ep_post_send(pair.client.ep, 1, &segment, cookie(5), DAT_COMPLETION_UNSIGNALLED_FLAG),
      DAT_INVALID_PARAMETER);  // the Endpoint was not made for it
}

BOOST_AUTO_TEST_CASE(a_window_is_bound_used_invalidated_and_bound_again) {
  Connected pair;
  Region memory(pair, 128, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  Region other(pair, 64);
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  CHECK_DAT(DAT_RMR_CREATE_FOR_EP(pair.pz, &rmr));
  const DAT_LMR_TRIPLET part = memory.local(32, 16);
  DAT_RMR_CONTEXT first = 0, second = 0;
  CHECK_DAT(dat_rmr_bind(rmr, memory.lmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_ZB,
                         pair.server.ep, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &first));
  const auto bound = wait_for_bind(pair.server);
  BOOST_CHECK_EQUAL(bound.rmr_handle, rmr);
  BOOST_CHECK_EQUAL(bound.status, DAT_RMR_BIND_SUCCESS);
  BOOST_CHECK_EQUAL(bound.user_cookie.as_64, 1U);
  CHECK_TYPE(dat_lmr_free(memory.lmr), DAT_INVALID_STATE);
  other.write(0, "through it");
  DAT_LMR_TRIPLET source = other.local(0, 10);
  const DAT_RMR_TRIPLET sink{0, 16, first};
  CHECK_DAT(dat_ep_post_rdma_write(pair.client.ep, 1, &source, cookie(2), &sink,
                                   DAT_COMPLETION_DEFAULT_FLAG));
  wait_for_dto(pair.client.request);
  post_recv(pair.server, other.local(16, 16), 3);
  CHECK_DAT(DAT_EP_POST_SEND_WITH_INVALIDATE(pair.client.ep, 1, &source, cookie(4),
                                             DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, first));
  const auto received = wait_for_dto(pair.server.recv);
  check(received, pair.server, DAT_DTO_RECEIVE_WITH_INVALIDATE, 3, 10);
  BOOST_CHECK_EQUAL(received.rmr_context, first);
  BOOST_CHECK_EQUAL(memory.read(32, 10), "through it");
  DAT_RMR_PARAM param{};
  CHECK_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
  BOOST_CHECK_EQUAL(param.rmr_context, 0U);
  CHECK_DAT(dat_rmr_bind(rmr, memory.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
                         pair.server.ep, cookie(5), DAT_COMPLETION_DEFAULT_FLAG, &second));
  BOOST_CHECK_EQUAL(wait_for_bind(pair.server).status, DAT_RMR_BIND_SUCCESS);
  BOOST_CHECK(first != second);
  const DAT_LMR_TRIPLET none{};
  CHECK_DAT(dat_rmr_bind(rmr, DAT_HANDLE_NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA,
                         pair.server.ep, cookie(6), DAT_COMPLETION_DEFAULT_FLAG, &second));
  BOOST_CHECK_EQUAL(wait_for_bind(pair.server).status, DAT_RMR_BIND_SUCCESS);
  CHECK_DAT(dat_lmr_free(memory.lmr));
  CHECK_DAT(dat_rmr_free(rmr));
}

BOOST_AUTO_TEST_CASE(a_window_of_an_endpoint_does_not_outlive_its_connection) {
  Connected pair;
  Region memory(pair, 64);
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  CHECK_DAT(DAT_RMR_CREATE_FOR_EP(pair.pz, &rmr));
  const DAT_LMR_TRIPLET part = memory.local(0, 16);
  DAT_RMR_CONTEXT context = 0;
  const auto bind = [&](const Side& side) {
    return dat_rmr_bind(rmr, memory.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
                        side.ep, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context);
  };
  CHECK_DAT(bind(pair.server));
  wait_for_bind(pair.server);
  CHECK_TYPE(bind(pair.client), DAT_INVALID_STATE);
  CHECK_DAT(dat_ep_disconnect(pair.client.ep, DAT_CLOSE_DEFAULT));
  wait_for(pair.client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  wait_for(pair.server.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  CHECK_DAT(dat_ep_reset(pair.server.ep));
  CHECK_DAT(dat_ep_reset(pair.client.ep));
  DAT_RMR_PARAM param{};
  CHECK_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
  BOOST_CHECK_EQUAL(param.rmr_context, 0U);
  pair.connect();
  CHECK_DAT(bind(pair.client));
  BOOST_CHECK_EQUAL(wait_for_bind(pair.client).status, DAT_RMR_BIND_SUCCESS);
}

BOOST_AUTO_TEST_CASE(threads_use_endpoints_of_one_ia_at_once) {
  OpenIa opened;
  constexpr int threads = 4, rounds = 200;
  std::vector<std::future<bool>> running;
  for (int thread = 0; thread < threads; ++thread) {
    auto client = std::make_shared<Side>(opened), server = std::make_shared<Side>(opened);
    auto memory = std::make_shared<Region>(opened, 64);
    const Service service(opened);
    ask(opened, *client, service.port);
    CHECK_DAT(dat_cr_accept(service.next().cr_handle, server->ep, 0, nullptr));
    wait_for(client->connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    wait_for(server->connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    // Assertions belong to the test's own thread.
    running.push_back(std::async(std::launch::async, [client, server, memory] {
      DAT_LMR_TRIPLET to = memory->local(0, 32), from = memory->local(32, 32);
      DAT_EVENT event{};
      DAT_COUNT more = 0;
      for (int round = 0; round < rounds; ++round) {
        const bool good = dat_ep_post_recv(server->ep, 1, &to, cookie(1),
                                           DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS &&
                          dat_ep_post_send(client->ep, 1, &from, cookie(2),
                                           DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS &&
                          dat_evd_wait(server->recv, patience, 1, &event, &more) == DAT_SUCCESS &&
                          event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS &&
                          dat_evd_wait(client->request, patience, 1, &event, &more) == DAT_SUCCESS;
        if (!good) return false;
      }
      return true;
    }));
  }
  for (auto& thread : running) BOOST_CHECK(thread.get());
}

BOOST_AUTO_TEST_CASE(a_read_may_land_in_a_window) {
  Connected pair;
  Region memory(pair, 64), source(pair, 64);
  source.write(0, "landed");
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  CHECK_DAT(dat_rmr_create(pair.pz, &rmr));
  const DAT_LMR_TRIPLET part = memory.local(0, 32);
  DAT_RMR_CONTEXT context = 0;
  CHECK_DAT(dat_rmr_bind(rmr, memory.lmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA,
                         pair.client.ep, cookie(1), DAT_COMPLETION_SUPPRESS_FLAG, &context));
  const DAT_RMR_TRIPLET sink{memory.based_at, 32, context}, from = source.remote(0, 6);
  CHECK_DAT(DAT_EP_POST_RDMA_READ_TO_RMR(pair.client.ep, &sink, cookie(2), &from,
                                         DAT_COMPLETION_DEFAULT_FLAG));
  check(wait_for_dto(pair.client.request), pair.client, DAT_DTO_RDMA_READ, 2, 6);
  BOOST_CHECK_EQUAL(memory.read(0, 6), "landed");
}

BOOST_AUTO_TEST_CASE(endpoints_share_receives_and_tell_of_watermarks) {
  OpenIa opened;
  DAT_SRQ_ATTR attr{.max_recv_dtos = 8, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  CHECK_DAT(dat_srq_create(opened.ia, opened.pz, &attr, &srq));
  Region memory(opened, 256);
  for (DAT_UINT64 id : {1U, 2U, 3U}) {
    DAT_LMR_TRIPLET segment = memory.local(32 * id, 32);
    CHECK_DAT(dat_srq_post_recv(srq, 1, &segment, cookie(id)));
  }
  const DAT_EP_ATTR ep_attr{};
  Side client(opened), server(opened, &ep_attr, srq);
  DAT_LMR_TRIPLET segment = memory.local(0, 8);
  CHECK_TYPE(dat_ep_post_recv(server.ep, 1, &segment, cookie(9), DAT_COMPLETION_DEFAULT_FLAG),
             DAT_INVALID_PARAMETER);
  CHECK_TYPE(dat_srq_free(srq), DAT_INVALID_STATE);
  CHECK_DAT(dat_srq_set_lw(srq, 3));
  Service service(opened);
  ask(opened, client, service.port);
  CHECK_DAT(dat_cr_accept(service.next().cr_handle, server.ep, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  post_send(client, segment, 4);
  wait_for_dto(client.request);
  const auto low =
      wait_for(opened.async_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IW_ASYNC_WATERMARK));
  BOOST_CHECK_EQUAL(low.event_data.asynch_error_event_data.dat_handle, srq);
  BOOST_CHECK_EQUAL(low.event_data.asynch_error_event_data.reason, DAT_SRQ_LOW_WATERMARK_EVENT);
  const auto outstanding = [&] {
    DAT_SRQ_PARAM param{};
    CHECK_DAT(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
    BOOST_CHECK_EQUAL(param.available_dto_count, 2);
    return param.outstanding_dto_count;
  };
  BOOST_CHECK_EQUAL(outstanding(), 3);
  check(wait_for_dto(server.recv), server, DAT_DTO_RECEIVE, 1, 8);
  BOOST_CHECK_EQUAL(outstanding(), 2);
  CHECK_TYPE(dat_srq_resize(srq, 1), DAT_INVALID_STATE);
  CHECK_DAT(dat_ep_disconnect(client.ep, DAT_CLOSE_DEFAULT));
  const auto broken = wait_for(opened.async_evd, DAT_ASYNC_ERROR_EP_BROKEN);
  BOOST_CHECK_EQUAL(broken.event_data.asynch_error_event_data.dat_handle, server.ep);
}

BOOST_AUTO_TEST_CASE(completion_that_is_lost_gives_back_its_place_in_the_shared_queue) {
  OpenIa opened;
  DAT_SRQ_ATTR attr{.max_recv_dtos = 2, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  CHECK_DAT(dat_srq_create(opened.ia, opened.pz, &attr, &srq));
  Region memory(opened, 64);
  DAT_LMR_TRIPLET segment = memory.local(0, 8);
  for (DAT_UINT64 id : {1U, 2U}) CHECK_DAT(dat_srq_post_recv(srq, 1, &segment, cookie(id)));
  const DAT_EP_ATTR ep_attr{};
  Side client(opened), server(opened, &ep_attr, srq, 1);
  Service service(opened);
  ask(opened, client, service.port);
  CHECK_DAT(dat_cr_accept(service.next().cr_handle, server.ep, 0, nullptr));
  wait_for(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (DAT_UINT64 id : {3U, 4U}) {
    post_send(client, segment, id);
    wait_for_dto(client.request);
  }
  wait_for(opened.async_evd, DAT_ASYNC_ERROR_EVD_OVERFLOW);
  check(wait_for_dto(server.recv), server, DAT_DTO_RECEIVE, 1, 8);
  for (DAT_UINT64 id : {5U, 6U}) CHECK_DAT(dat_srq_post_recv(srq, 1, &segment, cookie(id)));
}

BOOST_AUTO_TEST_CASE(megabytes_arrive_as_they_were_sent) {
  Connected pair;
  constexpr std::size_t size = std::size_t{4} << 20;
  Region from(pair, size), to(pair, size);
  for (std::size_t i = 0; i < size; ++i) from.memory[i] = static_cast<char>(i * 2654435761U >> 13);
  DAT_LMR_TRIPLET source = from.local(0, size);
  const DAT_RMR_TRIPLET sink = to.remote(0, size);
  post_recv(pair.server, to.local(0, 1), 1);
  CHECK_DAT(dat_ep_post_rdma_write(pair.client.ep, 1, &source, cookie(2), &sink,
                                   DAT_COMPLETION_DEFAULT_FLAG));
  post_send(pair.client, from.local(0, 1), 3);
  wait_for_dto(pair.server.recv);
  BOOST_CHECK(from.memory == to.memory);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rnic::dat::tests
