// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Data transfer operations.
#include <algorithm>
#include <string>

#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

void fill(std::span<std::byte> octets, unsigned char first) {
  for (std::size_t i = 0; i < octets.size(); ++i)
    octets[i] = static_cast<std::byte>((first + 3 * i) & 0xFF);
}

}  // namespace

KDAT_CASE(send_is_received, calls(dat_ep_post_send, dat_ep_post_recv),
          rules("dat.ep-post-send.success", "dat.ep-post-recv.success")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz), to = region(pair.pz);
  fill(from.memory.octets, 9);
  expect(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {to.segment(0, 100), to.segment(1000, 900)},
              77),
         succeeds, "dat.ep-post-recv.success");
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep,
              {from.segment(50, 300), from.segment(2000, 200)}, 88),
         succeeds);
  const KernelEvent sent = expect_done(pair.active.requests, 88);
  expect_number("endpoint", sent.ep, pair.active.ep);
  expect_number("operation", sent.operation, DAT_DTO_SEND);
  expect_number("length", sent.length, 500);
  const RuleRef received = "dat.ep-post-recv.success";
  const KernelEvent done = expect_done(pair.passive.receives, 77, DAT_DTO_SUCCESS, received);
  expect_number("endpoint", done.ep, pair.passive.ep, received);
  expect_number("operation", done.operation, DAT_DTO_RECEIVE, received);
  expect_number("length", done.length, 500, received);
  expect_octets(to.memory.part(0, 100), from.memory.part(50, 100), received);
  expect_octets(to.memory.part(1000, 200), from.memory.part(150, 200), received);
  expect_octets(to.memory.part(1200, 200), from.memory.part(2000, 200), received);
}

KDAT_CASE(write_is_placed, calls(dat_ep_post_rdma_write), rules("dat.ep-post-rdma-write.success")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz), to = region(pair.pz);
  fill(from.memory.octets, 17);
  expect(post_rdma(RNIC_KDAT_EP_POST_RDMA_WRITE, pair.active.ep, from.segment(10, 2000), 5, to, 100,
                   2000),
         succeeds);
  const KernelEvent done = expect_done(pair.active.requests, 5);
  expect_number("operation", done.operation, DAT_DTO_RDMA_WRITE);
  expect_number("length", done.length, 2000);
  // What came before this has been placed (RFC 5040 5.5).
  need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {to.segment(3000, 8)}, 6), "no receive");
  need(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {from.segment(0, 8)}, 7), "no Send");
  (void)expect_done(pair.passive.receives, 6);
  expect_octets(to.memory.part(100, 2000), from.memory.part(10, 2000));
}

KDAT_CASE(read_brings_the_octets, calls(dat_ep_post_rdma_read),
          rules("dat.ep-post-rdma-read.success")) {
  const KernelPair pair = connected();
  const Region from = region(pair.pz), to = region(pair.pz);
  fill(from.memory.octets, 33);
  expect(post_rdma(RNIC_KDAT_EP_POST_RDMA_READ, pair.active.ep, to.segment(10, 1500), 5, from, 700,
                   1500),
         succeeds);
  const KernelEvent done = expect_done(pair.active.requests, 5);
  expect_number("operation", done.operation, DAT_DTO_RDMA_READ);
  expect_number("length", done.length, 1500);
  expect_octets(to.memory.part(10, 1500), from.memory.part(700, 1500));
}

KDAT_CASE(lengths_have_to_fit, calls(dat_ep_post_rdma_read, dat_ep_post_rdma_write),
          rules("dat.ep-post-rdma-read.length", "dat.ep-post-rdma-write.length")) {
  const KernelPair pair = connected();
  const Region here = region(pair.pz), there = region(pair.pz);
  expect(post_rdma(RNIC_KDAT_EP_POST_RDMA_READ, pair.active.ep, here.segment(0, 100), 1, there, 0,
                   101),
         returns(DAT_LENGTH_ERROR));
  expect(post_rdma(RNIC_KDAT_EP_POST_RDMA_WRITE, pair.active.ep, here.segment(0, 101), 2, there, 0,
                   100),
         returns(DAT_LENGTH_ERROR), "dat.ep-post-rdma-write.length");
  // A sink that is longer than the source takes what there is.
  expect(post_rdma(RNIC_KDAT_EP_POST_RDMA_READ, pair.active.ep, here.segment(0, 200), 3, there, 0,
                   100),
         succeeds);
  const KernelEvent done = expect_done(pair.active.requests, 3);
  expect_number("length", done.length, 100);
}

KDAT_CASE(receive_that_is_too_small_fails, calls(dat_ep_post_recv),
          rules("dat.ep-post-recv.too-small")) {
  const KernelPair pair = connected();
  const Region memory = region(pair.pz);
  need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {memory.segment(0, 10)}, 1), "no receive");
  need(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(100, 11)}, 2), "no Send");
  const Upcall done = kernel().next_upcall(pair.passive.receives);
  expect_number("cookie", done.event.cookie, 1);
  expect_that(done.event.status != DAT_DTO_SUCCESS, "a failed receive", "success");
}

