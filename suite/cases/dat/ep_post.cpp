// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs: what each post returns, what its completion says, what its flags do.
#include <functional>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

/// One of the calls that take segments, posted where it belongs; `peer` is what it reads or writes.
using Post = DAT_RETURN (*)(const Pair& pair, const Lmr& peer, Segments segments, DAT_UINT64 id,
                            PostOptions options);

DAT_RETURN a_send(const Pair& pair, const Lmr&, Segments segments, DAT_UINT64 id,
                  PostOptions options) {
  return post_send(pair.active.ep.get(), std::move(segments), id, options);
}
DAT_RETURN a_recv(const Pair& pair, const Lmr&, Segments segments, DAT_UINT64 id,
                  PostOptions options) {
  return post_recv(pair.passive.ep.get(), std::move(segments), id, options);
}
DAT_RETURN a_write(const Pair& pair, const Lmr& peer, Segments segments, DAT_UINT64 id,
                   PostOptions options) {
  return post_write(pair.active.ep.get(), std::move(segments), peer.remote(), id, options);
}
DAT_RETURN a_read(const Pair& pair, const Lmr& peer, Segments segments, DAT_UINT64 id,
                  PostOptions options) {
  DAT_SEG_LENGTH length = 0;
  for (const DAT_LMR_TRIPLET& segment : segments) length += segment.segment_length;
  return post_read(pair.active.ep.get(), std::move(segments),
                   peer.remote(0, std::min<std::size_t>(length, peer.remote().segment_length)), id,
                   options);
}
DAT_RETURN an_invalidating_send(const Pair& pair, const Lmr&, Segments segments, DAT_UINT64 id,
                                PostOptions options) {
  return post_send_with_invalidate(pair.active.ep.get(), std::move(segments), id, 0x123456,
                                   options);
}

DAT_EP_ATTR attributes_of(const DatBody& body, const Ep& ep) {
  DAT_EP_PARAM param{};
  body.need(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
  return param.ep_attr;
}

/// Faults of segments may be told later where the provider says that it does so.
Returns at_once(DatBody& body, const Returns& wanted) {
  DAT_PROVIDER_ATTR attr{};
  body.need(CALL(dat_ia_query, body.ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
            "no attributes");
  return attr.dto_async_return_guaranteed != DAT_FALSE ? wanted.or_tolerably(DAT_SUCCESS) : wanted;
}

struct PairWithMemory {
  explicit PairWithMemory(DatBody& body, const PairOptions& options = {})
      : pair(body.connected(options)),
        own(body.ia(), pair.pz.get(), 256),
        peer(body.ia(), pair.pz.get(), 256, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x3C}) {}
  Pair pair;
  Lmr own, peer;
};

void judge_segments(DatBody& body, Post post, DAT_COUNT DAT_EP_ATTR::* limit, bool passive) {
  const PairWithMemory setup(body);
  const Ep& ep = passive ? setup.pair.passive.ep : setup.pair.active.ep;
  const DAT_COUNT most = attributes_of(body, ep).*limit;
  const auto refused = [&](const char* name, Segments segments, std::optional<DAT_COUNT> count) {
    body.row(name, [&] {
      PostOptions options;
      options.count = count;
      body.expect(post(setup.pair, setup.peer, std::move(segments), 1, options),
                  returns(DAT_INVALID_PARAMETER));
    });
  };
  refused("a negative number", {setup.own.triplet(0, 8)}, -1);
  refused("one more than the endpoint takes",
          Segments(static_cast<std::size_t>(most) + 1, setup.own.triplet(0, 1)), std::nullopt);
  body.expect_state(setup.pair.active.ep, DAT_EP_STATE_CONNECTED);
}

void judge_missing_segments(DatBody& body, Post post) {
  const PairWithMemory setup(body);
  PostOptions options;
  options.count = 1;
  body.expect(post(setup.pair, setup.peer, {}, 1, options), returns(DAT_INVALID_PARAMETER));
}

void judge_outside(DatBody& body, Post post) {
  const PairWithMemory setup(body);
  const Returns refused = at_once(body, returns(DAT_INVALID_PARAMETER));
  const auto attempt = [&](const char* name, DAT_VADDR shift, DAT_SEG_LENGTH length) {
    body.row(name, [&] {
      DAT_LMR_TRIPLET segment = setup.own.triplet();
      segment.virtual_address += shift;
      segment.segment_length = length;
      body.expect(post(setup.pair, setup.peer, {segment}, 1, {}), refused);
    });
  };
  attempt("one octet too long", 0, 257);
  attempt("one octet below", ~DAT_VADDR{0}, 8);
  attempt("one octet past the end", 249, 8);
  attempt("all of it behind the end", 256, 8);
}

void judge_protection(DatBody& body, Post post) {
  const PairWithMemory setup(body);
  const Pz other = body.ia().pz();
  const Lmr foreign(body.ia(), other.get(), 64);
  body.expect(post(setup.pair, setup.peer, {foreign.triplet(0, 8)}, 1, {}),
              at_once(body, returns(DAT_PROTECTION_VIOLATION)));
}

void judge_privileges(DatBody& body, Post post, bool sink) {
  const PairWithMemory setup(body);
  const Returns refused = at_once(body, returns(DAT_PRIVILEGES_VIOLATION));
  body.row("a context of no region", [&] {
    DAT_LMR_TRIPLET segment = setup.own.triplet(0, 8);
    segment.lmr_context ^= 0x5A5A00;
    body.expect(post(setup.pair, setup.peer, {segment}, 1, {}),
                refused.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_INVALID_PARAMETER));
  });
  body.row("a region that is gone", [&] {
    Lmr gone(body.ia(), setup.pair.pz.get(), 64);
    const DAT_LMR_TRIPLET segment = gone.triplet(0, 8);
    body.need(CALL(dat_lmr_free, gone.release()), "not freed");
    body.expect(post(setup.pair, setup.peer, {segment}, 1, {}),
                refused.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_INVALID_PARAMETER));
  });
  if (!sink) return;  // local read is always granted
  body.row("no local write", [&] {
    const Lmr readable(
        body.ia(), setup.pair.pz.get(), 64,
        flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG));
    body.expect(post(setup.pair, setup.peer, {readable.triplet(0, 8)}, 1, {}), refused);
  });
}

