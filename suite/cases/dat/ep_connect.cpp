// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections: connect, dup_connect, common_connect, and the events with which they end.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/file_descriptor.hpp"
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

DAT_PROVIDER_ATTR provider_attributes(DatBody& body) {
  DAT_PROVIDER_ATTR attr{};
  body.need(CALL(dat_ia_query, body.ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
            "no attributes");
  return attr;
}

std::vector<std::byte> octets_of_event(const DAT_EVENT& event) {
  const auto& data = event.event_data.connect_event_data;
  if (data.private_data_size <= 0 || data.private_data == nullptr) return {};
  const auto* begin = static_cast<const std::byte*>(data.private_data);
  return {begin, begin + data.private_data_size};
}

/// Some transports deliver more octets than were given: the given ones come first.
bool begins_with(const std::vector<std::byte>& got, const std::vector<std::byte>& wanted) {
  return got.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), got.begin());
}

/// The private data that a request brings, up to the number of octets sent.
std::vector<std::byte> data_of_request(const DatBody& body, DAT_CR_HANDLE cr) {
  DAT_CR_PARAM param{};
  body.need(CALL(dat_cr_query, cr, DAT_CR_FIELD_ALL, &param), "no CR query");
  if (param.private_data_size <= 0 || param.private_data == nullptr) return {};
  const auto* begin = static_cast<const std::byte*>(param.private_data);
  return {begin, begin + param.private_data_size};
}

void expect_data(DatBody& body, const std::vector<std::byte>& got,
                 const std::vector<std::byte>& wanted, RuleRef rule = {}) {
  body.expect_that(begins_with(got, wanted), fmt::format("the {} octets sent", wanted.size()),
                   fmt::format("{} other octets", got.size()), rule);
}

ConnectOptions of_quality(DAT_QOS qos) {
  ConnectOptions options;
  options.qos = qos;
  return options;
}
ConnectOptions with_data(std::vector<std::byte> data) {
  ConnectOptions options;
  options.data = std::move(data);
  return options;
}
ConnectOptions within(std::chrono::microseconds timeout) {
  ConnectOptions options;
  options.timeout = static_cast<DAT_TIMEOUT>(timeout.count());
  return options;
}
/// The time in which a request certainly reaches its service point, even on a busy host.
std::chrono::microseconds time_to_ask(DatBody& body) {
  return std::chrono::duration_cast<std::chrono::microseconds>(500ms *
                                                               body.target().deadline_scale);
}

/// A quality of service that the provider says it does not have.
DAT_QOS unsupported_quality(DatBody& body) {
  const auto supported = static_cast<unsigned>(provider_attributes(body).dat_qos_supported);
  for (const DAT_QOS qos : {DAT_QOS_PREMIUM, DAT_QOS_ECONOMY, DAT_QOS_LOW_LATENCY})
    if ((supported & static_cast<unsigned>(qos)) == 0) return qos;
  body.stop(Verdict::not_applicable, "the provider has every quality of service");
}

/// The address of the IA with a port.
sockaddr_storage address_of(const Ia& ia, DAT_CONN_QUAL qualifier) {
  sockaddr_storage address{};
  std::copy_n(reinterpret_cast<const std::byte*>(ia.address()),
              reinterpret_cast<const sockaddr*>(ia.address())->sa_family == AF_INET6
                  ? sizeof(sockaddr_in6)
                  : sizeof(sockaddr_in),
              reinterpret_cast<std::byte*>(&address));
  // The port lies at the same place in both families.
  reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<std::uint16_t>(qualifier));
  return address;
}

/// A peer that does not answer in time may also be reported as out of reach (dat_ep_connect).
void expect_timed_out(DatBody& body, const DAT_EVENT& event) {
  body.expect_that(event.event_number == DAT_CONNECTION_EVENT_TIMED_OUT ||
                       event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE,
                   "DAT_CONNECTION_EVENT_TIMED_OUT", event_text(event.event_number));
  body.advise_that(event.event_number == DAT_CONNECTION_EVENT_TIMED_OUT,
                   "DAT_CONNECTION_EVENT_TIMED_OUT", event_text(event.event_number));
}