KDAT_CASE(suppressed_success_is_not_told, calls(dat_ep_post_send),
          rules("dat.ep-post-send.suppress")) {
  const KernelPair pair = connected();
  const Region memory = region(pair.pz);
  for (const Word cookie : {Word{1}, Word{2}})
    need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {memory.segment(0, 16)}, cookie),
         "no receive");
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(100, 8)}, 3,
              DAT_COMPLETION_SUPPRESS_FLAG),
         succeeds);
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(100, 8)}, 4), succeeds);
  (void)expect_done(pair.active.requests, 4);
  for (const Word cookie : {Word{1}, Word{2}}) (void)expect_done(pair.passive.receives, cookie);
}

KDAT_CASE(message_of_no_octets_arrives, calls(dat_ep_post_send, dat_ep_post_recv),
          rules("dat.ep-post-send.zero-length", "dat.ep-post-recv.zero-length")) {
  const KernelPair pair = connected();
  const rnic_kdat_segment empty{
      .address = 0xDEAD, .length = 0, .context = 0xBAD, .memory = 0, .reserved = 0};
  expect(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {empty}, 1), succeeds,
         "dat.ep-post-recv.zero-length");
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {}, 2), succeeds);
  const KernelEvent done =
      expect_done(pair.passive.receives, 1, DAT_DTO_SUCCESS, "dat.ep-post-recv.zero-length");
  expect_number("length", done.length, 0, "dat.ep-post-recv.zero-length");
  (void)expect_done(pair.active.requests, 2);
}

// ---------------------------------------------------------------- refusals

namespace {

struct PostKind {
  const char* name;
  std::uint32_t number;
  RuleRef segments, outside, protection, privileges, flags, handle;
  Word needed;  ///< the local privilege that it takes
  bool request;
};

const std::array post_kinds{
    PostKind{"send", RNIC_KDAT_EP_POST_SEND, "dat.ep-post-send.segments",
             "dat.ep-post-send.outside", "dat.ep-post-send.protection",
             "dat.ep-post-send.privileges", "dat.ep-post-send.flags",
             "dat.ep-post-send.invalid-handle", DAT_MEM_PRIV_LOCAL_READ_FLAG, true},
    PostKind{"receive", RNIC_KDAT_EP_POST_RECV, "dat.ep-post-recv.segments",
             "dat.ep-post-recv.outside", "dat.ep-post-recv.protection",
             "dat.ep-post-recv.privileges", "dat.ep-post-recv.flags",
             "dat.ep-post-recv.invalid-handle", DAT_MEM_PRIV_LOCAL_WRITE_FLAG, false},
    PostKind{"write", RNIC_KDAT_EP_POST_RDMA_WRITE, "dat.ep-post-rdma-write.segments",
             "dat.ep-post-rdma-write.outside", "dat.ep-post-rdma-write.protection",
             "dat.ep-post-rdma-write.privileges", "dat.ep-post-rdma-write.flags",
             "dat.ep-post-rdma-write.invalid-handle", DAT_MEM_PRIV_LOCAL_READ_FLAG, true},
    PostKind{"read", RNIC_KDAT_EP_POST_RDMA_READ, "dat.ep-post-rdma-read.segments",
             "dat.ep-post-rdma-read.outside", "dat.ep-post-rdma-read.protection",
             "dat.ep-post-rdma-read.privileges", "dat.ep-post-rdma-read.flags",
             "dat.ep-post-rdma-read.invalid-handle", DAT_MEM_PRIV_LOCAL_WRITE_FLAG, true},
};

/// With a remote part that fits.
Result post_one(KdatBody& body, const PostKind& kind, Word ep, const rnic_kdat_segment& local,
                Word count = 1, Word flags = 0, std::uint32_t nulls = 0) {
  return body.call(kind.number, {ep, count, 1, flags, 0, local.length, 1},
                   {.nulls = nulls, .segments = {local}});
}

}  // namespace