void judge_flags(DatBody& body, Post post) {
  const PairWithMemory setup(body);
  body.row("unsignalled, which the endpoint does not have", [&] {
    body.expect(post(setup.pair, setup.peer, {setup.own.triplet(0, 8)}, 1,
                     with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG)),
                returns(DAT_INVALID_PARAMETER));
  });
  body.row("flags that no header names", [&] {
    body.expect(post(setup.pair, setup.peer, {setup.own.triplet(0, 8)}, 1, with_flags(0x4000)),
                returns(DAT_INVALID_PARAMETER));
  });
}

void judge_flush(DatBody& body, Post post, bool receive) {
  const PairWithMemory setup(body);
  end_connection(setup.pair);
  for (DAT_UINT64 id = 1; id <= 3; ++id)
    body.expect(post(setup.pair, setup.peer, {setup.own.triplet(0, 8)}, id, {}), succeeds);
  const Evd& evd = receive ? setup.pair.passive.receives : setup.pair.active.requests;
  for (DAT_UINT64 id = 1; id <= 3; ++id) (void)body.expect_completion(evd, id, DAT_DTO_ERR_FLUSHED);
  body.expect_no_event(evd);
}

/// The fields of a completion that succeeded.
void expect_fields(DatBody& body, const DAT_DTO_COMPLETION_EVENT_DATA& got, const Ep& ep,
                   DAT_DTOS operation, std::size_t length, RuleRef rule = {}) {
  body.expect_that(got.ep_handle == ep.get(), "the endpoint", "another handle", rule);
  body.expect_that(got.operation == operation, fmt::format("operation {}", +operation),
                   fmt::format("operation {}", +got.operation), rule);
  body.expect_that(got.transfered_length == length, fmt::format("{} octets", length),
                   fmt::format("{} octets", got.transfered_length), rule);
}

/// The octets of a region from `offset` on are all `octet`.
void expect_octets(DatBody& body, Lmr& lmr, std::size_t offset, std::size_t length, std::byte octet,
                   RuleRef rule = {}) {
  const auto& octets = lmr.octets();
  const bool all = std::all_of(octets.begin() + static_cast<std::ptrdiff_t>(offset),
                               octets.begin() + static_cast<std::ptrdiff_t>(offset + length),
                               [octet](std::byte each) { return each == octet; });
  body.expect_that(all, fmt::format("octets {:#x}", std::to_integer<int>(octet)), "other octets",
                   rule);
}

