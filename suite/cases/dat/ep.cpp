// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Endpoints as objects: query, modify, get_status, free, reset, recv_query, set_watermark.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <functional>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"

namespace suite::cases::dat {

namespace {

/// An attribute to modify, alone.
struct AttributeField {
  const char* name;
  DAT_EP_PARAM_MASK mask;
  long long value;
  Returns wanted;
  std::function<void(DAT_EP_ATTR&, long long)> set;
  std::function<long long(const DAT_EP_ATTR&)> get;
};
template <typename Value>
AttributeField field(const char* name, DAT_EP_PARAM_MASK mask, Value DAT_EP_ATTR::* place,
                     long long value, const Returns& wanted) {
  return {name,
          mask,
          value,
          wanted,
          [place](DAT_EP_ATTR& attr, long long to) { attr.*place = static_cast<Value>(to); },
          [place](const DAT_EP_ATTR& attr) { return static_cast<long long>(attr.*place); }};
}

}  // namespace

// ---------------------------------------------------------------- query

DAT_CASE(endpoint_knows_what_it_was_made_with, calls(dat_ep_query), rules("dat.ep-query.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM param = query_endpoint(*this, side.ep.get());
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
  const DAT_EP_PARAM all = query_endpoint(*this, side.ep.get());
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
  const DAT_EP_PARAM here = query_endpoint(*this, pair.active.ep.get());
  const DAT_EP_PARAM there = query_endpoint(*this, pair.passive.ep.get());
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
  advise_that(there.local_port_qual == here.remote_port_qual,
              fmt::format("port {}", there.local_port_qual),
              fmt::format("port {}", here.remote_port_qual));
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
  const DAT_EP_PARAM before = query_endpoint(*this, side.ep.get());
  DAT_EP_PARAM asked{};
  asked.ep_attr.max_recv_dtos = 13;
  asked.ep_attr.max_request_dtos = 1;
  expect(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &asked), succeeds);
  const DAT_EP_PARAM after = query_endpoint(*this, side.ep.get());
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
  // A provider need not be able to change those that the page does not list.
  const Returns listed = succeeds, others = succeeds.or_tolerably(DAT_INVALID_PARAMETER);
  const std::array fields{field("max_recv_dtos", DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                                &DAT_EP_ATTR::max_recv_dtos, 21, listed),
                          field("max_request_dtos", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                                &DAT_EP_ATTR::max_request_dtos, 22, listed),
                          field("max_recv_iov", DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,
                                &DAT_EP_ATTR::max_recv_iov, 2, listed),
                          field("max_request_iov", DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
                                &DAT_EP_ATTR::max_request_iov, 2, listed),
                          field("max_rdma_read_in", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,
                                &DAT_EP_ATTR::max_rdma_read_in, 1, listed),
                          field("max_rdma_read_out", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
                                &DAT_EP_ATTR::max_rdma_read_out, 1, listed),
                          field("max_message_size", DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,
                                &DAT_EP_ATTR::max_message_size, 4096, listed),
                          field("max_rdma_size", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
                                &DAT_EP_ATTR::max_rdma_size, 8192, listed),
                          field("max_rdma_read_iov", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV,
                                &DAT_EP_ATTR::max_rdma_read_iov, 1, others),
                          field("max_rdma_write_iov", DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV,
                                &DAT_EP_ATTR::max_rdma_write_iov, 1, others)};
  for (const AttributeField& each : fields)
    row(each.name, [&] {
      const DAT_EP_ATTR before = query_endpoint(*this, side.ep.get()).ep_attr;
      DAT_EP_PARAM asked{};
      each.set(asked.ep_attr, each.value);
      const DAT_RETURN got = CALL(dat_ep_modify, side.ep.get(), each.mask, &asked);
      expect(got, each.wanted);
      const DAT_EP_ATTR after = query_endpoint(*this, side.ep.get()).ep_attr;
      if (got == DAT_SUCCESS) expect_at_least(*this, each.name, each.value, each.get(after));
      for (const AttributeField& other : fields)
        if (other.mask != each.mask)
          expect_number(*this, other.name, other.get(before), other.get(after));
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
  const DAT_EP_PARAM got = query_endpoint(*this, side.ep.get());
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
      DAT_EP_PARAM same = query_endpoint(*this, side.ep.get());
      expect(CALL(dat_ep_modify, side.ep.get(), field, &same), returns(DAT_INVALID_PARAMETER));
    });
}

DAT_CASE(modify_beyond_the_attributes_of_the_ia_is_refused, calls(dat_ep_modify, dat_ep_query),
         rules("dat.ep-modify.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const DAT_EP_PARAM before = query_endpoint(*this, side.ep.get());
  const std::array masks{
      DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE,  DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE,
      DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,     DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
      DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV,      DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV,
      DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN,  DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT,
      DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    DAT_EP_PARAM asked = before;
    const LimitedAttribute& attribute = limited_attributes()[i];
    if (!attribute.set(ia().attributes(), asked.ep_attr, 1)) continue;
    row(attribute.name, [&] {
      expect(CALL(dat_ep_modify, side.ep.get(), masks.at(i), &asked), refused_attributes);
    });
  }
  row("service type", [&] {
    DAT_EP_PARAM asked = before;
    asked.ep_attr.service_type = flags_of<DAT_SERVICE_TYPE>(0x77);
    expect(CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &asked),
           returns_one_of({DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED}));
    expect_number(*this, "service type", before.ep_attr.service_type,
                  query_endpoint(*this, side.ep.get()).ep_attr.service_type);
  });
  expect_number(*this, "max_recv_dtos", before.ep_attr.max_recv_dtos,
                query_endpoint(*this, side.ep.get()).ep_attr.max_recv_dtos);
}

DAT_CASE(modify_of_unknown_parameters_is_refused, calls(dat_ep_modify),
         rules("dat.ep-modify.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  DAT_EP_PARAM same = query_endpoint(*this, side.ep.get());
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
  expect_that(query_endpoint(*this, side.ep.get()).pz_handle == pz.get(), "the zone as before",
              "another");
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

DAT_CASE(read_into_several_segments_is_one_request, calls(dat_ep_get_status, dat_ep_post_rdma_read),
         rules("dat.ep-get-status.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  DAT_EP_PARAM param{};
  need(CALL(dat_ep_query, pair.active.ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
  if (param.ep_attr.max_rdma_read_iov < 2)
    stop(Verdict::not_applicable, "an RDMA Read has one segment");
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_read(pair.active.ep.get(), {memory.triplet(0, 8), memory.triplet(16, 8)},
                   memory.remote(32, 16), id),
         "no read");
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives{}, requests{};
  expect(CALL(dat_ep_get_status, pair.active.ep.get(), &state, &receives, &requests), succeeds);
  expect_that(requests != DAT_FALSE, "requests idle", "requests outstanding");
}

DAT_CASE(endpoint_is_idle_once_its_work_is_flushed, calls(dat_ep_get_status),
         rules("dat.ep-get-status.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  const DAT_EP_HANDLE ep = pair.passive.ep.get();
  need(post_recv(ep, {memory.triplet(0, 8)}, 1), "no receive");
  end_connection(pair);
  need(post_send(ep, {memory.triplet(8, 8)}, 2), "no send");
  (void)next_event(pair.passive.receives);
  (void)next_event(pair.passive.requests);
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives = DAT_FALSE, requests = DAT_FALSE;
  expect(CALL(dat_ep_get_status, ep, &state, &receives, &requests), succeeds);
  expect_that(receives == DAT_TRUE, "no receive outstanding", "one outstanding");
  expect_that(requests == DAT_TRUE, "no request outstanding", "one outstanding");
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

DAT_CASE(reset_endpoint_keeps_what_it_was_made_with, calls(dat_ep_reset, dat_ep_query),
         rules("dat.ep-reset.success")) {
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.max_recv_dtos = 11;
  attr.max_request_dtos = 12;
  attr.max_rdma_read_in = 2;
  attr.max_rdma_read_out = 2;
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  const Pair pair = connected({.attributes = &attr});
  const DAT_EP_HANDLE ep = pair.active.ep.get();
  const DAT_EP_PARAM before = query_endpoint(*this, ep);
  DAT_CONTEXT context{}, kept{};
  context.as_64 = 0xFEDC'BA98'7654'3210;
  need(CALL(dat_set_consumer_context, ep, context), "no context");
  end_connection(pair);
  expect(CALL(dat_ep_reset, ep), succeeds);
  const DAT_EP_PARAM after = query_endpoint(*this, ep);
  const auto same = [&](const char* name, bool is) { expect_that(is, name, "another"); };
  same("the zone", after.pz_handle == before.pz_handle);
  same("the dispatcher of receives", after.recv_evd_handle == before.recv_evd_handle);
  same("the dispatcher of requests", after.request_evd_handle == before.request_evd_handle);
  same("the dispatcher of the connection", after.connect_evd_handle == before.connect_evd_handle);
  expect_number(*this, "max_recv_dtos", before.ep_attr.max_recv_dtos, after.ep_attr.max_recv_dtos);
  expect_number(*this, "max_request_dtos", before.ep_attr.max_request_dtos,
                after.ep_attr.max_request_dtos);
  expect_number(*this, "max_rdma_read_in", before.ep_attr.max_rdma_read_in,
                after.ep_attr.max_rdma_read_in);
  expect_number(*this, "max_rdma_read_out", before.ep_attr.max_rdma_read_out,
                after.ep_attr.max_rdma_read_out);
  expect_number(*this, "receive flags", before.ep_attr.recv_completion_flags,
                after.ep_attr.recv_completion_flags);
  need(CALL(dat_get_consumer_context, ep, &kept), "no context");
  same("the consumer's context", kept.as_64 == context.as_64);
}

DAT_CASE(reset_endpoint_has_nothing_outstanding, calls(dat_ep_reset, dat_ep_get_status),
         rules("dat.ep-get-status.success")) {
  const Pair pair = connected();
  const std::size_t size = std::size_t{256} * 1024;
  const Lmr memory(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size);
  need(post_recv(pair.active.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  for (DAT_UINT64 id = 2; id <= 3; ++id)
    need(post_read(pair.active.ep.get(), {sink.triplet()}, memory.remote(), id), "no read");
  need(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  (void)next_event(pair.active.connection);
  expect(CALL(dat_ep_reset, pair.active.ep.get()), succeeds, "dat.ep-reset.success");
  DAT_EP_STATE state{};
  DAT_BOOLEAN receives{}, requests{};
  expect(CALL(dat_ep_get_status, pair.active.ep.get(), &state, &receives, &requests), succeeds);
  expect_that(state == DAT_EP_STATE_UNCONNECTED, "unconnected", state_text(state));
  expect_that(receives != DAT_FALSE, "receives idle", "receives outstanding");
  expect_that(requests != DAT_FALSE, "requests idle", "requests outstanding");
}

// Receives of an earlier connection take nothing of the next, however it came about.
DAT_CASE(receive_before_an_acceptance_does_not_come_back, calls(dat_ep_reset, dat_ep_post_recv),
         rules("dat.ep-reset.success", "dat.ep-post-recv.success")) {
  const Pz pz = ia().pz();
  const Side server = make_side(ia(), pz), client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  const Listener listener(ia());
  for (DAT_UINT64 id = 1; id <= 2; ++id) {
    row(fmt::format("connection {}", id), [&] {
      need(post_recv(server.ep.get(), {memory.triplet(8 * id, 8)}, id), "no receive");
      need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
      need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
      for (const Side* side : {&client, &server})
        (void)expect_event(side->connection, DAT_CONNECTION_EVENT_ESTABLISHED);
      need(post_send(client.ep.get(), {memory.triplet(0, 8)}, 9), "no send");
      (void)expect_completion(server.receives, id, DAT_DTO_SUCCESS);
      (void)expect_completion(client.requests, 9, DAT_DTO_SUCCESS);
      need(CALL(dat_ep_disconnect, client.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
      for (const Side* side : {&client, &server}) {
        (void)next_event(side->connection);
        expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
      }
    });
  }
}

// Why it ended the last time says nothing about the next.
DAT_CASE(endpoint_that_was_reset_can_break, calls(dat_ep_reset, dat_ep_set_watermark),
         rules("dat.ep-reset.success", "dat.ep-set-watermark.hard")) {
  const Pair pair = connected();
  need(CALL(dat_ep_disconnect, pair.passive.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  for (const Side* side : {&pair.active, &pair.passive}) {
    (void)next_event(side->connection);  // the end of the first connection
    expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
  }
  const Listener listener(ia());
  need(start_connect(ia(), pair.active.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), pair.passive.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), DAT_WATERMARK_INFINITE, 1), succeeds,
         "dat.ep-set-watermark.hard");
  (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_BROKEN,
                     "dat.ep-set-watermark.hard");
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
  DAT_COUNT held = -7, span = -7;
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
  DAT_COUNT held = -7, span = -7;
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
  DAT_EVENT event{};
  post(1), post(2);
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
  post(3);
  expect(awaited_async_event(ia(), event), succeeds);
  const auto& data = event.event_data.asynch_error_event_data;
  expect_that(data.dat_handle == pair.passive.ep.get(), "the endpoint", "another handle");
  expect_number(*this, "reason", DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT, data.reason);
  post(4);
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
  for (int twice = 0; twice < 2; ++twice) {  // each setting arms, also one that changes nothing
    expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), 3, DAT_WATERMARK_INFINITE), succeeds);
    expect(awaited_async_event(ia(), event), succeeds);
  }
}

DAT_CASE(soft_watermark_counts_receives_before_the_connection, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.soft")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  expect(CALL(dat_ep_set_watermark, side.ep.get(), 1, DAT_WATERMARK_INFINITE), succeeds);
  DAT_EVENT event{};
  for (DAT_UINT64 id = 1; id <= 2; ++id) {
    expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
    need(post_recv(side.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  }
  expect(awaited_async_event(ia(), event), succeeds);
  expect_that(event.event_data.asynch_error_event_data.dat_handle == side.ep.get(), "the endpoint",
              "another handle");
}

DAT_CASE(hard_watermark_breaks_the_connection, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.hard")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  expect(CALL(dat_ep_set_watermark, pair.passive.ep.get(), DAT_WATERMARK_INFINITE, 1), succeeds);
  const auto post = [&](DAT_UINT64 id) {
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  };
  post(1);  // as many as the watermark says, and no more
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
  post(2);
  (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_BROKEN);
  expect_state(pair.passive.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(first_receive_passes_a_watermark_of_none, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.soft", "dat.ep-set-watermark.hard")) {
  const Returns taken = succeeds.or_tolerably(DAT_INVALID_PARAMETER);
  row("soft", [&] {
    const Pair pair = connected();
    const Lmr memory(ia(), pair.pz.get(), 64);
    const DAT_RETURN set =
        CALL(dat_ep_set_watermark, pair.passive.ep.get(), 0, DAT_WATERMARK_INFINITE);
    expect(set, taken);
    if (set != DAT_SUCCESS) return;
    DAT_EVENT event{};
    expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
    expect(awaited_async_event(ia(), event), succeeds);
    const auto& data = event.event_data.asynch_error_event_data;
    expect_that(data.dat_handle == pair.passive.ep.get(), "the endpoint", "another handle");
    expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
  });
  row("hard", [&] {
    const Pair pair = connected();
    const Lmr memory(ia(), pair.pz.get(), 64);
    const DAT_RETURN set =
        CALL(dat_ep_set_watermark, pair.passive.ep.get(), DAT_WATERMARK_INFINITE, 0);
    expect(set, taken, "dat.ep-set-watermark.hard");
    if (set != DAT_SUCCESS) return;
    expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED, "dat.ep-set-watermark.hard");
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
    (void)expect_event(pair.passive.connection, DAT_CONNECTION_EVENT_BROKEN,
                       "dat.ep-set-watermark.hard");
  });
}

DAT_CASE(watermarks_are_set_independently, calls(dat_ep_set_watermark),
         rules("dat.ep-set-watermark.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  for (const auto& [soft, hard] :
       {std::pair{5, 2}, std::pair{2, 5}, std::pair{3, 3}, std::pair{0, 0},
        std::pair{7, int{DAT_WATERMARK_INFINITE}}, std::pair{int{DAT_WATERMARK_INFINITE}, 7}})
    row(fmt::format("soft {}, hard {}", soft, hard),
        [&] { expect(CALL(dat_ep_set_watermark, side.ep.get(), soft, hard), succeeds); });
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
