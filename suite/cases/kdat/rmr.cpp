// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Remote memory regions: what peers may do with a part of a region, until it is unbound.
#include <algorithm>
#include <string>

#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr Word remote_all = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
constexpr Word local_all = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;

struct Bind {
  Word privileges = remote_all, va_type = DAT_VA_TYPE_VA, cookie = 9, flags = 0;
};

/// A connection whose passive side has two pages for itself alone, and an RMR to open them with.
struct Windowed {
  explicit Windowed(KdatBody& body)
      : pair(body.connected()),
        region(body.region(pair.pz, 2, local_all)),
        own(body.region(pair.pz)) {
    std::ranges::fill(own.memory.octets, std::byte{0x5A});
    const Result made = body.call(RNIC_KDAT_RMR_CREATE, {pair.pz});
    body.need(made, "no RMR");
    rmr = made.out(0);
  }
  Result bind(KdatBody& body, const rnic_kdat_segment& segment, const Bind& how = {}) const {
    return body.call(
        RNIC_KDAT_RMR_BIND,
        {rmr, region.lmr, how.privileges, how.va_type, pair.passive.ep, how.cookie, how.flags},
        {.segments = {segment}});
  }
  /// Binds, and waits for the end of it; its context.
  std::uint32_t bound(KdatBody& body, const rnic_kdat_segment& segment,
                      const Bind& how = {}) const {
    const Result made = bind(body, segment, how);
    body.need(made, "no bind");
    const KernelEvent done = body.kernel().next_upcall(pair.passive.requests).event;
    if (done.number != DAT_RMR_BIND_COMPLETION_EVENT || done.status != DAT_DTO_SUCCESS)
      body.stop(Verdict::inconclusive, "the bind did not complete with success");
    return static_cast<std::uint32_t>(made.out(0));
  }
  /// The active side writes, or reads, as the peer of the RMR.
  void transfer(KdatBody& body, std::uint32_t number, Word address, std::uint32_t context,
                std::size_t length) const {
    Region remote;
    remote.rmr_context = context;
    remote.base = address;
    body.need(body.post_rdma(number, pair.active.ep, own.segment(0, length), 4, remote, 0, length),
              "no RDMA");
  }
  void expect_moved(KdatBody& body, std::uint32_t number, Word address, std::uint32_t context,
                    RuleRef rule) const {
    transfer(body, number, address, context, 16);
    (void)body.expect_done(pair.active.requests, 4, DAT_DTO_SUCCESS, rule);
  }
  /// A refused Write may complete before the refusal arrives: the end of the connection shows it.
  void expect_refused(KdatBody& body, std::uint32_t number, Word address, std::uint32_t context,
                      RuleRef rule) const {
    const std::vector<std::byte> before(region.memory.octets.begin(), region.memory.octets.end());
    transfer(body, number, address, context, 16);
    const bool success =
        body.kernel().next_upcall(pair.active.requests).event.status == DAT_DTO_SUCCESS;
    if (number == RNIC_KDAT_EP_POST_RDMA_READ)
      body.expect_that(!success, "a Read that fails", "a Read with success", rule);
    if (number == RNIC_KDAT_EP_POST_RDMA_READ && success) return;
    const Word end = body.kernel().next_upcall(pair.active.connection).event.number;
    body.expect_that(end == DAT_CONNECTION_EVENT_BROKEN || end == DAT_CONNECTION_EVENT_DISCONNECTED,
                     "the end of the connection", event_text(static_cast<DAT_EVENT_NUMBER>(end)),
                     rule);
    body.expect_octets(region.memory.octets, before, rule);
  }

  KernelPair pair;
  Region region, own;
  Word rmr = 0;
};

constexpr std::uint32_t writes = RNIC_KDAT_EP_POST_RDMA_WRITE;
constexpr std::uint32_t reads = RNIC_KDAT_EP_POST_RDMA_READ;

}  // namespace