constexpr std::byte own_octet{0xA5}, peer_octet{0x3C};

}  // namespace

// ---------------------------------------------------------------- what each post refuses

// The same seven cases for each call: `prefix` begins its rules, `sink` says that it writes to its
// segments, `passive` that the passive side posts it.
#define POST_CASES(slug, function, prefix, post, limit, sink, passive)                          \
  DAT_CASE(slug##_of_too_many_segments_is_refused, calls(function),                             \
           rules("dat." prefix ".segments")) {                                                  \
    judge_segments(*this, post, &DAT_EP_ATTR::limit, passive);                                  \
  }                                                                                             \
  DAT_CASE(slug##_that_lacks_its_segments_is_refused, calls(function),                          \
           rules("dat." prefix ".segments"), with_hostile_handles) {                            \
    judge_missing_segments(*this, post);                                                        \
  }                                                                                             \
  DAT_CASE(slug##_outside_its_region_is_refused, calls(function),                               \
           rules("dat." prefix ".outside")) {                                                   \
    judge_outside(*this, post);                                                                 \
  }                                                                                             \
  DAT_CASE(slug##_of_another_zone_is_refused, calls(function),                                  \
           rules("dat." prefix ".protection")) {                                                \
    judge_protection(*this, post);                                                              \
  }                                                                                             \
  DAT_CASE(slug##_without_the_privilege_is_refused, calls(function),                            \
           rules("dat." prefix ".privileges")) {                                                \
    judge_privileges(*this, post, sink);                                                        \
  }                                                                                             \
  DAT_CASE(slug##_of_wrong_flags_is_refused, calls(function), rules("dat." prefix ".flags")) {  \
    judge_flags(*this, post);                                                                   \
  }                                                                                             \
  DAT_CASE(slug##_after_the_end_is_flushed, calls(function), rules("dat." prefix ".flushed")) { \
    judge_flush(*this, post, passive);                                                          \
  }

POST_CASES(send, dat_ep_post_send, "ep-post-send", a_send, max_request_iov, false, false)
POST_CASES(receive, dat_ep_post_recv, "ep-post-recv", a_recv, max_recv_iov, true, true)
POST_CASES(write, dat_ep_post_rdma_write, "ep-post-rdma-write", a_write, max_rdma_write_iov, false,
           false)
POST_CASES(read, dat_ep_post_rdma_read, "ep-post-rdma-read", a_read, max_rdma_read_iov, true, false)
POST_CASES(send_with_invalidate, dat_ep_post_send_with_invalidate, "ep-post-send-with-invalidate",
           an_invalidating_send, max_request_iov, false, false)

DAT_CASE(receives_beyond_the_endpoint_are_refused, calls(dat_ep_post_recv),
         rules("dat.ep-post-recv.insufficient-resources", "dat.ep-post-recv.success")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.max_recv_dtos = 4;
  const Side side = make_side(ia(), pz, &attr);
  const DAT_COUNT most = attributes_of(*this, side.ep).max_recv_dtos;
  const Lmr memory(ia(), pz.get(), 64);
  for (DAT_COUNT i = 0; i < most; ++i)
    expect(post_recv(side.ep.get(), {memory.triplet()}, 1), succeeds, "dat.ep-post-recv.success");
  expect(post_recv(side.ep.get(), {memory.triplet()}, 2),
         returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_SUCCESS));
}

