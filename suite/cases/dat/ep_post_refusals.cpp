// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs: what each post refuses.
#include <functional>

#include "suite/cases/dat/framework/dat_posts.hpp"

namespace suite::cases::dat {

namespace {

/// One of the calls that take segments; `peer` is the memory that it reads or writes.
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

/// A provider may report faults of segments later, if it says that it does so.
Returns at_once(DatBody& body, const Returns& wanted) {
  DAT_PROVIDER_ATTR attr{};
  body.need(CALL(dat_ia_query, body.ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
            "no attributes");
  return attr.dto_async_return_guaranteed != DAT_FALSE ? wanted.or_tolerably(DAT_SUCCESS) : wanted;
}

/// `smallest`: this limit of the endpoint is 1 while the others are as usual, so that another
/// one would admit more.
void judge_segments(DatBody& body, Post post, DAT_COUNT DAT_EP_ATTR::* limit, bool passive,
                    bool smallest) {
  DAT_EP_ATTR attr = attributes_of(body, make_side(body.ia(), body.ia().pz()).ep);
  if (smallest) attr.*limit = 1;
  PairOptions attributes;
  attributes.attributes = &attr;
  const PairWithMemory setup(body, attributes);
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
  if (!smallest) refused("a negative number", {setup.own.triplet(0, 8)}, -1);
  refused(smallest ? "one more than an endpoint takes that takes fewest of these"
                   : "one more than the endpoint takes",
          Segments(static_cast<std::size_t>(most) + 1, setup.own.triplet(0, 1)), std::nullopt);
  body.expect_state(setup.pair.active.ep, DAT_EP_STATE_CONNECTED);
}

void judge_missing_segments(DatBody& body, Post post) {
  const PairWithMemory setup(body);
  PostOptions options;
  options.count = 1;
  body.expect(post(setup.pair, setup.peer, {}, 1, options), returns(DAT_INVALID_PARAMETER));
}

/// What is wrong with a segment is so alone, and behind another one where the endpoint takes two.
struct InEachPlace {
  DatBody& body;
  const PairWithMemory& setup;
  Post post;
  bool several;

  InEachPlace(DatBody& of, const PairWithMemory& with, Post how, DAT_COUNT DAT_EP_ATTR::* limit)
      : body(of),
        setup(with),
        post(how),
        several(attributes_of(of, with.pair.active.ep).*limit > 1) {}
  void expect(const DAT_LMR_TRIPLET& wrong, const Returns& refused) const {
    body.expect(post(setup.pair, setup.peer, {wrong}, 1, {}), refused);
    if (several)
      body.expect(post(setup.pair, setup.peer, {setup.own.triplet(0, 8), wrong}, 1, {}), refused);
  }
};

void judge_outside(DatBody& body, Post post, DAT_COUNT DAT_EP_ATTR::* limit) {
  const PairWithMemory setup(body);
  const InEachPlace in_each_place(body, setup, post, limit);
  const Returns refused = at_once(body, returns(DAT_INVALID_PARAMETER));
  const auto attempt = [&](const char* name, DAT_VADDR shift, DAT_SEG_LENGTH length) {
    body.row(name, [&] {
      DAT_LMR_TRIPLET segment = setup.own.triplet();
      segment.virtual_address += shift;
      segment.segment_length = length;
      in_each_place.expect(segment, refused);
    });
  };
  attempt("one octet too long", 0, 257);
  attempt("one octet below", ~DAT_VADDR{0}, 8);
  attempt("one octet past the end", 249, 8);
  attempt("all of it after the end", 256, 8);
}

void judge_protection(DatBody& body, Post post, DAT_COUNT DAT_EP_ATTR::* limit) {
  const PairWithMemory setup(body);
  const Pz other = body.ia().pz();
  const Lmr foreign(body.ia(), other.get(), 64);
  InEachPlace(body, setup, post, limit)
      .expect(foreign.triplet(0, 8), at_once(body, returns(DAT_PROTECTION_VIOLATION)));
}

void judge_privileges(DatBody& body, Post post, DAT_COUNT DAT_EP_ATTR::* limit, bool sink) {
  const PairWithMemory setup(body);
  const InEachPlace in_each_place(body, setup, post, limit);
  const Returns refused = at_once(body, returns(DAT_PRIVILEGES_VIOLATION));
  const Returns refused_somehow =
      refused.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_INVALID_PARAMETER);
  body.row("a context of no region", [&] {
    DAT_LMR_TRIPLET segment = setup.own.triplet(0, 8);
    segment.lmr_context ^= 0x5A5A00;
    in_each_place.expect(segment, refused_somehow);
  });
  body.row("a freed region", [&] {
    Lmr gone(body.ia(), setup.pair.pz.get(), 64);
    const DAT_LMR_TRIPLET segment = gone.triplet(0, 8);
    body.need(CALL(dat_lmr_free, gone.release()), "not freed");
    in_each_place.expect(segment, refused_somehow);
  });
  if (!sink) return;  // local read is always granted
  body.row("no local write", [&] {
    const Lmr readable(
        body.ia(), setup.pair.pz.get(), 64,
        flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG));
    in_each_place.expect(readable.triplet(0, 8), refused);
  });
}

void judge_flags(DatBody& body, Post post, bool receive) {
  const PairWithMemory setup(body);
  const auto unsignalled_refused = [&](const PairWithMemory& at) {
    body.expect(post(at.pair, at.peer, {at.own.triplet(0, 8)}, 1,
                     with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG)),
                returns(DAT_INVALID_PARAMETER));
  };
  body.row("unsignalled, which the endpoint does not have", [&] { unsignalled_refused(setup); });
  body.row("unsignalled, which the endpoint has for the other direction", [&] {
    DAT_EP_ATTR attr = attributes_of(body, make_side(body.ia(), body.ia().pz()).ep);
    (receive ? attr.request_completion_flags : attr.recv_completion_flags) =
        DAT_COMPLETION_UNSIGNALLED_FLAG;
    PairOptions attributes;
    attributes.attributes = &attr;
    unsignalled_refused(PairWithMemory(body, attributes));
  });
  body.row("flags that no header defines", [&] {
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

}  // namespace

// The same seven cases for each call: `prefix` begins its rules, `sink` is true if it writes to its
// segments, `passive` if the passive side posts it.
#define POST_CASES(slug, function, prefix, post, limit, sink, passive)                          \
  DAT_CASE(slug##_of_too_many_segments_is_refused, calls(function),                             \
           rules("dat." prefix ".segments")) {                                                  \
    for (const bool smallest : {false, true})                                                   \
      judge_segments(*this, post, &DAT_EP_ATTR::limit, passive, smallest);                      \
  }                                                                                             \
  DAT_CASE(slug##_that_lacks_its_segments_is_refused, calls(function),                          \
           rules("dat." prefix ".segments"), with_hostile_handles) {                            \
    judge_missing_segments(*this, post);                                                        \
  }                                                                                             \
  DAT_CASE(slug##_outside_its_region_is_refused, calls(function),                               \
           rules("dat." prefix ".outside")) {                                                   \
    judge_outside(*this, post, &DAT_EP_ATTR::limit);                                            \
  }                                                                                             \
  DAT_CASE(slug##_of_another_zone_is_refused, calls(function),                                  \
           rules("dat." prefix ".protection")) {                                                \
    judge_protection(*this, post, &DAT_EP_ATTR::limit);                                         \
  }                                                                                             \
  DAT_CASE(slug##_without_the_privilege_is_refused, calls(function),                            \
           rules("dat." prefix ".privileges")) {                                                \
    judge_privileges(*this, post, &DAT_EP_ATTR::limit, sink);                                   \
  }                                                                                             \
  DAT_CASE(slug##_of_wrong_flags_is_refused, calls(function), rules("dat." prefix ".flags")) {  \
    judge_flags(*this, post, passive);                                                          \
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

/// Posts one request more than the endpoint takes while its RDMA Reads are outstanding. They may
/// complete too soon to matter, so it tries often; a provider may take more than it was asked for.
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

// What has completed makes room, whether its completion was an event or not.
DAT_CASE(completed_work_makes_room_for_as_much,
         calls(dat_ep_post_rdma_write, dat_ep_post_send, dat_ep_post_recv),
         rules("dat.ep-post-rdma-write.success", "dat.ep-post-send.success",
               "dat.ep-post-recv.success"),
         deadline_of(10s)) {
  constexpr DAT_COUNT depth = 4;
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.max_request_dtos = attr.max_recv_dtos = depth;
  PairOptions options;
  options.attributes = &attr;
  const PairWithMemory setup(*this, options);
  const Side &active = setup.pair.active, &passive = setup.pair.passive;
  for (const bool suppressed : {false, true, true, false, false})
    row(suppressed ? "suppressed" : "with completions", [&] {
      for (DAT_UINT64 id = 1; id <= depth; ++id)
        expect(post_recv(passive.ep.get(), {setup.peer.triplet(0, 8)}, id), succeeds,
               "dat.ep-post-recv.success");
      const unsigned flags =
          suppressed ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG;
      for (DAT_UINT64 id = 1; id < depth; ++id)
        expect(post_write(active.ep.get(), {setup.own.triplet(0, 8)}, setup.peer.remote(8, 8), id,
                          with_flags(flags)),
               succeeds, "dat.ep-post-rdma-write.success");
      for (DAT_UINT64 sent = 1; sent <= depth; ++sent) {
        expect(post_send(active.ep.get(), {setup.own.triplet(0, 8)}, depth), succeeds,
               "dat.ep-post-send.success");
        for (DAT_UINT64 id = 1; id < depth && sent == 1 && !suppressed; ++id)
          (void)expect_completion(active.requests, id, DAT_DTO_SUCCESS,
                                  "dat.ep-post-rdma-write.success");
        (void)expect_completion(active.requests, depth, DAT_DTO_SUCCESS,
                                "dat.ep-post-send.success");
      }
      for (DAT_UINT64 id = 1; id <= depth; ++id)
        (void)expect_completion(passive.receives, id, DAT_DTO_SUCCESS, "dat.ep-post-recv.success");
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

DAT_CASES_OF_PART(ep_post, refusals)

}  // namespace suite::cases::dat