KDAT_CASE(bind_completes_with_its_cookie, calls(dat_rmr_create, dat_rmr_bind, dat_rmr_query),
          rules("dat.rmr-create.success", "dat.rmr-bind.success", "dat.rmr-query.success")) {
  const Windowed windowed(*this);
  const rnic_kdat_segment segment = windowed.region.segment(100, 300);
  const Result bound = windowed.bind(*this, segment, {.cookie = 0x1234'5678'9ABC'DEF0});
  expect(bound, succeeds, "dat.rmr-bind.success");
  const KernelEvent done = expect_upcall(windowed.pair.passive.requests,
                                         DAT_RMR_BIND_COMPLETION_EVENT, "dat.rmr-bind.success");
  expect_number("RMR", done.ep, windowed.rmr, "dat.rmr-bind.success");
  expect_number("cookie", done.cookie, 0x1234'5678'9ABC'DEF0, "dat.rmr-bind.success");
  expect_number("status", done.status, DAT_DTO_SUCCESS, "dat.rmr-bind.success");
  const Result got = call(RNIC_KDAT_RMR_QUERY, {windowed.rmr, 0x7F});
  const RuleRef query = "dat.rmr-query.success";
  expect(got, succeeds, query);
  expect_number("IA", got.out(0), ia_handle(), query);
  expect_number("PZ", got.out(1), windowed.pair.pz, query);
  expect_number("address", got.out(2), segment.address, query);
  expect_number("length", got.out(3), segment.length, query);
  expect_number("region", got.out(4), segment.context, query);
  expect_number("privileges", got.out(5), remote_all, query);
  expect_number("context", got.out(6), bound.out(0), query);
  expect_number("scope", got.out(7), DAT_RMR_SCOPE_PZ, query);
  expect_number("kind of address", got.out(8), DAT_VA_TYPE_VA, query);
}

KDAT_CASE(peer_uses_what_is_bound, calls(dat_rmr_bind),
          rules("dat.rmr-bind.success", "dat.rmr-bind.zero-based")) {
  const auto check = [&](const char* name, Word va_type, std::size_t offset, RuleRef rule) {
    row(name, [&] {
      const Windowed windowed(*this);
      const rnic_kdat_segment segment = windowed.region.segment(offset, 5000);
      const std::uint32_t context = windowed.bound(*this, segment, {.va_type = va_type});
      const Word base = va_type == DAT_VA_TYPE_ZB ? 0 : segment.address;
      // Across the border of the pages.
      windowed.expect_moved(*this, writes, base + 4090 - offset, context, rule);
      windowed.expect_moved(*this, reads, base + 4090 - offset, context, rule);
      expect_octets(windowed.region.memory.part(4090, 16), windowed.own.memory.part(0, 16), rule);
    });
  };
  check("at its own address", DAT_VA_TYPE_VA, 100, "dat.rmr-bind.success");
  check("at address 0", DAT_VA_TYPE_ZB, 0, "dat.rmr-bind.zero-based");
}

KDAT_CASE(peer_cannot_use_the_rest, calls(dat_rmr_bind),
          rules("dat.rmr-bind.bounds-remote", "dat.rmr-bind.privileges-remote")) {
  const auto refused = [&](const char* name, std::uint32_t number, int displacement,
                           Word privileges, RuleRef rule) {
    row(name, [&] {
      const Windowed windowed(*this);
      const std::uint32_t context =
          windowed.bound(*this, windowed.region.segment(100, 300), {.privileges = privileges});
      const Word address = windowed.region.base + 100 + static_cast<Word>(displacement);
      windowed.expect_refused(*this, number, address, context, rule);
    });
  };
  const RuleRef bounds = "dat.rmr-bind.bounds-remote";
  refused("a Write below", writes, -1, remote_all, bounds);
  refused("a Write beyond", writes, 290, remote_all, bounds);
  refused("a Read beyond", reads, 290, remote_all, bounds);
  refused("a Write where only reading is granted", writes, 0, DAT_MEM_PRIV_REMOTE_READ_FLAG,
          "dat.rmr-bind.privileges-remote");
}

KDAT_CASE(peer_reads_only_where_that_is_granted, calls(dat_rmr_bind),
          rules("dat.rmr-bind.privileges-remote")) {
  const Windowed windowed(*this);
  const std::uint32_t context = windowed.bound(*this, windowed.region.segment(100, 300),
                                               {.privileges = DAT_MEM_PRIV_REMOTE_WRITE_FLAG});
  windowed.expect_refused(*this, reads, windowed.region.base + 100, context,
                          "dat.rmr-bind.privileges-remote");
}

KDAT_CASE(rebound_context_is_another_one, calls(dat_rmr_bind), rules("dat.rmr-bind.rebind")) {
  const Windowed windowed(*this);
  const std::uint32_t before = windowed.bound(*this, windowed.region.segment(0, 100));
  const std::uint32_t after = windowed.bound(*this, windowed.region.segment(4096, 100));
  expect_that(before != after, "another context", "the same");
  windowed.expect_moved(*this, writes, windowed.region.base + 4096, after, "dat.rmr-bind.rebind");
  windowed.expect_refused(*this, writes, windowed.region.base, before, "dat.rmr-bind.rebind");
}

KDAT_CASE(unbound_region_can_be_freed, calls(dat_rmr_bind, dat_lmr_free),
          rules("dat.rmr-bind.unbind")) {
  const Windowed windowed(*this);
  const std::uint32_t context = windowed.bound(*this, windowed.region.segment(0, 100));
  expect(call(RNIC_KDAT_LMR_FREE, {windowed.region.lmr}), returns(DAT_INVALID_STATE));
  (void)windowed.bound(*this, windowed.region.segment(0, 0));
  windowed.expect_refused(*this, writes, windowed.region.base, context, "dat.rmr-bind.unbind");
  expect(call(RNIC_KDAT_LMR_FREE, {windowed.region.lmr}), succeeds);
}

KDAT_CASE(freed_rmr_is_closed, calls(dat_rmr_free, dat_lmr_free),
          rules("dat.rmr-free.success", "dat.rmr-free.remote-use")) {
  const Windowed windowed(*this);
  const std::uint32_t context = windowed.bound(*this, windowed.region.segment(0, 100));
  expect(call(RNIC_KDAT_RMR_FREE, {windowed.rmr}), succeeds);
  expect(call(RNIC_KDAT_RMR_QUERY, {windowed.rmr, 1}), returns(DAT_INVALID_HANDLE));
  windowed.expect_refused(*this, writes, windowed.region.base, context, "dat.rmr-free.remote-use");
  expect(call(RNIC_KDAT_LMR_FREE, {windowed.region.lmr}), succeeds, "dat.rmr-free.success");
}

KDAT_CASE(peer_invalidates_a_bind, calls(dat_rmr_bind, dat_ep_post_send_with_invalidate),
          rules("dat.ep-post-send-with-invalidate.success", "dat.rmr-bind.rebind")) {
  const Windowed windowed(*this);
  const KernelPair& pair = windowed.pair;
  const std::uint32_t context = windowed.bound(*this, windowed.region.segment(0, 100));
  const RuleRef rule = "dat.ep-post-send-with-invalidate.success";
  need(post(RNIC_KDAT_EP_POST_RECV, pair.passive.ep, {windowed.region.segment(200, 8)}, 1),
       "no receive");
  expect(call(RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE, {pair.active.ep, 1, 2, 0, 1, context},
              {.segments = {windowed.own.segment(0, 8)}}),
         succeeds, rule);
  const KernelEvent done = expect_done(pair.passive.receives, 1, DAT_DTO_SUCCESS, rule);
  expect_number("operation", done.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE, rule);
  expect_number("context", done.rmr_context, context, rule);
  (void)expect_done(pair.active.requests, 2, DAT_DTO_SUCCESS, rule);
  const std::uint32_t again = windowed.bound(*this, windowed.region.segment(0, 100));
  windowed.expect_moved(*this, writes, windowed.region.base, again, "dat.rmr-bind.rebind");
  windowed.expect_refused(*this, writes, windowed.region.base, context, rule);
}

KDAT_CASE(suppressed_and_flushed_binds, calls(dat_rmr_bind),
          rules("dat.rmr-bind.suppressed", "dat.rmr-bind.flushed")) {
  const Windowed windowed(*this);
  const Word requests = windowed.pair.passive.requests;
  expect(windowed.bind(*this, windowed.region.segment(0, 100),
                       {.cookie = 1, .flags = DAT_COMPLETION_SUPPRESS_FLAG}),
         succeeds);
  // What is posted behind it is the first that completes.
  need(post(RNIC_KDAT_EP_POST_RECV, windowed.pair.active.ep, {windowed.own.segment(0, 8)}, 5),
       "no receive");
  need(post(RNIC_KDAT_EP_POST_SEND, windowed.pair.passive.ep, {windowed.region.segment(0, 8)}, 2),
       "no Send");
  (void)expect_done(requests, 2, DAT_DTO_SUCCESS, "dat.rmr-bind.suppressed");
  need(call(RNIC_KDAT_EP_DISCONNECT, {windowed.pair.passive.ep, DAT_CLOSE_ABRUPT_FLAG}),
       "no disconnect");
  (void)expect_upcall(windowed.pair.passive.connection, DAT_CONNECTION_EVENT_DISCONNECTED,
                      "dat.rmr-bind.flushed");
  const RuleRef flushed = "dat.rmr-bind.flushed";
  expect(windowed.bind(*this, windowed.region.segment(0, 50), {.cookie = 3}), succeeds, flushed);
  const KernelEvent done = expect_upcall(requests, DAT_RMR_BIND_COMPLETION_EVENT, flushed);
  expect_number("cookie", done.cookie, 3, flushed);
  expect_number("status", done.status, DAT_DTO_ERR_FLUSHED, flushed);
}

KDAT_CASE(bad_binds_are_refused, calls(dat_rmr_bind),
          rules("dat.rmr-bind.invalid-handle", "dat.rmr-bind.invalid-parameter",
                "dat.rmr-bind.invalid-state", "dat.rmr-bind.protection-violation",
                "dat.rmr-bind.privileges-violation")) {
  const Windowed windowed(*this);
  const Word ep = windowed.pair.passive.ep, lmr = windowed.region.lmr;
  const auto bind = [&](Word rmr, Word region, Word end, const rnic_kdat_segment& segment,
                        const Bind& how = {}, std::uint32_t nulls = 0) {
    return call(RNIC_KDAT_RMR_BIND,
                {rmr, region, how.privileges, how.va_type, end, how.cookie, how.flags},
                {.nulls = nulls, .segments = {segment}});
  };
  const rnic_kdat_segment good = windowed.region.segment(0, 100);
  row("something else in place of a handle", [&] {
    for (const Word none : {Word{0}, windowed.pair.pz}) {
      const RuleRef rule = "dat.rmr-bind.invalid-handle";
      expect(bind(none, lmr, ep, good), returns(DAT_INVALID_HANDLE), rule);
      expect(bind(windowed.rmr, none, ep, good), returns(DAT_INVALID_HANDLE), rule);
      expect(bind(windowed.rmr, lmr, none, good), returns(DAT_INVALID_HANDLE), rule);
    }
  });
  row("beyond the region", [&] {
    for (const auto& segment : {windowed.region.segment(0, 8193), windowed.region.segment(8192, 1)})
      expect(bind(windowed.rmr, lmr, ep, segment), returns(DAT_INVALID_PARAMETER));
  });
  row("flags that are none", [&] {
    expect(bind(windowed.rmr, lmr, ep, good, {.flags = 0x4000}), returns(DAT_INVALID_PARAMETER));
  });
  row("no segment, or no place for the context", [&] {
    for (const std::uint32_t pointer : {0U, 1U})
      expect(bind(windowed.rmr, lmr, ep, good, {}, RNIC_KDAT_NULL(pointer)),
             returns(DAT_INVALID_PARAMETER));
  });
  row("an unconnected endpoint", [&] {
    expect(bind(windowed.rmr, lmr, side(windowed.pair.pz).ep, good), returns(DAT_INVALID_STATE),
           "dat.rmr-bind.invalid-state");
  });
  row("another zone", [&] {
    const Region other = region(pz());
    expect(bind(windowed.rmr, other.lmr, ep, other.segment(0, 100)),
           returns(DAT_PROTECTION_VIOLATION), "dat.rmr-bind.protection-violation");
  });
  row("rights that the region does not have", [&] {
    const RuleRef rule = "dat.rmr-bind.privileges-violation";
    const Region closed = region(windowed.pair.pz, 1, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    expect(bind(windowed.rmr, closed.lmr, ep, closed.segment(0, 100)),
           returns(DAT_PRIVILEGES_VIOLATION), rule);
  });
}

KDAT_CASE(calls_on_no_rmr_are_refused,
          calls(dat_rmr_create, dat_rmr_create_for_ep, dat_rmr_query, dat_rmr_free),
          rules("dat.rmr-create.invalid-handle", "dat.rmr-create.invalid-parameter",
                "dat.rmr-create-for-ep.invalid-handle", "dat.rmr-query.invalid-handle",
                "dat.rmr-query.invalid-parameter", "dat.rmr-free.invalid-handle")) {
  const Word zone = pz();
  for (const Word none : {Word{0}, ia_handle()}) {
    expect(call(RNIC_KDAT_RMR_CREATE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.rmr-create.invalid-handle");
    expect(call(RNIC_KDAT_RMR_CREATE_FOR_EP, {none}), returns(DAT_INVALID_HANDLE),
           "dat.rmr-create-for-ep.invalid-handle");
    expect(call(RNIC_KDAT_RMR_QUERY, {none, 1}), returns(DAT_INVALID_HANDLE),
           "dat.rmr-query.invalid-handle");
    expect(call(RNIC_KDAT_RMR_FREE, {none}), returns(DAT_INVALID_HANDLE),
           "dat.rmr-free.invalid-handle");
  }
  expect_refused_without(RNIC_KDAT_RMR_CREATE, {zone}, {0}, "dat.rmr-create.invalid-parameter");
  const Result made = call(RNIC_KDAT_RMR_CREATE, {zone});
  need(made, "no RMR");
  const RuleRef query = "dat.rmr-query.invalid-parameter";
  expect_refused_without(RNIC_KDAT_RMR_QUERY, {made.out(0), 1}, {0}, query);
  expect(call(RNIC_KDAT_RMR_QUERY, {made.out(0), 0x1000}), returns(DAT_INVALID_PARAMETER), query);
}

KDAT_CASE(rmr_of_an_endpoint_is_made_or_refused, calls(dat_rmr_create_for_ep),
          rules("kdat.rmr-create-for-ep.model")) {
  expect(call(RNIC_KDAT_RMR_CREATE_FOR_EP, {pz()}),
         returns_one_of({DAT_SUCCESS, DAT_MODEL_NOT_SUPPORTED}));
}

// ---------------------------------------------------------------- as the sink of a Read

namespace {

/// The reader opens two pages of its own as the sink.
struct Reader {
  explicit Reader(KdatBody& body)
      : windowed(body),
        remote(body.region(windowed.pair.pz)),
        context(windowed.bound(body, sink(0, 4096))) {
    std::ranges::fill(remote.memory.octets, std::byte{0xC3});
  }
  [[nodiscard]] rnic_kdat_segment sink(std::size_t offset, std::size_t length) const {
    return windowed.region.segment(offset, length);
  }
  struct Read {
    Word offset = 100, sink_length = 64, length = 64, flags = 0, cookie = 6;
    std::uint32_t nulls = 0;
  };
  Result post(KdatBody& body, Word ep, const Read& what) const {
    return body.call(RNIC_KDAT_EP_POST_RDMA_READ_TO_RMR,
                     {ep, what.cookie, what.flags, windowed.region.base + what.offset,
                      what.sink_length, context, remote.base, what.length, remote.rmr_context},
                     {.nulls = what.nulls});
  }

  Windowed windowed;
  Region remote;
  std::uint32_t context;
};

}  // namespace

KDAT_CASE(read_fills_an_rmr, calls(dat_ep_post_rdma_read_to_rmr),
          rules("dat.ep-post-rdma-read-to-rmr.success",
                "dat.ep-post-rdma-read-to-rmr.zero-length")) {
  const Reader reader(*this);
  const KernelSide& end = reader.windowed.pair.passive;
  expect(reader.post(*this, end.ep, {}), succeeds);
  const KernelEvent done = expect_done(end.requests, 6);
  expect_number("operation", done.operation, DAT_DTO_RDMA_READ);
  expect_number("length", done.length, 64);
  expect_octets(reader.windowed.region.memory.part(100, 64), reader.remote.memory.part(0, 64));
  const RuleRef empty = "dat.ep-post-rdma-read-to-rmr.zero-length";
  expect(reader.post(*this, end.ep, {.sink_length = 0, .length = 0, .cookie = 7}), succeeds, empty);
  (void)expect_done(end.requests, 7, DAT_DTO_SUCCESS, empty);
}

KDAT_CASE(bad_reads_to_rmrs_are_refused, calls(dat_ep_post_rdma_read_to_rmr),
          rules("dat.ep-post-rdma-read-to-rmr.invalid-handle",
                "dat.ep-post-rdma-read-to-rmr.segments", "dat.ep-post-rdma-read-to-rmr.flags",
                "dat.ep-post-rdma-read-to-rmr.invalid-state", "dat.ep-post-rdma-read-to-rmr.length",
                "dat.ep-post-rdma-read-to-rmr.flushed")) {
  const Reader reader(*this);
  const KernelSide& end = reader.windowed.pair.passive;
  for (const Word none : {Word{0}, reader.windowed.pair.pz})
    expect(reader.post(*this, none, {}), returns(DAT_INVALID_HANDLE));
  for (const std::uint32_t pointer : {0U, 1U})
    expect(
        reader.post(*this, end.ep, {.nulls = static_cast<std::uint32_t>(RNIC_KDAT_NULL(pointer))}),
        returns(DAT_INVALID_PARAMETER), "dat.ep-post-rdma-read-to-rmr.segments");
  expect(reader.post(*this, end.ep, {.offset = 4090}), returns(DAT_INVALID_PARAMETER),
         "dat.ep-post-rdma-read-to-rmr.segments");
  expect(reader.post(*this, end.ep, {.flags = 0x4000}), returns(DAT_INVALID_PARAMETER),
         "dat.ep-post-rdma-read-to-rmr.flags");
  expect(reader.post(*this, side(reader.windowed.pair.pz).ep, {}), returns(DAT_INVALID_STATE),
         "dat.ep-post-rdma-read-to-rmr.invalid-state");
  expect(reader.post(*this, end.ep, {.sink_length = 63}), returns(DAT_LENGTH_ERROR),
         "dat.ep-post-rdma-read-to-rmr.length");
  need(call(RNIC_KDAT_EP_DISCONNECT, {end.ep, DAT_CLOSE_ABRUPT_FLAG}), "no disconnect");
  const RuleRef flushed = "dat.ep-post-rdma-read-to-rmr.flushed";
  (void)expect_upcall(end.connection, DAT_CONNECTION_EVENT_DISCONNECTED, flushed);
  expect(reader.post(*this, end.ep, {.cookie = 8}), succeeds, flushed);
  (void)expect_done(end.requests, 8, DAT_DTO_ERR_FLUSHED, flushed);
}

KDAT_CASES_OF_FILE(rmr)

}  // namespace suite::cases::dat
