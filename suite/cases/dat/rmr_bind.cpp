// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Bound windows: dat_rmr_bind, and what peers may do with what is bound.
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

constexpr auto remote_all =
    static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

/// A connection whose passive side has a region with local privileges, and a window to bind.
struct WindowSetup {
  explicit WindowSetup(DatBody& body)
      : pair(body.connected()),
        region(body.ia(), pair.pz.get(), 256, static_cast<DAT_MEM_PRIV_FLAGS>(0x11)),
        own(body.ia(), pair.pz.get(), 256, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A}),
        window(make_window(body, pair.pz)) {}

  struct Bind {
    DAT_MEM_PRIV_FLAGS privileges = remote_all;
    DAT_VA_TYPE va_type = DAT_VA_TYPE_VA;
    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
    DAT_UINT64 cookie = 9;
  };
  DAT_RETURN bind(DAT_LMR_TRIPLET segment, const Bind& how) {
    return bind(window.get(), region.get(), segment, pair.passive.ep.get(), how);
  }
  DAT_RETURN bind(DAT_LMR_TRIPLET segment) { return bind(segment, Bind{}); }
  DAT_RETURN bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET segment, DAT_EP_HANDLE ep,
                  const Bind& how) {
    DAT_RMR_COOKIE cookie{};
    cookie.as_64 = how.cookie;
    return CALL(dat_rmr_bind, rmr, lmr, &segment, how.privileges, how.va_type, ep, cookie,
                how.flags, &context);
  }
  /// Binds, and takes the completion. Its kind is not judged here: bind_completes judges it.
  void bound(DatBody& body, DAT_LMR_TRIPLET segment, const Bind& how) {
    bound(body, region, segment, how);
  }
  void bound(DatBody& body, const Lmr& lmr, DAT_LMR_TRIPLET segment, const Bind& how) {
    body.need(bind(window.get(), lmr.get(), segment, pair.passive.ep.get(), how), "no bind");
    const DAT_EVENT event = next_event(pair.passive.requests);
    const bool good =
        event.event_number == DAT_RMR_BIND_COMPLETION_EVENT
            ? event.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS
            : event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
    if (!good) body.stop(Verdict::inconclusive, "the bind did not complete with success");
  }
  void bound(DatBody& body, DAT_LMR_TRIPLET segment) { bound(body, segment, Bind{}); }

  /// The active side, as the peer of the window.
  void write(DatBody& body, DAT_VADDR address, DAT_RMR_CONTEXT remote, DAT_SEG_LENGTH length,
             DAT_DTO_COMPLETION_STATUS status) {
    DAT_LMR_TRIPLET from = own.triplet(0, length);
    const DAT_RMR_TRIPLET to = at(address, remote, length);
    DAT_DTO_COOKIE cookie{};
    cookie.as_64 = 4;
    body.need(CALL(dat_ep_post_rdma_write, pair.active.ep.get(), 1, &from, cookie, &to,
                   DAT_COMPLETION_DEFAULT_FLAG),
              "no RDMA Write");
    if (status == DAT_DTO_SUCCESS) {
      body.expect_completion(pair.active.requests, 4, status);
      return await_placement(body);
    }
    // A refused Write may complete before the refusal arrives; then the end of the connection shows
    // it.
    const auto data = next_event(pair.active.requests).event_data.dto_completion_event_data;
    const DAT_EVENT_NUMBER end = next_event(pair.active.connection).event_number;
    body.expect_that(
        (data.status == status || data.status == DAT_DTO_SUCCESS) &&
            (end == DAT_CONNECTION_EVENT_BROKEN || end == DAT_CONNECTION_EVENT_DISCONNECTED),
        status_text(status) + ", and the connection ends",
        status_text(data.status) + ", " + event_text(end));
  }
  void read(DatBody& body, DAT_VADDR address, DAT_RMR_CONTEXT remote, DAT_SEG_LENGTH length,
            DAT_DTO_COMPLETION_STATUS status) {
    DAT_LMR_TRIPLET to = own.triplet(128, length);
    const DAT_RMR_TRIPLET from = at(address, remote, length);
    DAT_DTO_COOKIE cookie{};
    cookie.as_64 = 5;
    body.need(CALL(dat_ep_post_rdma_read, pair.active.ep.get(), 1, &to, cookie, &from,
                   DAT_COMPLETION_DEFAULT_FLAG),
              "no RDMA Read");
    body.expect_completion(pair.active.requests, 5, status);
  }
  /// A Write is complete before it has arrived, so that a bind at once could overtake it; a Send behind
  /// it is delivered only once it is placed (RFC 5040 section 5.5).
  void await_placement(DatBody& body) {
    body.need(post_recv(pair.passive.ep.get(), {own.triplet(192, 8)}, 6), "no receive");
    body.need(post_send(pair.active.ep.get(), {own.triplet(0, 8)}, 7), "no Send");
    (void)next_event(pair.active.requests);
    (void)next_event(pair.passive.receives);
  }
  static DAT_RMR_TRIPLET at(DAT_VADDR address, DAT_RMR_CONTEXT remote, DAT_SEG_LENGTH length) {
    DAT_RMR_TRIPLET triplet{};
    triplet.virtual_address = address;
    triplet.segment_length = length;
    triplet.rmr_context = remote;
    return triplet;
  }
  [[nodiscard]] DAT_VADDR address(std::size_t offset) const {
    return region.triplet().virtual_address + offset;
  }

  Pair pair;
  Lmr region, own;
  Rmr window;
  DAT_RMR_CONTEXT context = 0;
};

}  // namespace