namespace {

/// Posts one request more than the endpoint takes while its RDMA Reads are under way. They may be
/// over too soon to matter, so it tries often; a provider may take more than it was asked for.
void judge_one_request_more(
    DatBody& body, const std::function<DAT_RETURN(const PairWithMemory&, DAT_UINT64)>& one_more) {
  const Pz pz = body.ia().pz();
  DAT_EP_ATTR attr = attributes_of(body, make_side(body.ia(), pz).ep);
  attr.max_request_dtos = 2;
  PairOptions options;
  options.attributes = &attr;
  PairWithMemory setup(body, options);
  const Ep& ep = setup.pair.active.ep;
  const auto most = static_cast<DAT_UINT64>(attributes_of(body, ep).max_request_dtos);
  if (most > 64) body.stop(Verdict::not_applicable, "the provider takes many more than asked for");
  const std::size_t size = std::size_t{64} * 1024;
  const Lmr sink(body.ia(), setup.pair.pz.get(), size),
      source(body.ia(), setup.pair.pz.get(), size);
  bool refused = false;
  for (int round = 0; round < 30 && !refused; ++round) {
    for (DAT_UINT64 id = 0; id < most; ++id)
      body.need(post_read(ep.get(), {sink.triplet()}, source.remote(), id), "no read");
    const DAT_RETURN got = one_more(setup, most);
    body.expect(got, returns_one_of({DAT_INSUFFICIENT_RESOURCES, DAT_SUCCESS}));
    refused = got != DAT_SUCCESS;
    for (DAT_UINT64 id = 0; id < most + (refused ? 0 : 1); ++id)
      (void)body.expect_completion(setup.pair.active.requests, id, DAT_DTO_SUCCESS);
  }
  body.advise_that(refused, "DAT_INSUFFICIENT_RESOURCES", "DAT_SUCCESS each time");
}

}  // namespace

DAT_CASE(read_beyond_the_endpoint_is_refused, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.insufficient-resources"), deadline_of(20s)) {
  judge_one_request_more(*this, [](const PairWithMemory& setup, DAT_UINT64 id) {
    return post_read(setup.pair.active.ep.get(), {setup.own.triplet()}, setup.peer.remote(), id);
  });
}

DAT_CASE(send_beyond_the_endpoint_is_refused, calls(dat_ep_post_send),
         rules("dat.ep-post-send.insufficient-resources"), deadline_of(20s)) {
  judge_one_request_more(*this, [this](const PairWithMemory& setup, DAT_UINT64 id) {
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet()}, id), "no receive");
    return post_send(setup.pair.active.ep.get(), {setup.own.triplet()}, id);
  });
}

DAT_CASE(write_beyond_the_endpoint_is_refused, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.insufficient-resources"), deadline_of(20s)) {
  judge_one_request_more(*this, [](const PairWithMemory& setup, DAT_UINT64 id) {
    return post_write(setup.pair.active.ep.get(), {setup.own.triplet()}, setup.peer.remote(), id);
  });
}

DAT_CASE(write_into_too_little_is_refused, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.length")) {
  const PairWithMemory setup(*this);
  expect(
      post_write(setup.pair.active.ep.get(), {setup.own.triplet(0, 9)}, setup.peer.remote(0, 8), 1),
      returns(DAT_LENGTH_ERROR));
}

DAT_CASE(read_into_too_little_is_refused, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.length")) {
  const PairWithMemory setup(*this);
  expect(post_read(setup.pair.active.ep.get(), {setup.own.triplet(0, 4), setup.own.triplet(4, 3)},
                   setup.peer.remote(0, 8), 1),
         returns(DAT_LENGTH_ERROR));
}

DAT_CASE(read_to_too_little_of_a_window_is_refused, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.length")) {
  const PairWithMemory setup(*this);
  const DAT_RMR_TRIPLET to = setup.own.remote(0, 7), from = setup.peer.remote(0, 8);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 1), returns(DAT_LENGTH_ERROR));
}

DAT_CASE(read_to_a_window_that_lacks_an_end_is_refused, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.segments"), with_hostile_handles) {
  const PairWithMemory setup(*this);
  const DAT_RMR_TRIPLET end = setup.own.remote(0, 8);
  row("no sink", [&] {
    expect(post_read_to_rmr(setup.pair.active.ep.get(), nullptr, &end, 1),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no source", [&] {
    expect(post_read_to_rmr(setup.pair.active.ep.get(), &end, nullptr, 1),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(read_to_a_window_of_wrong_flags_is_refused, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.flags")) {
  const PairWithMemory setup(*this);
  const DAT_RMR_TRIPLET to = setup.own.remote(0, 8), from = setup.peer.remote(0, 8);
  for (const unsigned flags : {static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG), 0x4000U})
    row(fmt::format("flags {:#x}", flags), [&] {
      expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 1, with_flags(flags)),
             returns(DAT_INVALID_PARAMETER));
    });
}

DAT_CASE(read_to_a_window_after_the_end_is_flushed, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.flushed")) {
  const PairWithMemory setup(*this);
  end_connection(setup.pair);
  const DAT_RMR_TRIPLET to = setup.own.remote(0, 8), from = setup.peer.remote(0, 8);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 7), succeeds);
  (void)expect_completion(setup.pair.active.requests, 7, DAT_DTO_ERR_FLUSHED);
}

