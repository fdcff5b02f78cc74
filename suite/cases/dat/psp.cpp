// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Public service points: dat_psp_create, dat_psp_create_any, dat_psp_query, dat_psp_free.
#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

struct Point {
  Point() = default;
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;
  ~Point() {
    if (psp != DAT_HANDLE_NULL) (void)dat_psp_free(psp);
  }
  DAT_RETURN create(DAT_IA_HANDLE ia, DAT_CONN_QUAL at, DAT_EVD_HANDLE evd,
                    DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) {
    return CALL(dat_psp_create, ia, at, evd, flags, &psp);
  }
  DAT_RETURN create_any(DAT_IA_HANDLE ia, DAT_EVD_HANDLE evd,
                        DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) {
    return CALL(dat_psp_create_any, ia, &qualifier, evd, flags, &psp);
  }
  DAT_RETURN free() { return CALL(dat_psp_free, std::exchange(psp, DAT_HANDLE_NULL)); }
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
};

/// A request at a service point whose requests have endpoints of the provider.
struct ProviderRequest {
  explicit ProviderRequest(DatBody& body)
      : requests(body.ia().evd(DAT_EVD_CR_FLAG)),
        pz(body.ia().pz()),
        side(make_side(body.ia(), pz)) {
    body.expect(point.create_any(body.ia().get(), requests.get(), DAT_PSP_PROVIDER_FLAG), succeeds);
    body.need(ask(body.ia(), side.ep, point.qualifier), "no connect");
    handle = arrival(body, requests).cr_handle;
    body.need(CALL(dat_cr_query, handle, DAT_CR_FIELD_ALL, &cr), "no CR query");
  }
  Evd requests;
  Point point;
  Pz pz;
  Side side;  ///< asks
  DAT_CR_HANDLE handle = DAT_HANDLE_NULL;
  DAT_CR_PARAM cr{};
};

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_PSP_PARAM param{};
  return CALL(dat_psp_query, handle, DAT_PSP_FIELD_ALL, &param);
}

/// EVDs for other kinds of events, and no EVD.
std::vector<std::pair<std::string, DAT_HANDLE>> no_evds_for_requests(const LiveObjects& live) {
  auto others = live.except(DAT_HANDLE_TYPE_EVD);
  others.insert(others.begin(),
                {{"no handle", DAT_HANDLE_NULL}, {"an EVD for DTOs", live.evd.get()}});
  return others;
}

}  // namespace