/// A TCP port that answers no more connections: its queue of them is full.
class FullPort {
 public:
  explicit FullPort(DatBody& body) : address_(address_of(body.ia(), 0)) {
    socklen_t size = sizeof address_;
    const int listener = add_socket();
    if (::bind(listener, address(), size) != 0 || ::listen(listener, 0) != 0 ||
        ::getsockname(listener, address(), &size) != 0)
      body.stop(Verdict::inconclusive, "no TCP port at the IA's address");
    constexpr int most = 16, milliseconds = 100;
    for (int i = 0; i < most; ++i) {
      pollfd waiting{.fd = add_socket(), .events = POLLOUT, .revents = 0};
      (void)::connect(waiting.fd, address(), size);
      if (::poll(&waiting, 1, milliseconds) == 0) return;
    }
    body.stop(Verdict::inconclusive, "a queue of no connections does not become full");
  }
  [[nodiscard]] DAT_CONN_QUAL qualifier() const {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address_).sin_port);  // of either family
  }

 private:
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&address_); }
  int add_socket() {
    constexpr int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    return sockets_.emplace_back(::socket(address_.ss_family, type, 0)).get();
  }

  sockaddr_storage address_;
  std::vector<base::FileDescriptor> sockets_;
};

/// A connect with a time limit to a service point that does not decide.
template <typename Connect>
void expect_timeout(DatBody& body, Connect connect) {
  const Pz pz = body.ia().pz();
  const Side client = make_side(body.ia(), pz);
  const Listener listener(body.ia());
  const auto before = std::chrono::steady_clock::now();
  const std::chrono::microseconds limit = time_to_ask(body);
  body.expect(connect(client.ep, listener.qualifier, within(limit)), succeeds);
  const DAT_CR_HANDLE cr = listener.next();
  const DAT_EVENT event = next_event(client.connection);
  const auto took = std::chrono::steady_clock::now() - before;
  expect_timed_out(body, event);
  expect_endpoint(body, event, client.ep);
  body.expect_that(took >= limit, "a timeout no earlier than asked for", "an earlier one");
  body.expect_state(client.ep, DAT_EP_STATE_DISCONNECTED);
  (void)CALL(dat_cr_reject, cr, 0, nullptr);
}

}  // namespace

// ---------------------------------------------------------------- connect