DAT_CASE(write_without_a_remote_buffer_is_refused, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.segments"), with_hostile_handles) {
  const PairWithMemory setup(*this);
  DAT_LMR_TRIPLET segment = setup.own.triplet(0, 8);
  expect(CALL(dat_ep_post_rdma_write, setup.pair.active.ep.get(), 1, &segment, cookie(1), nullptr,
              DAT_COMPLETION_DEFAULT_FLAG),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(read_without_a_remote_buffer_is_refused, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.segments"), with_hostile_handles) {
  const PairWithMemory setup(*this);
  DAT_LMR_TRIPLET segment = setup.own.triplet(0, 8);
  expect(CALL(dat_ep_post_rdma_read, setup.pair.active.ep.get(), 1, &segment, cookie(1), nullptr,
              DAT_COMPLETION_DEFAULT_FLAG),
         returns(DAT_INVALID_PARAMETER));
}

// ---------------------------------------------------------------- what each post does

DAT_CASE(receive_completion_describes_the_message, calls(dat_ep_post_recv),
         rules("dat.ep-post-recv.success")) {
  const PairWithMemory setup(*this);
  for (const std::size_t length : {std::size_t{1}, std::size_t{63}, std::size_t{64}})
    row(fmt::format("{} octets into 64", length), [&] {
      need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 64)}, 5), "no receive");
      need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, length)}, 6), "no send");
      const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
      expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, length);
    });
}

DAT_CASE(receive_fills_its_segments_in_order, calls(dat_ep_post_recv, dat_ep_post_send),
         rules("dat.ep-post-recv.success", "dat.ep-post-send.success")) {
  PairWithMemory setup(*this);
  for (std::size_t i = 0; i < 20; ++i) setup.own.octets()[i] = static_cast<std::byte>(i);
  need(post_recv(setup.pair.passive.ep.get(),
                 {setup.peer.triplet(100, 5), setup.peer.triplet(0, 8), setup.peer.triplet(50, 30)},
                 1),
       "no receive");
  need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(10, 10), setup.own.triplet(0, 10)},
                 2),
       "no send");
  const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 20);
  std::vector<std::byte> arrived;
  for (const auto& [offset, length] : {std::pair{100, 5}, std::pair{0, 8}, std::pair{50, 7}})
    arrived.insert(arrived.end(), setup.peer.octets().begin() + offset,
                   setup.peer.octets().begin() + offset + length);
  bool in_order = true;
  for (std::size_t i = 0; i < 20; ++i)
    in_order = in_order && arrived[i] == static_cast<std::byte>(i < 10 ? 10 + i : i - 10);
  expect_that(in_order, "the octets in the order of both lists", "another order");
  expect_octets(*this, setup.peer, 57, 23, peer_octet, "dat.ep-post-recv.success");
}

DAT_CASE(largest_number_of_segments_is_accepted, calls(dat_ep_post_send, dat_ep_post_recv),
         rules("dat.ep-post-send.success", "dat.ep-post-recv.success")) {
  const PairWithMemory setup(*this);
  const auto most = [](DAT_COUNT count) { return static_cast<std::size_t>(std::min(count, 128)); };
  const std::size_t sent = most(attributes_of(*this, setup.pair.active.ep).max_request_iov);
  const std::size_t received = most(attributes_of(*this, setup.pair.passive.ep).max_recv_iov);
  Segments into(received, setup.peer.triplet(128, 1));
  into.front() = setup.peer.triplet(0, 128);
  expect(post_recv(setup.pair.passive.ep.get(), into, 1), succeeds, "dat.ep-post-recv.success");
  expect(post_send(setup.pair.active.ep.get(), Segments(sent, setup.own.triplet(0, 1)), 2),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, sent);
}

