// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Several windows of one region, and windows that are bound more than once: what each of them keeps.
#include "suite/cases/dat/framework/dat_posts.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

/// The peer of a window reads eight octets through it.
DAT_DTO_COMPLETION_STATUS read_through(DatBody& body, const PairWithMemory& setup,
                                       const DAT_RMR_TRIPLET& from) {
  body.need(post_read(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, from, 1), "no read");
  return next_event(setup.pair.active.requests).event_data.dto_completion_event_data.status;
}

void expect_read(DatBody& body, const PairWithMemory& setup, const DAT_RMR_TRIPLET& from,
                 DAT_DTO_COMPLETION_STATUS wanted, RuleRef rule = {}) {
  const auto status = read_through(body, setup, from);
  body.expect_that(status == wanted, status_text(wanted), status_text(status), rule);
}

}  // namespace

DAT_CASE(region_is_held_by_each_of_its_windows, calls(dat_lmr_free, dat_rmr_bind, dat_rmr_free),
         rules("dat.lmr-free.invalid-state", "dat.lmr-free.success")) {
  const auto held = [&](const char* name, const auto& first_goes) {
    row(name, [&] {
      PairWithMemory setup(*this);
      ZoneWindow first(*this, setup.pair.pz, setup.pair.passive),
          second(*this, setup.pair.pz, setup.pair.passive);
      for (ZoneWindow* window : {&first, &second})
        window->bind(*this, setup.peer, setup.peer.triplet(0, 64));
      first_goes(setup, first);
      expect(CALL(dat_lmr_free, setup.peer.get()), returns(DAT_INVALID_STATE));
      second.unbind(*this, setup.peer);
      expect(CALL(dat_lmr_free, setup.peer.release()), succeeds, "dat.lmr-free.success");
      first.rmr.reset();
    });
  };
  held("one is unbound",
       [&](const PairWithMemory& setup, ZoneWindow& first) { first.unbind(*this, setup.peer); });
  held("one is freed", [&](const PairWithMemory&, ZoneWindow& first) {
    need(CALL(dat_rmr_free, first.rmr.release()), "not freed");
  });
  held("one is bound to another region", [&](const PairWithMemory& setup, ZoneWindow& first) {
    first.bind(*this, setup.own, setup.own.triplet(0, 64));
  });
}

/// The zone decides which endpoints may bind a window, and not which one bound it before.
DAT_CASE(window_of_a_zone_is_bound_by_one_endpoint_after_another, calls(dat_rmr_bind),
         rules("dat.rmr-bind.success")) {
  PairWithMemory setup(*this);
  ZoneWindow window(*this, setup.pair.pz, setup.pair.passive);
  window.bind(*this, setup.peer, setup.peer.triplet(0, 64));
  DAT_LMR_TRIPLET over = setup.peer.triplet(64, 64);
  expect(CALL(dat_rmr_bind, window.rmr.get(), setup.peer.get(), &over, DAT_MEM_PRIV_ALL_FLAG,
              DAT_VA_TYPE_VA, setup.pair.active.ep.get(), cookie(0), DAT_COMPLETION_DEFAULT_FLAG,
              &window.context),
         succeeds);
  (void)next_event(setup.pair.active.requests);
  expect_read(*this, setup, window.triplet(setup.peer, 64, 8), DAT_DTO_SUCCESS);
}