DAT_CASE(accepted_connect_is_reported_to_both, calls(dat_ep_connect),
         rules("dat.ep-connect.success", "dat.ep-connect.established-event")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  expect(start_connect(ia(), client.ep.get(), listener.qualifier), succeeds);
  expect_state(client.ep, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  const DAT_EVENT active = expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const DAT_EVENT passive = expect_event(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_endpoint(*this, active, client.ep, "dat.ep-connect.established-event");
  expect_endpoint(*this, passive, server.ep, "dat.ep-connect.established-event");
  expect_that(passive.event_data.connect_event_data.private_data_size == 0, "no private data",
              "private data", "dat.ep-connect.established-event");
  expect_state(client.ep, DAT_EP_STATE_CONNECTED);
  expect_state(server.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(long_timeout_of_a_connect_does_not_expire_at_once, calls(dat_ep_connect),
         rules("dat.ep-connect.success")) {
  const Pz pz = ia().pz();
  for (const DAT_TIMEOUT timeout : {0x7FFFFFFFU, 0x80000000U, DAT_TIMEOUT_INFINITE - 1})
    row(fmt::format("{} us", timeout), [&] {
      const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
      const Listener listener(ia());
      expect(start_connect(ia(), client.ep.get(), listener.qualifier, {.timeout = timeout}),
             succeeds);
      need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
      (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    });
}

DAT_CASE(private_data_of_each_size_arrives, calls(dat_ep_connect),
         rules("dat.ep-connect.private-data"), deadline_of(10s)) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, most / 2, most - 1, most})
    row(fmt::format("{} octets", size), [&] {
      const Pz pz = ia().pz();
      const Side client = make_side(ia(), pz);
      const Listener listener(ia());
      expect(
          start_connect(ia(), client.ep.get(), listener.qualifier, with_data(private_octets(size))),
          succeeds);
      const DAT_CR_HANDLE cr = listener.next();
      expect_data(*this, data_of_request(*this, cr), private_octets(size));
      need(CALL(dat_cr_reject, cr, 0, nullptr), "no reject");
      (void)expect_event(client.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
    });
}

DAT_CASE(private_data_of_the_acceptance_arrives, calls(dat_ep_connect, dat_cr_accept),
         rules("dat.ep-connect.success")) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  for (const std::size_t size : {std::size_t{1}, most})
    row(fmt::format("{} octets", size), [&] {
      const Pz pz = ia().pz();
      const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
      const Listener listener(ia());
      need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
      std::vector<std::byte> data = private_octets(size);
      need(CALL(dat_cr_accept, listener.next(), server.ep.get(), static_cast<DAT_COUNT>(size),
                data.data()),
           "no accept");
      const DAT_EVENT event = expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
      expect_data(*this, octets_of_event(event), private_octets(size));
    });
}

DAT_CASE(private_data_of_the_acceptance_stays_after_the_end, calls(dat_ep_connect, dat_cr_accept),
         rules("dat.evd-wait.private-data-stays")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  std::vector<std::byte> data = private_octets(32);
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), static_cast<DAT_COUNT>(data.size()),
            data.data()),
       "no accept");
  const DAT_EVENT event = expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const std::vector<std::byte> at_first = octets_of_event(event);
  if (at_first.empty()) stop(Verdict::inconclusive, "the acceptance has brought no private data");
  need(CALL(dat_ep_disconnect, client.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect_that(octets_of_event(event) == at_first, "the octets that the acceptance brought",
              "others at the same place", "dat.evd-wait.private-data-stays");
}

DAT_CASE(more_private_data_than_fits_is_refused, calls(dat_ep_connect),
         rules("dat.ep-connect.private-data")) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  expect(
      start_connect(ia(), client.ep.get(), listener.qualifier, with_data(private_octets(most + 1))),
      returns(DAT_INVALID_PARAMETER));
  expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
  expect_no_event(listener.requests);
}