DAT_CASE(write_places_its_segments, calls(dat_ep_post_rdma_write, dat_ep_post_send),
         rules("dat.ep-post-rdma-write.success")) {
  PairWithMemory setup(*this);
  const Ep& ep = setup.pair.active.ep;
  const Lmr behind(ia(), setup.pair.pz.get(), 8);
  need(post_recv(setup.pair.passive.ep.get(), {behind.triplet()}, 9), "no receive");
  expect(post_write(ep.get(), {setup.own.triplet(0, 10), setup.own.triplet(100, 6)},
                    setup.peer.remote(20, 16), 3),
         succeeds);
  need(post_send(ep.get(), {setup.own.triplet(0, 8)}, 4), "no send");
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, ep, DAT_DTO_RDMA_WRITE, 16);
  (void)expect_completion(setup.pair.passive.receives, 9, DAT_DTO_SUCCESS);
  expect_octets(*this, setup.peer, 0, 20, peer_octet);
  expect_octets(*this, setup.peer, 20, 16, own_octet);
  expect_octets(*this, setup.peer, 36, 220, peer_octet);
}

DAT_CASE(read_fills_its_segments, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  const Ep& ep = setup.pair.active.ep;
  Segments sinks{setup.own.triplet(0, 40)};
  if (attributes_of(*this, ep).max_rdma_read_iov >= 2)
    sinks = {setup.own.triplet(0, 10), setup.own.triplet(50, 30)};
  expect(post_read(ep.get(), sinks, setup.peer.remote(5, 30), 3), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, ep, DAT_DTO_RDMA_READ, 30);
  expect_octets(*this, setup.own, 0, 10, peer_octet);
  if (sinks.size() == 1) return expect_octets(*this, setup.own, 10, 20, peer_octet);
  expect_octets(*this, setup.own, 10, 40, own_octet);
  expect_octets(*this, setup.own, 50, 20, peer_octet);
  expect_octets(*this, setup.own, 70, 10, own_octet);
}

DAT_CASE(read_needs_local_write_alone, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  Lmr sink(ia(), setup.pair.pz.get(), 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const Lmr source(
      ia(), setup.pair.pz.get(), 64,
      flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG),
      peer_octet);
  expect(post_read(setup.pair.active.ep.get(), {sink.triplet()}, source.remote(), 3), succeeds);
  (void)expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_octets(*this, sink, 0, 64, peer_octet);
}

DAT_CASE(read_by_the_passive_side_works_as_well, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  expect(post_read(setup.pair.passive.ep.get(), {setup.own.triplet()}, setup.peer.remote(), 3),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RDMA_READ, 256);
  expect_octets(*this, setup.own, 0, 256, peer_octet);
}

DAT_CASE(read_fills_a_window, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.success")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair, setup.pair.active, setup.own);
  const DAT_RMR_TRIPLET to = window.triplet(setup.own, 64), from = setup.peer.remote(0, 64);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 3), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 64);
  expect_octets(*this, setup.own, 0, 64, peer_octet);
  expect_octets(*this, setup.own, 64, 192, own_octet);
}

DAT_CASE(send_ends_a_window_of_the_peer, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.success")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair, setup.pair.passive, setup.peer);
  need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(200, 20)}, 5), "no receive");
  expect(post_send_with_invalidate(setup.pair.active.ep.get(), {setup.own.triplet(0, 12)}, 6,
                                   window.context),
         succeeds);
  const auto sent = expect_completion(setup.pair.active.requests, 6, DAT_DTO_SUCCESS);
  expect_that(sent.transfered_length == 12, "12 octets",
              fmt::format("{} octets", sent.transfered_length));
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE_WITH_INVALIDATE, 12);
  expect_that(got.rmr_context == window.context, fmt::format("context {:#x}", window.context),
              fmt::format("context {:#x}", got.rmr_context));
  // What it ended lets nothing in any more.
  need(post_write(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)},
                  window.triplet(setup.peer, 8), 7),
       "no write");
  const DAT_EVENT event = next_event(setup.pair.passive.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED, "the connection's end",
              event_text(event.event_number));
  expect_octets(*this, setup.peer, 0, 8, peer_octet);
}

DAT_CASE(send_with_invalidate_flag_false_is_a_plain_send, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.success")) {
  const PairWithMemory setup(*this);
  need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 64)}, 5), "no receive");
  DAT_LMR_TRIPLET segment = setup.own.triplet(0, 12);
  expect(called("dat_ep_post_send_with_invalidate",
                [&] {
                  return DAT_EP_POST_SEND_WITH_INVALIDATE(setup.pair.active.ep.get(), 1, &segment,
                                                          cookie(6), DAT_COMPLETION_DEFAULT_FLAG,
                                                          DAT_FALSE, 0x123456);
                }),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 12);
}