KDAT_CASE(bad_posts_are_refused,
          calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_write, dat_ep_post_rdma_read),
          rules("dat.ep-post-send.segments", "dat.ep-post-recv.segments",
                "dat.ep-post-rdma-write.segments", "dat.ep-post-rdma-read.segments"),
          rules("dat.ep-post-send.outside", "dat.ep-post-recv.outside",
                "dat.ep-post-rdma-write.outside", "dat.ep-post-rdma-read.outside"),
          rules("dat.ep-post-send.flags", "dat.ep-post-recv.flags", "dat.ep-post-rdma-write.flags",
                "dat.ep-post-rdma-read.flags"),
          rules("dat.ep-post-send.invalid-handle", "dat.ep-post-recv.invalid-handle",
                "dat.ep-post-rdma-write.invalid-handle", "dat.ep-post-rdma-read.invalid-handle")) {
  const KernelPair pair = connected();
  const Region memory = region(pair.pz);
  const Word ep = pair.active.ep;
  for (const PostKind& kind : post_kinds)
    row(kind.name, [&] {
      const auto good = memory.segment(0, 64);
      const auto refused = returns(DAT_INVALID_PARAMETER);
      expect(post_one(*this, kind, ep, good, 0xFFFFFFFF), refused, kind.segments);
      expect(post_one(*this, kind, ep, good, 100), refused, kind.segments);
      expect(post_one(*this, kind, ep, good, 1, 0, RNIC_KDAT_NULL(0)), refused, kind.segments);
      auto beyond = memory.segment(memory.memory.octets.size() - 10, 11);
      expect(post_one(*this, kind, ep, beyond), refused, kind.outside);
      expect(post_one(*this, kind, ep, good, 1, 0x8000), refused, kind.flags);
      for (const Word none : {Word{0}, pair.pz})
        expect(post_one(*this, kind, none, good), returns(DAT_INVALID_HANDLE), kind.handle);
    });
}

KDAT_CASE(rights_of_local_memory_are_checked,
          calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_write, dat_ep_post_rdma_read),
          rules("dat.ep-post-send.protection", "dat.ep-post-recv.protection",
                "dat.ep-post-rdma-write.protection", "dat.ep-post-rdma-read.protection"),
          rules("dat.ep-post-send.privileges", "dat.ep-post-recv.privileges",
                "dat.ep-post-rdma-write.privileges", "dat.ep-post-rdma-read.privileges")) {
  const KernelPair pair = connected();
  const Region foreign = region(pz()), readable = region(pair.pz, 1, DAT_MEM_PRIV_LOCAL_READ_FLAG),
               writable = region(pair.pz, 1, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  for (const PostKind& kind : post_kinds)
    row(kind.name, [&] {
      const bool reads = kind.needed == DAT_MEM_PRIV_LOCAL_READ_FLAG;
      expect(post_one(*this, kind, pair.active.ep, foreign.segment(0, 8)),
             returns(DAT_PROTECTION_VIOLATION), kind.protection);
      expect(post_one(*this, kind, pair.active.ep, (reads ? writable : readable).segment(0, 8)),
             returns(DAT_PRIVILEGES_VIOLATION), kind.privileges);
      auto unknown = readable.segment(0, 8);
      unknown.context ^= 0x5500;
      expect(post_one(*this, kind, pair.active.ep, unknown), returns(DAT_PRIVILEGES_VIOLATION),
             kind.privileges);
    });
}

KDAT_CASE(request_needs_a_connection, calls(dat_ep_post_send),
          rules("dat.ep-post-send.invalid-state", "dat.ep-post-send.flushed")) {
  const KernelPair pair = connected();
  const Region memory = region(pair.pz);
  const KernelSide idle = side(pair.pz);
  expect(post(RNIC_KDAT_EP_POST_SEND, idle.ep, {memory.segment(0, 8)}, 1),
         returns(DAT_INVALID_STATE));
  need(call(RNIC_KDAT_EP_DISCONNECT, {pair.active.ep, DAT_CLOSE_ABRUPT_FLAG}), "no disconnect");
  (void)expect_upcall(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  const RuleRef flushed = "dat.ep-post-send.flushed";
  expect(post(RNIC_KDAT_EP_POST_SEND, pair.active.ep, {memory.segment(0, 8)}, 2), succeeds,
         flushed);
  (void)expect_done(pair.active.requests, 2, DAT_DTO_ERR_FLUSHED, flushed);
}

KDAT_CASE(endpoint_takes_so_many_receives, calls(dat_ep_post_recv),
          rules("dat.ep-post-recv.insufficient-resources")) {
  const Word zone = pz();
  const Region memory = region(zone);
  const KernelSide end = side(zone, 4);
  const Word most =
      call(RNIC_KDAT_EP_QUERY, {end.ep, DAT_EP_FIELD_ALL}).out(RNIC_KDAT_EP_MAX_RECV_DTOS);
  for (Word i = 0; i < most; ++i)
    need(post(RNIC_KDAT_EP_POST_RECV, end.ep, {memory.segment(0, 8)}, i),
         "a receive is refused early");
  expect(post(RNIC_KDAT_EP_POST_RECV, end.ep, {memory.segment(0, 8)}, most),
         returns(DAT_INSUFFICIENT_RESOURCES));
  expect_number("receives are idle", call(RNIC_KDAT_EP_GET_STATUS, {end.ep}).out(1), 0);
}

KDAT_CASES_OF_FILE(post)

}  // namespace suite::cases::dat