DAT_CASE(connect_with_a_negative_size_is_refused, calls(dat_ep_connect),
         rules("dat.ep-connect.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  std::byte octet{};
  expect(CALL(dat_ep_connect, client.ep.get(), ia().address(), listener.qualifier,
              DAT_TIMEOUT_INFINITE, -1, &octet, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         returns(DAT_INVALID_PARAMETER));
  expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(connect_that_lacks_its_private_data_is_refused, calls(dat_ep_connect),
         rules("dat.ep-connect.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  expect(CALL(dat_ep_connect, client.ep.get(), ia().address(), listener.qualifier,
              DAT_TIMEOUT_INFINITE, 8, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(connect_to_no_address_is_refused, calls(dat_ep_connect),
         rules("dat.ep-connect.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  expect(CALL(dat_ep_connect, client.ep.get(), nullptr, 7, DAT_TIMEOUT_INFINITE, 0, nullptr,
              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_ADDRESS}));
  expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(connect_to_a_group_address_fails, calls(dat_ep_connect),
         rules("dat.ep-connect.invalid-address"), deadline_of(20s)) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  sockaddr_in group{};
  group.sin_family = AF_INET;
  group.sin_addr.s_addr = htonl(0xE0000001);
  const DAT_RETURN got =
      CALL(dat_ep_connect, client.ep.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&group), 7,
           2'000'000, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  expect(got, returns_one_of({DAT_INVALID_ADDRESS, DAT_SUCCESS}));
  if (got != DAT_SUCCESS) return expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
  const DAT_EVENT event = next_event(client.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED, "no connection",
              event_text(event.event_number));
}

DAT_CASE(connect_to_an_address_of_no_family_fails, calls(dat_ep_connect),
         rules("dat.ep-connect.invalid-address")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  sockaddr_storage strange{};
  strange.ss_family = AF_UNIX;
  expect(CALL(dat_ep_connect, client.ep.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&strange), 7,
              1'000'000, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         returns(DAT_INVALID_ADDRESS).or_tolerably(DAT_INVALID_PARAMETER));
  expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(unsupported_quality_of_service_is_refused, calls(dat_ep_connect),
         rules("dat.ep-connect.model")) {
  const DAT_QOS qos = unsupported_quality(*this);
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  expect(start_connect(ia(), client.ep.get(), listener.qualifier, of_quality(qos)),
         returns(DAT_MODEL_NOT_SUPPORTED));
  expect_state(client.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(unsupported_multipath_is_refused, calls(dat_ep_connect), rules("dat.ep-connect.model")) {
  if (provider_attributes(*this).supports_multipath != DAT_FALSE)
    stop(Verdict::not_applicable, "the provider supports multipath");
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  ConnectOptions options;
  options.flags = DAT_CONNECT_MULTIPATH_REQUIRED_FLAG;
  expect(start_connect(ia(), client.ep.get(), listener.qualifier, options),
         returns(DAT_MODEL_NOT_SUPPORTED).or_tolerably(DAT_INVALID_PARAMETER));
}

DAT_CASE(connect_without_a_listener_is_a_non_peer_rejection, calls(dat_ep_connect),
         rules("dat.ep-connect.no-listener")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  expect(start_connect(ia(), client.ep.get(), free_qualifier(ia())), succeeds);
  const DAT_EVENT event = expect_event(client.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  expect_endpoint(*this, event, client.ep);
  expect_that(event.event_data.connect_event_data.private_data_size == 0, "no private data",
              "private data");
  expect_state(client.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(receives_are_flushed_when_there_is_no_listener, calls(dat_ep_connect, dat_ep_post_recv),
         rules("dat.ep-disconnect.flush")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  need(post_recv(client.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  need(start_connect(ia(), client.ep.get(), free_qualifier(ia())), "no connect");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  (void)expect_completion(client.receives, 1, DAT_DTO_ERR_FLUSHED);
}

DAT_CASE(receives_are_flushed_when_the_request_is_rejected, calls(dat_cr_reject, dat_ep_post_recv),
         rules("dat.ep-disconnect.flush")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  const Listener listener(ia());
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(client.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_reject, listener.next(), 0, nullptr), "no reject");
  if (next_event(client.connection).event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
    stop(Verdict::inconclusive, "a connection in spite of the rejection");
  for (DAT_UINT64 id = 1; id <= 2; ++id) {
    const auto data = expect_completion(client.receives, id, DAT_DTO_ERR_FLUSHED);
    advise_that(data.operation == DAT_DTO_RECEIVE && data.ep_handle == client.ep.get(),
                "a receive of the endpoint", "another operation or handle");
  }
}

/// Qualifiers are TCP ports here, and a number beyond them is not another name of one.
DAT_CASE(connect_to_a_qualifier_that_is_no_port_reaches_nobody, calls(dat_ep_connect),
         rules("dat.ep-connect.conn-qual-range")) {
  const Listener listener(ia());
  for (const DAT_CONN_QUAL beyond : {DAT_CONN_QUAL{1} << 16, DAT_CONN_QUAL{1} << 32})
    row(fmt::format("{:#x}", beyond), [&] {
      const Pz pz = ia().pz();
      const Side client = make_side(ia(), pz);
      expect(start_connect(ia(), client.ep.get(), beyond | listener.qualifier),
             returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_ADDRESS}));
      expect_no_event(listener.requests);
    });
}

DAT_CASE(connection_keeps_the_attributes_of_its_endpoints,
         calls(dat_ep_connect, dat_cr_accept, dat_ep_query), rules("dat.ep-connect.attributes")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = usual_attributes(*this);
  attr.max_rdma_read_in = 3;
  attr.max_rdma_read_out = 5;
  const Side client = make_side(ia(), pz, &attr);
  attr.max_rdma_read_in = 4;  // fewer than the other side may have outstanding
  attr.max_rdma_read_out = 2;
  const Side server = make_side(ia(), pz, &attr);
  const auto attributes = [&](const Side& side) {
    return query_endpoint(*this, side.ep.get()).ep_attr;
  };
  const DAT_EP_ATTR before[] = {attributes(client), attributes(server)};
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  (void)next_event(client.connection), (void)next_event(server.connection);
  for (std::size_t i = 0; i < 2; ++i)
    row(i == 0 ? "active" : "passive", [&] {
      const DAT_EP_ATTR after = attributes(i == 0 ? client : server);
      expect_number(*this, "max_rdma_read_in", before[i].max_rdma_read_in, after.max_rdma_read_in);
      expect_number(*this, "max_rdma_read_out", before[i].max_rdma_read_out,
                    after.max_rdma_read_out);
      expect_number(*this, "max_recv_dtos", before[i].max_recv_dtos, after.max_recv_dtos);
      expect_number(*this, "max_request_dtos", before[i].max_request_dtos, after.max_request_dtos);
    });
}

DAT_CASE(work_after_a_failed_connect_is_flushed,
         calls(dat_ep_connect, dat_ep_post_recv, dat_ep_post_send),
         rules("dat.ep-post-recv.flushed", "dat.ep-post-send.flushed")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  need(start_connect(ia(), client.ep.get(), free_qualifier(ia())), "no connect");
  if (next_event(client.connection).event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
    stop(Verdict::inconclusive, "there is a listener");
  expect(post_recv(client.ep.get(), {memory.triplet(0, 8)}, 1), succeeds);
  (void)expect_completion(client.receives, 1, DAT_DTO_ERR_FLUSHED);
  expect(post_send(client.ep.get(), {memory.triplet(8, 8)}, 2), succeeds,
         "dat.ep-post-send.flushed");
  (void)expect_completion(client.requests, 2, DAT_DTO_ERR_FLUSHED, "dat.ep-post-send.flushed");
}

DAT_CASE(rejection_of_each_size_arrives, calls(dat_ep_connect, dat_cr_reject),
         rules("dat.ep-connect.peer-rejected"), deadline_of(10s)) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, most})
    row(fmt::format("{} octets", size), [&] {
      const Pz pz = ia().pz();
      const Side client = make_side(ia(), pz);
      const Listener listener(ia());
      need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
      std::vector<std::byte> data = private_octets(size);
      need(CALL(dat_cr_reject, listener.next(), static_cast<DAT_COUNT>(size),
                size == 0 ? nullptr : data.data()),
           "no reject");
      const DAT_EVENT event = expect_event(client.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
      expect_endpoint(*this, event, client.ep);
      expect_data(*this, octets_of_event(event), private_octets(size));
      expect_state(client.ep, DAT_EP_STATE_DISCONNECTED);
    });
}

DAT_CASE(undecided_connect_times_out, calls(dat_ep_connect), rules("dat.ep-connect.timed-out")) {
  expect_timeout(*this, [&](const Ep& ep, DAT_CONN_QUAL qualifier, const ConnectOptions& options) {
    return start_connect(ia(), ep.get(), qualifier, options);
  });
}

DAT_CASE(undecided_common_connect_times_out, calls(dat_ep_common_connect),
         rules("dat.ep-connect.timed-out")) {
  expect_timeout(*this, [&](const Ep& ep, DAT_CONN_QUAL qualifier, const ConnectOptions& options) {
    sockaddr_storage address = address_of(ia(), qualifier);
    return common_connect(ep.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), options);
  });
}

DAT_CASE(connect_to_a_host_that_does_not_answer_times_out, calls(dat_ep_connect),
         rules("dat.ep-connect.timed-out")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const FullPort port(*this);
  const auto limit = time_to_ask(*this);
  const auto before = std::chrono::steady_clock::now();
  expect(start_connect(ia(), client.ep.get(), port.qualifier(), within(limit)), succeeds);
  const DAT_EVENT event = next_event(client.connection);
  if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED &&
      std::chrono::steady_clock::now() - before < limit)
    stop(Verdict::not_applicable, "the ports of the IA are not those of the host's TCP");
  expect_timed_out(*this, event);
  expect_state(client.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(acceptance_after_the_timeout_fails, calls(dat_ep_connect, dat_cr_accept),
         rules("dat.ep-connect.timed-out")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier, within(time_to_ask(*this))),
       "no connect");
  const DAT_CR_HANDLE cr = listener.next();
  (void)next_event(client.connection);
  const Lmr memory(ia(), pz.get(), 64);
  need(post_recv(server.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
  need(CALL(dat_cr_accept, cr, server.ep.get(), 0, nullptr), "no accept");
  const DAT_EVENT event = next_event(server.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED,
              "DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR", event_text(event.event_number));
  advise_that(event.event_number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR,
              "DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR", event_text(event.event_number));
  expect_state(server.ep, DAT_EP_STATE_DISCONNECTED);
  (void)expect_completion(server.receives, 1, DAT_DTO_ERR_FLUSHED);
}

DAT_CASE(connect_with_timeout_zero_does_not_succeed, calls(dat_ep_connect),
         rules("dat.ep-connect.timed-out")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  const Listener listener(ia());
  const DAT_RETURN got = start_connect(ia(), client.ep.get(), listener.qualifier, within(0us));
  expect(got, returns_one_of({DAT_INVALID_PARAMETER, DAT_SUCCESS}));
  if (got != DAT_SUCCESS) return;
  const DAT_EVENT event = next_event(client.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED, "no connection",
              event_text(event.event_number));
}

DAT_CASE(several_connects_are_pending_at_once, calls(dat_ep_connect),
         rules("dat.ep-connect.success"), deadline_of(10s)) {
  constexpr std::size_t count = 8;
  const Pz pz = ia().pz();
  const Listener listener(ia());
  std::vector<Side> clients, servers;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(make_side(ia(), pz));
    servers.push_back(make_side(ia(), pz));
    expect(start_connect(ia(), clients.back().ep.get(), listener.qualifier), succeeds);
  }
  for (const Side& server : servers)
    need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  for (std::size_t i = 0; i < count; ++i) {
    (void)expect_event(clients[i].connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)expect_event(servers[i].connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
}

// ---------------------------------------------------------------- dup_connect

DAT_CASE(duplicate_connects_to_the_peer_of_its_model, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.success")) {
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz), server = make_side(ia(), pair.pz);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get(), with_data(private_octets(10))),
         succeeds);
  const DAT_EVENT request = expect_event(pair.requests, DAT_CONNECTION_REQUEST_EVENT);
  const DAT_CR_HANDLE cr = request.event_data.cr_arrival_event_data.cr_handle;
  expect_data(*this, data_of_request(*this, cr), private_octets(10));
  need(CALL(dat_cr_accept, cr, server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(duplicate.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_state(duplicate.ep, DAT_EP_STATE_CONNECTED);
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(duplicate_of_a_duplicate_connects_to_the_same_peer, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.success")) {
  const Pair pair = connected();
  std::array<Side, 2> duplicates{make_side(ia(), pair.pz), make_side(ia(), pair.pz)};
  std::array<Side, 2> servers{make_side(ia(), pair.pz), make_side(ia(), pair.pz)};
  const Ep* model = &pair.active.ep;
  for (std::size_t i = 0; i < duplicates.size(); ++i) {
    const Side& duplicate = duplicates.at(i);
    expect(dup_connect(duplicate.ep.get(), model->get()), succeeds);
    const auto request =
        expect_event(pair.requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
    need(CALL(dat_cr_accept, request.cr_handle, servers.at(i).ep.get(), 0, nullptr), "no accept");
    (void)expect_event(duplicate.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
    model = &duplicate.ep;
  }
}

DAT_CASE(undecided_duplicate_times_out, calls(dat_ep_dup_connect),
         rules("dat.ep-connect.timed-out")) {
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get(), within(time_to_ask(*this))),
         succeeds);
  const auto request = expect_event(pair.requests, DAT_CONNECTION_REQUEST_EVENT);
  const DAT_EVENT event = next_event(duplicate.connection);
  expect_timed_out(*this, event);
  expect_state(duplicate.ep, DAT_EP_STATE_DISCONNECTED);
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  (void)CALL(dat_cr_reject, request.event_data.cr_arrival_event_data.cr_handle, 0, nullptr);
}

DAT_CASE(duplicate_of_an_unconnected_endpoint_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-state")) {
  const Pz pz = ia().pz();
  const Side duplicate = make_side(ia(), pz), model = make_side(ia(), pz);
  expect(dup_connect(duplicate.ep.get(), model.ep.get()), returns(DAT_INVALID_STATE));
  expect_state(duplicate.ep, DAT_EP_STATE_UNCONNECTED);
}

DAT_CASE(duplicate_of_a_disconnected_endpoint_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-state")) {
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  end_connection(pair);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get()), returns(DAT_INVALID_STATE));
}

DAT_CASE(duplicate_on_a_connected_endpoint_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-state")) {
  const Pair pair = connected(), second = connected();
  expect(dup_connect(second.active.ep.get(), pair.active.ep.get()), returns(DAT_INVALID_STATE));
  expect_state(second.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(duplicate_with_too_much_private_data_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-parameter")) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get(), with_data(private_octets(most + 1))),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(duplicate_with_unsupported_quality_of_service_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.model")) {
  const DAT_QOS qos = unsupported_quality(*this);
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get(), of_quality(qos)),
         returns(DAT_MODEL_NOT_SUPPORTED));
}

DAT_CASE(rejection_is_reported_to_the_duplicate, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.success")) {
  const Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  expect(dup_connect(duplicate.ep.get(), pair.active.ep.get()), succeeds);
  const DAT_EVENT request = expect_event(pair.requests, DAT_CONNECTION_REQUEST_EVENT);
  need(CALL(dat_cr_reject, request.event_data.cr_arrival_event_data.cr_handle, 0, nullptr),
       "no reject");
  (void)expect_event(duplicate.connection, DAT_CONNECTION_EVENT_PEER_REJECTED);
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(duplicate_of_a_zone_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side duplicate = make_side(ia(), pz);
  expect(dup_connect(duplicate.ep.get(), pz.get()), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(duplicate_of_a_null_handle_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side duplicate = make_side(ia(), pz);
  expect(dup_connect(duplicate.ep.get(), DAT_HANDLE_NULL), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(duplicate_of_a_freed_endpoint_is_refused, calls(dat_ep_dup_connect),
         rules("dat.ep-dup-connect.invalid-handle"), with_hostile_handles) {
  Pair pair = connected();
  const Side duplicate = make_side(ia(), pair.pz);
  const DAT_EP_HANDLE freed = pair.active.ep.get();
  need(CALL(dat_ep_free, pair.active.ep.release()), "not freed");
  expect(dup_connect(duplicate.ep.get(), freed), returns(DAT_INVALID_HANDLE));
}

// ---------------------------------------------------------------- common_connect

DAT_CASE(common_connect_reaches_a_socket_address, calls(dat_ep_common_connect),
         rules("dat.ep-common-connect.success")) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz), server = make_side(ia(), pz);
  const Listener listener(ia());
  sockaddr_storage address = address_of(ia(), listener.qualifier);
  expect(common_connect(client.ep.get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address),
                        with_data(private_octets(9))),
         succeeds);
  const DAT_CR_HANDLE cr = listener.next();
  expect_data(*this, data_of_request(*this, cr), private_octets(9));
  need(CALL(dat_cr_accept, cr, server.ep.get(), 0, nullptr), "no accept");
  const DAT_EVENT event = expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_endpoint(*this, event, client.ep);
}

DAT_CASE(common_connect_without_an_address_is_refused, calls(dat_ep_common_connect),
         rules("dat.ep-common-connect.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  expect(common_connect(client.ep.get(), nullptr),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_ADDRESS}));
}

DAT_CASE(common_connect_with_too_much_private_data_is_refused, calls(dat_ep_common_connect),
         rules("dat.ep-common-connect.invalid-parameter")) {
  const auto most = static_cast<std::size_t>(provider_attributes(*this).max_private_data_size);
  const Pz pz = ia().pz();
  const Side client = make_side(ia(), pz);
  expect(common_connect(client.ep.get(), ia().address(), with_data(private_octets(most + 1))),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASES_OF_FILE(ep_connect)

}  // namespace suite::cases::dat