DAT_CASE(large_transfers_arrive_whole, calls(dat_ep_post_rdma_write, dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-write.success", "dat.ep-post-rdma-read.success"),
         deadline_of(20s)) {
  const Pair pair = connected();
  const std::size_t size = 1024 * 1024 + 3;
  Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size),
      back(ia(), pair.pz.get(), size);
  for (std::size_t i = 0; i < size; ++i)
    source.octets()[i] = static_cast<std::byte>((i * 2654435761U) >> 13U);
  expect(post_write(pair.active.ep.get(), {source.triplet()}, sink.remote(), 1), succeeds);
  expect(post_read(pair.active.ep.get(), {back.triplet()}, sink.remote(), 2), succeeds,
         "dat.ep-post-rdma-read.success");
  const auto written = expect_completion(pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, written, pair.active.ep, DAT_DTO_RDMA_WRITE, size);
  const auto read = expect_completion(pair.active.requests, 2, DAT_DTO_SUCCESS);
  expect_fields(*this, read, pair.active.ep, DAT_DTO_RDMA_READ, size);
  expect_that(back.octets() == source.octets(), "the octets written", "others",
              "dat.ep-post-rdma-read.success");
}

// ---------------------------------------------------------------- no octets

DAT_CASE(message_of_no_octets_arrives, calls(dat_ep_post_send, dat_ep_post_recv),
         rules("dat.ep-post-send.zero-length", "dat.ep-post-recv.zero-length")) {
  const PairWithMemory setup(*this);
  DAT_LMR_TRIPLET empty{};
  empty.virtual_address = 0x1234;
  empty.lmr_context = 0x777;
  const auto judge = [&](const char* name, const Segments& into, const Segments& from) {
    row(name, [&] {
      expect(post_recv(setup.pair.passive.ep.get(), into, 1), succeeds,
             "dat.ep-post-recv.zero-length");
      expect(post_send(setup.pair.active.ep.get(), from, 2), succeeds);
      const auto sent = expect_completion(setup.pair.active.requests, 2, DAT_DTO_SUCCESS);
      expect_fields(*this, sent, setup.pair.active.ep, DAT_DTO_SEND, 0);
      const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
      expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 0);
    });
  };
  judge("without segments", {}, {});
  judge("into a buffer", {setup.peer.triplet(0, 8)}, {});
  judge("with an empty segment of no region", {empty}, {empty});
}

DAT_CASE(write_of_no_octets_completes, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.zero-length")) {
  const PairWithMemory setup(*this);
  expect(post_write(setup.pair.active.ep.get(), {}, setup.peer.remote(0, 0), 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_WRITE, 0);
  expect_state(setup.pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(read_of_no_octets_completes, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.zero-length")) {
  const PairWithMemory setup(*this);
  expect(post_read(setup.pair.active.ep.get(), {}, setup.peer.remote(0, 0), 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 0);
  expect_state(setup.pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(read_of_no_octets_to_a_window_completes, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.zero-length")) {
  const PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair, setup.pair.active, setup.own);
  const DAT_RMR_TRIPLET to = window.triplet(setup.own, 0), from = setup.peer.remote(0, 0);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 0);
}

DAT_CASE(send_of_no_octets_ends_a_window, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.zero-length")) {
  const PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair, setup.pair.passive, setup.peer);
  need(post_recv(setup.pair.passive.ep.get(), {}, 5), "no receive");
  expect(post_send_with_invalidate(setup.pair.active.ep.get(), {}, 6, window.context), succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE_WITH_INVALIDATE, 0);
}

// ---------------------------------------------------------------- flags and order

DAT_CASE(suppressed_completion_is_not_delivered, calls(dat_ep_post_send),
         rules("dat.ep-post-send.suppress")) {
  const PairWithMemory setup(*this);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 1,
                   with_flags(DAT_COMPLETION_SUPPRESS_FLAG)),
         succeeds);
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 2), succeeds);
  (void)expect_completion(setup.pair.active.requests, 2, DAT_DTO_SUCCESS);
  (void)expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  (void)expect_completion(setup.pair.passive.receives, 2, DAT_DTO_SUCCESS);
  expect_no_event(setup.pair.active.requests);
}