DAT_CASE(request_names_its_service_point, calls(dat_psp_create), rules("dat.psp-create.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  Point point;
  expect(point.create(ia().get(), qualifier, requests.get()), succeeds);
  expect_that(point.psp != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  need(ask(ia(), side.ep, qualifier), "no connect");
  const auto request = arrival(*this, requests);
  same(*this, "service point", request.sp_handle.psp_handle, point.psp);
  same(*this, "Connection Qualifier", request.conn_qual, qualifier);
  expect_that(request.cr_handle != DAT_HANDLE_NULL, "a CR", "DAT_HANDLE_NULL");
  same(*this, "truncate flag", request.truncate_flag, DAT_FALSE);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(request_names_its_own_service_point_of_two, calls(dat_psp_create, dat_psp_free),
         rules("dat.psp-create.success", "dat.psp-free.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  std::array<Point, 2> points;
  points[0].qualifier = free_qualifier(ia());  // another process might get one that is freed
  expect(points[0].create(ia().get(), points[0].qualifier, requests.get()), succeeds,
         "dat.psp-create.success");
  expect(points[1].create_any(ia().get(), requests.get()), succeeds, "dat.psp-create.success");
  const Pz pz = ia().pz();
  const auto ask_at = [&](const Point& point, RuleRef rule) {
    const Side side = make_side(ia(), pz);
    need(ask(ia(), side.ep, point.qualifier), "no connect");
    const auto request = arrival(*this, requests);
    same(*this, "service point", request.sp_handle.psp_handle, point.psp, rule);
    same(*this, "Connection Qualifier", request.conn_qual, point.qualifier, rule);
    (void)dat_cr_reject(request.cr_handle, 0, nullptr);
  };
  for (const Point& point : points) ask_at(point, "dat.psp-create.success");
  const DAT_CONN_QUAL qualifier = points[0].qualifier;
  expect(points[0].free(), succeeds, "dat.psp-free.success");
  ask_at(points[1], "dat.psp-free.success");
  expect_nobody_listens(*this, qualifier, "dat.psp-free.success");
}

DAT_CASE(request_states_its_local_address, calls(dat_psp_create), rules("dat.psp-create.success")) {
  const PendingRequest pending(*this);
  const auto* local = reinterpret_cast<const sockaddr*>(pending.request.local_ia_address_ptr);
  const auto* own = reinterpret_cast<const sockaddr*>(ia().address());
  expect_that(local != nullptr, "an address", "null");
  same(*this, "family", local->sa_family, own->sa_family);
  const bool equal =
      own->sa_family == AF_INET
          ? std::memcmp(&reinterpret_cast<const sockaddr_in*>(local)->sin_addr,
                        &reinterpret_cast<const sockaddr_in*>(own)->sin_addr, sizeof(in_addr)) == 0
          : std::memcmp(&reinterpret_cast<const sockaddr_in6*>(local)->sin6_addr,
                        &reinterpret_cast<const sockaddr_in6*>(own)->sin6_addr,
                        sizeof(in6_addr)) == 0;
  expect_that(equal, "the address of the IA", equal ? "the address of the IA" : "another address");
}

DAT_CASE(service_point_takes_many_requests, calls(dat_psp_create_any),
         rules("dat.psp-create.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(requests);
  const Pz pz = ia().pz();
  std::vector<Side> sides;
  std::vector<DAT_CR_HANDLE> seen;
  for (int i = 0; i < 8; ++i) {
    sides.push_back(make_side(ia(), pz));
    need(ask(ia(), sides.back().ep, qualifier), "no connect");
  }
  for (int i = 0; i < 8; ++i) {
    const auto request = arrival(*this, requests);
    expect_that(std::ranges::find(seen, request.cr_handle) == seen.end(), "a CR of its own",
                "the same CR twice");
    seen.push_back(request.cr_handle);
  }
  for (const DAT_CR_HANDLE cr : seen) (void)dat_cr_reject(cr, 0, nullptr);
}

DAT_CASE(requests_beyond_the_evd_are_not_established, calls(dat_psp_create_any),
         rules("dat.psp-create.backlog")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG, 1);
  Psp psp;
  expect_overrun_refused(*this, requests, [&] {
    auto [point, qualifier] = ia().psp(requests);
    psp = std::move(point);
    return qualifier;
  });
}

DAT_CASE(qualifier_in_use_is_refused, calls(dat_psp_create), rules("dat.psp-create.in-use")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(requests);
  Point second;
  expect(second.create(ia().get(), qualifier, requests.get()), returns(DAT_CONN_QUAL_IN_USE));
}

DAT_CASE(qualifier_in_use_by_another_instance_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.in-use")) {
  const Ia other(target());
  const Evd theirs = other.evd(DAT_EVD_CR_FLAG), requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = other.psp(theirs);
  Point second;
  expect(second.create(ia().get(), qualifier, requests.get()), returns(DAT_CONN_QUAL_IN_USE));
}

DAT_CASE(service_point_with_an_invalid_ia_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.invalid-handle")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    Point point;
    return point.create(handle, qualifier, requests.get());
  });
}

DAT_CASE(service_point_without_evd_for_requests_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  const Evd software = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  auto others = no_evds_for_requests(live);
  others.emplace_back("an EVD for software events", software.get());
  for (const auto& [name, handle] : others)
    row(name, [&] {
      Point point;
      expect(point.create(ia().get(), qualifier, handle), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(service_point_with_a_freed_evd_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.invalid-handle"), with_hostile_handles) {
  const DAT_EVD_HANDLE evd = freed(ia().evd(DAT_EVD_CR_FLAG));
  Point point;
  expect(point.create(ia().get(), free_qualifier(ia()), evd), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(flags_that_do_not_exist_are_refused, calls(dat_psp_create),
         rules("dat.psp-create.invalid-parameter")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  Point point;
  expect(point.create(ia().get(), free_qualifier(ia()), requests.get(), no_such<DAT_PSP_FLAGS>(8)),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(service_point_with_a_null_output_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.invalid-parameter"), with_hostile_handles) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  expect(CALL(dat_psp_create, ia().get(), free_qualifier(ia()), requests.get(),
              DAT_PSP_CONSUMER_FLAG, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(qualifier_that_is_no_port_is_refused, calls(dat_psp_create),
         rules("dat.psp-create.conn-qual-range")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  for (const DAT_CONN_QUAL qualifier :
       {DAT_CONN_QUAL{0x10000}, DAT_CONN_QUAL{0x10001}, DAT_CONN_QUAL{1} << 32,
        DAT_CONN_QUAL{1} << 40, ~DAT_CONN_QUAL{0}})
    row(fmt::format("{:#x}", qualifier), [&] {
      Point point;
      expect(point.create(ia().get(), qualifier, requests.get()), returns(DAT_INVALID_PARAMETER));
    });
  row("0", [&] {  // a transport may have such a one, or choose another
    Point point;
    expect(point.create(ia().get(), 0, requests.get()),
           returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_SUCCESS));
  });
}

DAT_CASE(request_at_a_provider_endpoint_service_point_has_an_endpoint,
         calls(dat_psp_create_any, dat_ep_query), rules("dat.psp-create.provider-ep")) {
  const ProviderRequest request(*this);
  const DAT_CR_PARAM& cr = request.cr;
  expect_that(cr.local_ep_handle != DAT_HANDLE_NULL, "an endpoint", "DAT_HANDLE_NULL");
  auto ep = std::make_unique<DAT_EP_PARAM>();
  expect(CALL(dat_ep_query, cr.local_ep_handle, DAT_EP_FIELD_ALL, ep.get()), succeeds);
  same(*this, "PZ", ep->pz_handle, DAT_HANDLE_NULL);
  same(*this, "receive EVD", ep->recv_evd_handle, DAT_HANDLE_NULL);
  same(*this, "request EVD", ep->request_evd_handle, DAT_HANDLE_NULL);
  same(*this, "connection EVD", ep->connect_evd_handle, DAT_HANDLE_NULL);
  (void)dat_cr_reject(request.handle, 0, nullptr);
}

// dat_ep_free: the rejection returns the endpoint to the provider.
DAT_CASE(endpoint_of_the_provider_is_gone_with_the_rejection,
         calls(dat_psp_create_any, dat_cr_reject, dat_ep_query),
         rules("dat.psp-create.provider-ep"), with_hostile_handles) {
  const ProviderRequest request(*this);
  const DAT_CR_PARAM& cr = request.cr;
  need(CALL(dat_cr_reject, request.handle, 0, nullptr), "no rejection");
  auto ep = std::make_unique<DAT_EP_PARAM>();
  expect(CALL(dat_ep_query, cr.local_ep_handle, DAT_EP_FIELD_ALL, ep.get()),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(endpoint_of_the_provider_connects_once_it_is_set_up,
         calls(dat_psp_create_any, dat_cr_accept), rules("dat.psp-create.provider-ep")) {
  const ProviderRequest request(*this);
  const DAT_CR_PARAM& cr = request.cr;
  const Side spare = make_side(ia(), request.pz);
  auto param = std::make_unique<DAT_EP_PARAM>();
  param->pz_handle = request.pz.get();
  param->recv_evd_handle = spare.receives.get();
  param->request_evd_handle = spare.requests.get();
  param->connect_evd_handle = spare.connection.get();
  need(CALL(dat_ep_modify, cr.local_ep_handle,
            DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
            param.get()),
       "the endpoint cannot be set up");
  expect(CALL(dat_cr_accept, request.handle, DAT_HANDLE_NULL, 0, nullptr), succeeds);
  const Ep theirs(cr.local_ep_handle);
  expect_event(request.side.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const auto event = expect_event(spare.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  same(*this, "endpoint", event.event_data.connect_event_data.ep_handle, cr.local_ep_handle);
  expect_state(theirs, DAT_EP_STATE_CONNECTED);
}

// ---------------------------------------------------------------- dat_psp_create_any

DAT_CASE(any_qualifier_is_an_unused_one, calls(dat_psp_create_any),
         rules("dat.psp-create-any.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  std::array<Point, 8> points;
  std::vector<DAT_CONN_QUAL> seen;
  for (Point& point : points) {
    expect(point.create_any(ia().get(), requests.get()), succeeds);
    expect_that(std::ranges::find(seen, point.qualifier) == seen.end(),
                "a Connection Qualifier of its own", "the same twice");
    at_least(*this, "Connection Qualifier", point.qualifier, 1024);
    seen.push_back(point.qualifier);
  }
}

DAT_CASE(any_qualifier_is_listened_at, calls(dat_psp_create_any),
         rules("dat.psp-create-any.success")) {
  const PendingRequest pending(*this);
  same(*this, "Connection Qualifier", pending.request.conn_qual, pending.qualifier);
  same(*this, "service point", pending.request.sp_handle.psp_handle, pending.psp.get());
}

DAT_CASE(any_service_point_with_an_invalid_ia_is_refused, calls(dat_psp_create_any),
         rules("dat.psp-create-any.invalid-handle")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    Point point;
    return point.create_any(handle, requests.get());
  });
}

DAT_CASE(any_service_point_without_evd_for_requests_is_refused, calls(dat_psp_create_any),
         rules("dat.psp-create-any.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : no_evds_for_requests(live))
    row(name, [&] {
      Point point;
      expect(point.create_any(ia().get(), handle), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(any_service_point_with_unknown_flags_is_refused, calls(dat_psp_create_any),
         rules("dat.psp-create-any.invalid-parameter")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  Point point;
  expect(point.create_any(ia().get(), requests.get(), no_such<DAT_PSP_FLAGS>(8)),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(any_service_point_with_a_null_output_is_refused, calls(dat_psp_create_any),
         rules("dat.psp-create-any.invalid-parameter"), with_hostile_handles) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  Point point;
  row("for the handle", [&] {
    expect(CALL(dat_psp_create_any, ia().get(), &point.qualifier, requests.get(),
                DAT_PSP_CONSUMER_FLAG, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
  row("for the Connection Qualifier", [&] {
    expect(CALL(dat_psp_create_any, ia().get(), nullptr, requests.get(), DAT_PSP_CONSUMER_FLAG,
                &point.psp),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(several_threads_make_service_points_at_once, calls(dat_psp_create_any),
         rules("dat.psp-create-any.concurrent")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  std::array<Point, 8> points;
  std::array<DAT_RETURN, 8> got{};
  const DAT_IA_HANDLE handle = ia().get();
  at_once(8, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = points[at].create_any(handle, requests.get());
  });
  std::vector<DAT_CONN_QUAL> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    expect(got[i], succeeds);
    expect_that(std::ranges::find(seen, points[i].qualifier) == seen.end(),
                "a Connection Qualifier of its own", "the same twice");
    seen.push_back(points[i].qualifier);
  }
}

// ---------------------------------------------------------------- query, free

DAT_CASE(query_returns_what_it_was_made_of, calls(dat_psp_query), rules("dat.psp-query.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  for (const DAT_PSP_FLAGS flags : {DAT_PSP_CONSUMER_FLAG, DAT_PSP_PROVIDER_FLAG})
    row(fmt::format("flags {}", static_cast<int>(flags)), [&] {
      Point point;
      expect(point.create_any(ia().get(), requests.get(), flags), succeeds);
      DAT_PSP_PARAM param{};
      expect(CALL(dat_psp_query, point.psp, DAT_PSP_FIELD_ALL, &param), succeeds);
      same(*this, "IA", param.ia_handle, ia().get());
      same(*this, "Connection Qualifier", param.conn_qual, point.qualifier);
      same(*this, "EVD", param.evd_handle, requests.get());
      same(*this, "flags", param.psp_flags, flags);
    });
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_psp_query),
         rules("dat.psp-query.invalid-parameter")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const Psp psp = ia().psp(requests).first;
  DAT_PSP_PARAM param{};
  expect(CALL(dat_psp_query, psp.get(), no_such<DAT_PSP_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_psp_query),
         rules("dat.psp-query.invalid-parameter"), with_hostile_handles) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const Psp psp = ia().psp(requests).first;
  expect(CALL(dat_psp_query, psp.get(), DAT_PSP_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_psp_query, "dat.psp-query.invalid-handle", DAT_HANDLE_TYPE_PSP,
                 freed(ia().psp(ia().evd(DAT_EVD_CR_FLAG)).first), query(handle))

DAT_CASE(freed_service_point_listens_no_more, calls(dat_psp_free), rules("dat.psp-free.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  Point point;
  need(point.create(ia().get(), qualifier, requests.get()), "no PSP");
  expect(point.free(), succeeds);
  expect_nobody_listens(*this, qualifier);
  expect_no_event(requests);
}

DAT_CASE(qualifier_of_a_freed_service_point_is_free, calls(dat_psp_free, dat_psp_create),
         rules("dat.psp-free.success")) {
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  // Another process might get one of dat_psp_create_any as soon as it is free.
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  Point point;
  need(point.create(ia().get(), qualifier, requests.get()), "no PSP");
  for (int i = 0; i < 3; ++i) {
    expect(point.free(), succeeds);
    expect(point.create(ia().get(), qualifier, requests.get()), succeeds);
  }
}

DAT_CASE(request_outlives_its_service_point, calls(dat_psp_free, dat_cr_accept),
         rules("dat.psp-free.request-survives")) {
  PendingRequest pending(*this);
  expect(CALL(dat_psp_free, pending.psp.release()), succeeds);
  expect(pending.accept(), succeeds);
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(pending.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(connection_outlives_its_service_point, calls(dat_psp_free),
         rules("dat.psp-free.request-survives")) {
  Pair pair = connected();
  expect(CALL(dat_psp_free, pair.psp.release()), succeeds);
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_HANDLE_CASES(free, dat_psp_free, "dat.psp-free.invalid-handle", DAT_HANDLE_TYPE_PSP,
                 freed(ia().psp(ia().evd(DAT_EVD_CR_FLAG)).first), CALL(dat_psp_free, handle))

DAT_CASES_OF_FILE(psp)

}  // namespace suite::cases::dat