DAT_CASE(bind_completes_with_window_and_cookie, calls(dat_rmr_bind),
         rules("dat.rmr-bind.success")) {
  WindowSetup setup(*this);
  expect(setup.bind(setup.region.triplet(), {.cookie = 0x1234'5678'9ABC'DEF0}), succeeds);
  expect_that(setup.context != 0, "a context", "none");
  const auto event = expect_event(setup.pair.passive.requests, DAT_RMR_BIND_COMPLETION_EVENT);
  const auto& data = event.event_data.rmr_completion_event_data;
  same(*this, "window", data.rmr_handle, setup.window.get());
  same(*this, "cookie", data.user_cookie.as_64, DAT_UINT64{0x1234'5678'9ABC'DEF0});
  same(*this, "status", data.status, DAT_RMR_BIND_SUCCESS);
  same(*this, "EVD", event.evd_handle, setup.pair.passive.requests.get());
}

DAT_CASE(query_returns_what_a_window_is_bound_to, calls(dat_rmr_bind, dat_rmr_query),
         rules("dat.rmr-query.success")) {
  WindowSetup setup(*this);
  const DAT_LMR_TRIPLET segment = setup.region.triplet(16, 32);
  setup.bound(*this, segment, {.privileges = DAT_MEM_PRIV_REMOTE_READ_FLAG});
  const DAT_RMR_PARAM param = query(*this, setup.window);
  same(*this, "address", param.lmr_triplet.virtual_address, segment.virtual_address);
  same(*this, "length", param.lmr_triplet.segment_length, segment.segment_length);
  same(*this, "region", param.lmr_triplet.lmr_context, segment.lmr_context);
  same(*this, "privileges", param.mem_priv, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  same(*this, "context", param.rmr_context, setup.context);
  same(*this, "zone", param.pz_handle, setup.pair.pz.get());
  same(*this, "kind of addresses", param.va_type, DAT_VA_TYPE_VA);
}

DAT_CASE(peer_writes_and_reads_through_a_window, calls(dat_rmr_bind),
         rules("dat.rmr-bind.success")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  setup.write(*this, setup.address(16), setup.context, 32, DAT_DTO_SUCCESS);
  setup.read(*this, setup.address(16), setup.context, 32, DAT_DTO_SUCCESS);
  const auto& memory = setup.region.octets();
  expect_that(memory[15] == std::byte{0xA5} && memory[16] == std::byte{0x5A} &&
                  memory[47] == std::byte{0x5A} && memory[48] == std::byte{0xA5},
              "octets 16 to 47 written", "other octets");
  expect_that(setup.own.octets()[128] == std::byte{0x5A}, "the octets read back", "other octets");
}

DAT_CASE(whole_region_and_one_octet_can_be_bound, calls(dat_rmr_bind),
         rules("dat.rmr-bind.success")) {
  WindowSetup setup(*this);
  const std::pair<std::size_t, std::size_t> segments[] = {{0, 256}, {0, 1}, {255, 1}};
  for (const auto& [offset, length] : segments) {
    setup.bound(*this, setup.region.triplet(offset, length));
    const auto size = static_cast<DAT_SEG_LENGTH>(std::min<std::size_t>(length, 64));
    setup.write(*this, setup.address(offset), setup.context, size, DAT_DTO_SUCCESS);
  }
}

DAT_CASE(write_before_a_window_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.bounds-remote")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  setup.write(*this, setup.address(15), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
  expect_that(setup.region.octets()[15] == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(write_beyond_a_window_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.bounds-remote")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  setup.write(*this, setup.address(41), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
  expect_that(setup.region.octets()[48] == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(read_beyond_a_window_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.bounds-remote")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  setup.read(*this, setup.address(41), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
}

DAT_CASE(window_for_reads_is_closed_to_writes, calls(dat_rmr_bind),
         rules("dat.rmr-bind.privileges-remote")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(), {.privileges = DAT_MEM_PRIV_REMOTE_READ_FLAG});
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  setup.write(*this, setup.address(0), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
  expect_that(setup.region.octets()[0] == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(window_for_writes_is_closed_to_reads, calls(dat_rmr_bind),
         rules("dat.rmr-bind.privileges-remote")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(), {.privileges = DAT_MEM_PRIV_REMOTE_WRITE_FLAG});
  setup.write(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
}

DAT_CASE(second_bind_makes_another_context, calls(dat_rmr_bind), rules("dat.rmr-bind.rebind")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet());
  const DAT_RMR_CONTEXT before = setup.context;
  setup.bound(*this, setup.region.triplet(64, 64));
  expect_that(setup.context != before, "another context", "the same");
  setup.write(*this, setup.address(64), setup.context, 64, DAT_DTO_SUCCESS);
  setup.read(*this, setup.address(64), before, 8, DAT_DTO_ERR_REMOTE_ACCESS);
}

// Part of a context may be a counter, which wraps.
DAT_CASE(each_of_many_binds_returns_the_context_of_its_window, calls(dat_rmr_bind),
         rules("dat.rmr-bind.rebind"), deadline_of(10s)) {
  WindowSetup setup(*this);
  constexpr int many = 300;
  for (int i = 0; i < many; ++i) {
    setup.bound(*this, setup.region.triplet());
    setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  }
}

DAT_CASE(unbound_context_gives_no_access, calls(dat_rmr_bind), rules("dat.rmr-bind.unbind")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet());
  const DAT_RMR_CONTEXT before = setup.context;
  setup.read(*this, setup.address(0), before, 8, DAT_DTO_SUCCESS);
  setup.bound(*this, setup.region.triplet(0, 0));
  setup.read(*this, setup.address(0), before, 8, DAT_DTO_ERR_REMOTE_ACCESS);
}

DAT_CASE(region_of_a_bound_window_is_not_freed, calls(dat_lmr_free, dat_rmr_bind),
         rules("dat.lmr-free.invalid-state", "dat.rmr-bind.unbind")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  expect(CALL(dat_lmr_free, setup.region.get()), returns(DAT_INVALID_STATE));
  setup.bound(*this, setup.region.triplet(0, 0));
  expect(CALL(dat_lmr_free, setup.region.release()), succeeds, "dat.rmr-bind.unbind");
}

DAT_CASE(free_of_a_bound_window_releases_its_region, calls(dat_rmr_free, dat_lmr_free),
         rules("dat.rmr-free.success")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet());
  expect(CALL(dat_rmr_free, setup.window.release()), succeeds);
  expect(CALL(dat_lmr_free, setup.region.release()), succeeds);
}

DAT_CASE(peer_cannot_use_a_freed_window, calls(dat_rmr_free), rules("dat.rmr-free.remote-use")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet());
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  expect(CALL(dat_rmr_free, setup.window.release()), succeeds);
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_ERR_REMOTE_ACCESS);
}

DAT_CASE(zero_based_window_is_addressed_from_zero, calls(dat_rmr_bind),
         rules("dat.rmr-bind.zero-based")) {
  need_zero_based(*this);
  for (const DAT_VA_TYPE of_region : {DAT_VA_TYPE_VA, DAT_VA_TYPE_ZB})
    row(of_region == DAT_VA_TYPE_ZB ? "of a zero-based region" : "of a region", [&] {
      WindowSetup setup(*this);
      const Lmr region(ia(), setup.pair.pz.get(), 256, static_cast<DAT_MEM_PRIV_FLAGS>(0x11),
                       std::byte{0xA5}, of_region);
      setup.bound(*this, region, region.triplet(16, 32), {.va_type = DAT_VA_TYPE_ZB});
      same(*this, "kind of addresses", query(*this, setup.window).va_type, DAT_VA_TYPE_ZB);
      setup.write(*this, 8, setup.context, 8, DAT_DTO_SUCCESS);
      setup.read(*this, 0, setup.context, 32, DAT_DTO_SUCCESS);
      const auto& memory = region.octets();
      expect_that(memory[23] == std::byte{0xA5} && memory[24] == std::byte{0x5A} &&
                      memory[31] == std::byte{0x5A} && memory[32] == std::byte{0xA5},
                  "octets 24 to 31 written", "other octets");
      (void)dat_rmr_free(setup.window.release());  // before the region
    });
}

DAT_CASE(suppressed_bind_has_no_completion, calls(dat_rmr_bind), rules("dat.rmr-bind.suppressed")) {
  WindowSetup setup(*this);
  expect(setup.bind(setup.region.triplet(), {.flags = DAT_COMPLETION_SUPPRESS_FLAG}), succeeds);
  // The next bind completes after it.
  expect(setup.bind(setup.region.triplet(16, 32), {.cookie = 77}), succeeds);
  const auto event = expect_event(setup.pair.passive.requests, DAT_RMR_BIND_COMPLETION_EVENT);
  same(*this, "cookie", event.event_data.rmr_completion_event_data.user_cookie.as_64, 77);
  expect_no_event(setup.pair.passive.requests);
}

DAT_CASE(bind_on_a_disconnected_endpoint_is_flushed, calls(dat_rmr_bind),
         rules("dat.rmr-bind.flushed")) {
  WindowSetup setup(*this);
  need(CALL(dat_ep_disconnect, setup.pair.passive.ep.get(), DAT_CLOSE_ABRUPT_FLAG),
       "no disconnect");
  expect_event(setup.pair.passive.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  // What fails is reported, though its completion is suppressed.
  for (const DAT_COMPLETION_FLAGS flags :
       {DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_SUPPRESS_FLAG}) {
    expect(setup.bind(setup.region.triplet(), {.flags = flags, .cookie = 12U + flags}), succeeds);
    const auto event = expect_event(setup.pair.passive.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    const auto& data = event.event_data.rmr_completion_event_data;
    same(*this, "cookie", data.user_cookie.as_64, 12U + flags);
    same(*this, "status", data.status, DAT_DTO_ERR_FLUSHED);
  }
  DAT_BOOLEAN idle = DAT_FALSE;
  need(CALL(dat_ep_get_status, setup.pair.passive.ep.get(), nullptr, nullptr, &idle), "no status");
  expect_that(idle == DAT_TRUE, "no request outstanding", "a request outstanding");
}

DAT_CASE(bind_on_an_unconnected_endpoint_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-state")) {
  WindowSetup setup(*this);
  const Side idle = make_side(ia(), setup.pair.pz);
  expect(
      setup.bind(setup.window.get(), setup.region.get(), setup.region.triplet(), idle.ep.get(), {}),
      returns(DAT_INVALID_STATE));
  expect_no_event(idle.requests);
}

DAT_CASE(refused_bind_leaves_the_earlier_one, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-state")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet(16, 32));
  const DAT_RMR_CONTEXT bound = setup.context;
  const Side idle = make_side(ia(), setup.pair.pz);
  expect(setup.bind(setup.window.get(), setup.region.get(), setup.region.triplet(0, 8),
                    idle.ep.get(), {}),
         returns(DAT_INVALID_STATE));
  const DAT_RMR_PARAM param = query(*this, setup.window);
  same(*this, "context", param.rmr_context, bound);
  same(*this, "length", param.lmr_triplet.segment_length, DAT_SEG_LENGTH{32});
  setup.write(*this, setup.address(16), bound, 32, DAT_DTO_SUCCESS);
}

DAT_CASE(bind_beyond_the_region_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-parameter")) {
  WindowSetup setup(*this);
  DAT_LMR_TRIPLET before = setup.region.triplet(0, 8), beyond = setup.region.triplet(249, 7),
                  longer = setup.region.triplet(), wrapping = setup.region.triplet(8, 8);
  before.virtual_address -= 1;
  beyond.segment_length += 1;
  longer.segment_length += 1;
  wrapping.virtual_address = ~DAT_VADDR{0} - 3;
  const auto refused = [&](const char* name, const DAT_LMR_TRIPLET& segment) {
    row(name, [&] { expect(setup.bind(segment), returns(DAT_INVALID_PARAMETER)); });
  };
  refused("an octet before it", before);
  refused("an octet beyond it", beyond);
  refused("longer than it", longer);
  refused("across the end of the address space", wrapping);
}

DAT_CASE(bind_with_flags_that_do_not_exist_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-parameter")) {
  WindowSetup setup(*this);
  row("completion flags", [&] {
    expect(setup.bind(setup.region.triplet(), {.flags = no_such<DAT_COMPLETION_FLAGS>(0x4000)}),
           returns(DAT_INVALID_PARAMETER));
  });
  row("privileges", [&] {
    expect(setup.bind(setup.region.triplet(), {.privileges = no_such<DAT_MEM_PRIV_FLAGS>(0x8000)}),
           returns(DAT_INVALID_PARAMETER));
  });
  row("kind of addresses", [&] {
    expect(setup.bind(setup.region.triplet(), {.va_type = no_such<DAT_VA_TYPE>(7)}),
           returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_MODEL_NOT_SUPPORTED));
  });
}

DAT_CASE(unsignalled_bind_is_refused_where_the_endpoint_is_not_set_up_for_it, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-parameter")) {
  WindowSetup setup(*this);
  expect(setup.bind(setup.region.triplet(), {.flags = DAT_COMPLETION_UNSIGNALLED_FLAG}),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(bind_without_a_segment_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-parameter"), with_hostile_handles) {
  WindowSetup setup(*this);
  expect(CALL(dat_rmr_bind, setup.window.get(), setup.region.get(), nullptr, remote_all,
              DAT_VA_TYPE_VA, setup.pair.passive.ep.get(), DAT_RMR_COOKIE{},
              DAT_COMPLETION_DEFAULT_FLAG, &setup.context),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(bind_of_no_window_is_refused, calls(dat_rmr_bind), rules("dat.rmr-bind.invalid-handle")) {
  WindowSetup setup(*this);
  expect(setup.bind(DAT_HANDLE_NULL, setup.region.get(), setup.region.triplet(),
                    setup.pair.passive.ep.get(), {}),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(bind_of_a_freed_window_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-handle"), with_hostile_handles) {
  WindowSetup setup(*this);
  const DAT_RMR_HANDLE window = freed(std::move(setup.window));
  expect(setup.bind(window, setup.region.get(), setup.region.triplet(), setup.pair.passive.ep.get(),
                    {}),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(bind_to_an_invalid_region_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-handle"), with_hostile_handles) {
  WindowSetup setup(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_LMR);
  others.insert(others.begin(), {"no handle", DAT_HANDLE_NULL});
  others.emplace_back("a freed region", freed(Lmr(ia(), setup.pair.pz.get(), 64)));
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(setup.bind(setup.window.get(), handle, setup.region.triplet(),
                        setup.pair.passive.ep.get(), {}),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(bind_on_an_invalid_endpoint_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.invalid-handle"), with_hostile_handles) {
  WindowSetup setup(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_EP);
  others.insert(others.begin(), {"no handle", DAT_HANDLE_NULL});
  for (const auto& [name, handle] : others)
    row(name, [&] {
      expect(setup.bind(setup.window.get(), setup.region.get(), setup.region.triplet(), handle, {}),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(bind_across_protection_zones_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.protection-violation")) {
  WindowSetup setup(*this);
  const Pz other = ia().pz();
  const Rmr window = make_window(*this, other);
  const Lmr region(ia(), other.get(), 64);
  row("the region's", [&] {
    expect(setup.bind(setup.window.get(), region.get(), region.triplet(),
                      setup.pair.passive.ep.get(), {}),
           returns(DAT_PROTECTION_VIOLATION));
  });
  row("the window's", [&] {
    expect(setup.bind(window.get(), setup.region.get(), setup.region.triplet(),
                      setup.pair.passive.ep.get(), {}),
           returns(DAT_PROTECTION_VIOLATION));
  });
  row("the endpoint's", [&] {
    expect(
        setup.bind(window.get(), region.get(), region.triplet(), setup.pair.passive.ep.get(), {}),
        returns(DAT_PROTECTION_VIOLATION));
  });
}

DAT_CASE(remote_write_without_local_write_is_refused, calls(dat_rmr_bind),
         rules("dat.rmr-bind.privileges-violation")) {
  WindowSetup setup(*this);
  const Lmr region(ia(), setup.pair.pz.get(), 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  // A transport may be satisfied with less; then nothing is refused.
  expect(setup.bind(setup.window.get(), region.get(), region.triplet(), setup.pair.passive.ep.get(),
                    {.privileges = DAT_MEM_PRIV_REMOTE_WRITE_FLAG}),
         returns(DAT_PRIVILEGES_VIOLATION).or_tolerably(DAT_SUCCESS));
}

// dat_rmr_create: what restricts access to a window is its protection zone. Both ends are in it.
DAT_CASE(window_of_a_zone_serves_every_endpoint_of_it, calls(dat_rmr_create, dat_rmr_bind),
         rules("dat.rmr-bind.success")) {
  WindowSetup setup(*this);
  setup.bound(*this, setup.region.triplet());
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  need(post_read(setup.pair.passive.ep.get(), {setup.own.triplet(136, 8)},
                 WindowSetup::at(setup.address(8), setup.context, 8), 7),
       "no RDMA Read");
  expect_completion(setup.pair.passive.requests, 7, DAT_DTO_SUCCESS);
}

DAT_CASE(window_of_a_zone_serves_no_endpoint_of_another, calls(dat_rmr_create, dat_rmr_bind),
         rules("sec.stag.pd-isolation")) {
  for (const bool reads : {true, false})
    row(reads ? "read" : "written", [&] {
      WindowSetup setup(*this);
      setup.bound(*this, setup.region.triplet());
      const Pair others = connected();  // in a zone of their own
      const Lmr own(ia(), others.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
      const DAT_RMR_TRIPLET remote = WindowSetup::at(setup.address(0), setup.context, 8);
      if (reads) {
        need(post_read(others.active.ep.get(), {own.triplet(0, 8)}, remote, 7), "no RDMA Read");
        const DAT_EVENT event = next_event(others.active.requests);
        expect_that(event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS,
                    "a Read that fails", "success");
        return;
      }
      DAT_LMR_TRIPLET from = own.triplet(0, 8);
      need(CALL(dat_ep_post_rdma_write, others.active.ep.get(), 1, &from, cookie(7), &remote,
                DAT_COMPLETION_DEFAULT_FLAG),
           "no RDMA Write");
      const DAT_EVENT_NUMBER end = next_event(others.active.connection).event_number;
      expect_that(end == DAT_CONNECTION_EVENT_BROKEN || end == DAT_CONNECTION_EVENT_DISCONNECTED,
                  "the end of the connection", event_text(end));
      expect_that(setup.region.octets()[0] != std::byte{0x5A}, "the octets before",
                  "the octets written");
    });
}

DAT_CASE(window_of_an_endpoint_serves_the_peer_of_its_bind,
         calls(dat_rmr_create_for_ep, dat_rmr_bind), rules("dat.rmr-bind.scope")) {
  WindowSetup setup(*this);
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(DAT_RMR_CREATE_FOR_EP, setup.pair.pz.get(), &handle), succeeds);
  setup.window = Rmr(handle);
  setup.bound(*this, setup.region.triplet());
  setup.write(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  setup.read(*this, setup.address(0), setup.context, 8, DAT_DTO_SUCCESS);
  expect_that(setup.region.octets()[0] == std::byte{0x5A}, "the octets written", "other octets");
}

DAT_CASES_OF_PART(rmr, bind)

}  // namespace suite::cases::dat