DAT_CASE(suppressed_completion_in_error_is_delivered, calls(dat_ep_post_send),
         rules("dat.ep-post-send.suppress")) {
  const PairWithMemory setup(*this);
  end_connection(setup.pair);
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 1,
                   with_flags(DAT_COMPLETION_SUPPRESS_FLAG)),
         succeeds);
  (void)expect_completion(setup.pair.active.requests, 1, DAT_DTO_ERR_FLUSHED);
}

DAT_CASE(unsignalled_completion_does_not_wake_waiters, calls(dat_ep_post_send, dat_evd_wait),
         rules("dat.ep-post-send.unsignalled")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  PairOptions options;
  options.attributes = &attr;
  const Pair pair = connected(options);
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  Waiter waiter(pair.active.requests);
  const DAT_RETURN first = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 1,
                                     with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
  // The peer has the message, so the request is over or about to be.
  (void)next_event(pair.passive.receives);
  const bool asleep = !waiter.is_back();
  need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 2), "no send");
  const Waited waited = waiter.result();
  expect(first, succeeds);
  expect_that(asleep, "the waiter sleeps on", "the waiter is awake");
  expect(waited.code, succeeds);
  const auto& data = waited.event.event_data.dto_completion_event_data;
  expect_that(data.user_cookie.as_64 == 1, "completion 1 first",
              fmt::format("completion {}", data.user_cookie.as_64));
  (void)expect_completion(pair.active.requests, 2, DAT_DTO_SUCCESS);
}

DAT_CASE(solicited_message_wakes_its_waiter, calls(dat_ep_post_send, dat_evd_wait),
         rules("dat.ep-post-send.solicited")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  PairOptions options;
  options.attributes = &attr;
  const Pair pair = connected(options);
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  Waiter waiter(pair.passive.receives);
  const DAT_RETURN plain = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 1);
  const DAT_RETURN solicited = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 2,
                                         with_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  const Waited waited = waiter.result();
  expect(plain, succeeds);
  expect(solicited, succeeds);
  expect(waited.code, succeeds);
  // Both were there when the waiter woke, unless it woke for the first.
  expect_that(waited.more == 1, "1 more", fmt::format("{} more", waited.more));
}

DAT_CASE(fenced_write_waits_for_the_read, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-send.fence"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  Lmr between(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{1});
  const Lmr source(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{2});
  Lmr target(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{3});
  const Lmr behind(ia(), pair.pz.get(), 8);
  need(post_recv(pair.passive.ep.get(), {behind.triplet()}, 9), "no receive");
  need(post_read(pair.active.ep.get(), {between.triplet()}, source.remote(), 1), "no read");
  expect(post_write(pair.active.ep.get(), {between.triplet()}, target.remote(), 2,
                    with_flags(DAT_COMPLETION_BARRIER_FENCE_FLAG)),
         succeeds);
  need(post_send(pair.active.ep.get(), {source.triplet(0, 8)}, 3), "no send");
  for (DAT_UINT64 id = 1; id <= 3; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_completion(pair.passive.receives, 9, DAT_DTO_SUCCESS);
  expect_octets(*this, target, 0, size, std::byte{2});
}

DAT_CASE(completions_keep_the_order_of_their_posts,
         calls(dat_ep_post_send, dat_ep_post_rdma_write, dat_ep_post_rdma_read),
         rules("dat.ep-post-send.order")) {
  const PairWithMemory setup(*this);
  const DAT_EP_HANDLE ep = setup.pair.active.ep.get();
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
  for (DAT_UINT64 id = 0; id < 12; ++id) {
    const DAT_LMR_TRIPLET segment = setup.own.triplet(8 * id, 8);
    if (id % 3 == 0)
      need(post_read(ep, {segment}, setup.peer.remote(64, 8), id), "no read");
    else if (id % 3 == 1)
      need(post_write(ep, {segment}, setup.peer.remote(128, 8), id), "no write");
    else
      need(post_send(ep, {segment}, id), "no send");
  }
  for (DAT_UINT64 id = 0; id < 12; ++id)
    (void)expect_completion(setup.pair.active.requests, id, DAT_DTO_SUCCESS);
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    (void)expect_completion(setup.pair.passive.receives, id, DAT_DTO_SUCCESS);
}

DAT_CASES_OF_FILE(ep_post)

}  // namespace suite::cases::dat