DAT_CASE(window_of_a_zone_outlives_the_endpoint_that_bound_it, calls(dat_rmr_bind, dat_ep_free),
         rules("dat.rmr-bind.success")) {
  PairWithMemory setup(*this);
  const Pz& pz = setup.pair.pz;
  Side binder = make_side(ia(), pz), peer = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), peer.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), binder.ep.get(), 0, nullptr), "no accept");
  (void)next_event(binder.connection);
  ZoneWindow window(*this, pz, binder);
  window.bind(*this, setup.peer, setup.peer.triplet(0, 64));
  need(CALL(dat_ep_disconnect, binder.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  (void)next_event(binder.connection);
  need(CALL(dat_ep_free, binder.ep.release()), "not freed");
  const auto status = read_through(*this, setup, window.triplet(setup.peer, 0, 8));
  advise_that(status == DAT_DTO_SUCCESS, status_text(DAT_DTO_SUCCESS), status_text(status));
}

DAT_CASE(window_that_is_bound_twice_to_a_region_holds_it_once, calls(dat_lmr_free, dat_rmr_bind),
         rules("dat.rmr-bind.unbind", "dat.lmr-free.invalid-state")) {
  PairWithMemory setup(*this);
  ZoneWindow window(*this, setup.pair.pz, setup.pair.passive);
  for (const std::size_t from : {std::size_t{0}, std::size_t{64}})
    window.bind(*this, setup.peer, setup.peer.triplet(from, 64));
  expect(CALL(dat_lmr_free, setup.peer.get()), returns(DAT_INVALID_STATE),
         "dat.lmr-free.invalid-state");
  window.unbind(*this, setup.peer);
  expect(CALL(dat_lmr_free, setup.peer.release()), succeeds);
}

DAT_CASE(windows_of_a_region_are_closed_apart, calls(dat_rmr_bind),
         rules("dat.rmr-bind.unbind", "dat.rmr-bind.success")) {
  PairWithMemory setup(*this);
  ZoneWindow first(*this, setup.pair.pz, setup.pair.passive),
      second(*this, setup.pair.pz, setup.pair.passive);
  first.bind(*this, setup.peer, setup.peer.triplet(0, 64));
  second.bind(*this, setup.peer, setup.peer.triplet(32, 64));
  expect_that(first.context != second.context, "a context of its own", "the same context twice",
              "dat.rmr-bind.success");
  for (const ZoneWindow* window : {&first, &second})
    expect_read(*this, setup, window->triplet(setup.peer, 32, 8), DAT_DTO_SUCCESS,
                "dat.rmr-bind.success");
  first.unbind(*this, setup.peer);
  expect_read(*this, setup, second.triplet(setup.peer, 32, 8), DAT_DTO_SUCCESS);
  expect_read(*this, setup, first.triplet(setup.peer, 32, 8), DAT_DTO_ERR_REMOTE_ACCESS);
}

DAT_CASE(each_window_has_rights_and_bounds_of_its_own, calls(dat_rmr_bind),
         rules("dat.rmr-bind.privileges-remote", "dat.rmr-bind.bounds-remote")) {
  const auto refused = [&](const char* name, DAT_MEM_PRIV_FLAGS of_first, std::size_t at,
                           RuleRef rule) {
    row(name, [&] {
      PairWithMemory setup(*this);
      ZoneWindow first(*this, setup.pair.pz, setup.pair.passive),
          second(*this, setup.pair.pz, setup.pair.passive);
      first.bind(*this, setup.peer, setup.peer.triplet(0, 32), of_first);
      second.bind(*this, setup.peer, setup.peer.triplet(0, 64));
      expect_read(*this, setup, second.triplet(setup.peer, at, 8), DAT_DTO_SUCCESS, rule);
      expect_read(*this, setup, first.triplet(setup.peer, at, 8), DAT_DTO_ERR_REMOTE_ACCESS, rule);
    });
  };
  refused("rights", DAT_MEM_PRIV_REMOTE_WRITE_FLAG, 0, "dat.rmr-bind.privileges-remote");
  refused("bounds", DAT_MEM_PRIV_ALL_FLAG, 25, "dat.rmr-bind.bounds-remote");
}

DAT_CASE(window_has_the_rights_and_bounds_of_its_last_bind, calls(dat_rmr_bind, dat_rmr_query),
         rules("dat.rmr-query.success", "dat.rmr-bind.privileges-remote",
               "dat.rmr-bind.bounds-remote")) {
  const auto judge = [&](const char* name, std::size_t from, std::size_t length,
                         DAT_MEM_PRIV_FLAGS privileges, std::size_t at, RuleRef rule) {
    row(name, [&] {
      PairWithMemory setup(*this);
      ZoneWindow window(*this, setup.pair.pz, setup.pair.passive);
      window.bind(*this, setup.peer, setup.peer.triplet());
      window.bind(*this, setup.peer, setup.peer.triplet(from, length), privileges);
      const DAT_RMR_PARAM param = query(*this, window.rmr);
      const DAT_LMR_TRIPLET over = setup.peer.triplet(from, length);
      same(*this, "address", param.lmr_triplet.virtual_address, over.virtual_address);
      same(*this, "length", param.lmr_triplet.segment_length, over.segment_length);
      same(*this, "privileges", param.mem_priv, privileges);
      same(*this, "context", param.rmr_context, window.context);
      expect_read(*this, setup, window.triplet(setup.peer, at, 8), DAT_DTO_ERR_REMOTE_ACCESS, rule);
    });
  };
  judge("less at the start", 8, 248, DAT_MEM_PRIV_REMOTE_READ_FLAG, 7,
        "dat.rmr-bind.bounds-remote");
  judge("less at the end", 0, 100, DAT_MEM_PRIV_REMOTE_READ_FLAG, 93, "dat.rmr-bind.bounds-remote");
  judge("no right to read", 0, 256, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, 0,
        "dat.rmr-bind.privileges-remote");
}

DAT_CASES_OF_PART(rmr, several)

}  // namespace suite::cases::dat
