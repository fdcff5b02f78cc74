// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The iWARP extension of DAT towards a peer that is written by hand on the other end of the socket:
// what goes over the wire, and what the consumer is told of what comes.
#include <netinet/tcp.h>

#include <optional>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_raw_peer.hpp"
#include "suite/cases/dat/framework/dat_shared_queue.hpp"
#include "suite/cases/dat/framework/dat_streams.hpp"
#include "suite/cases/dat/framework/own_network.hpp"

namespace suite::cases::dat {

using namespace iwarp;  // NOLINT(google-build-using-namespace): the calls by their own names
using rnic::wire::MpaFrameKind;
using rnic::wire::octets_of;
using rnic::wire::Opcode;
using rnic::wire::RdmapControl;
using rnic::wire::Reader;
using rnic::wire::ReadRequestHeader;
using rnic::wire::TaggedHeader;
using rnic::wire::TerminateCause;
using rnic::wire::UntaggedHeader;

namespace {

std::vector<std::byte> octets_of_text(std::string_view text) {
  std::vector<std::byte> octets(text.size());
  std::memcpy(octets.data(), text.data(), text.size());
  return octets;
}

/// The endpoint of `streams.passive`, connected to a peer by hand on `streams.active_socket`.
RawPeer connect_by_hand(DatBody& body, Streams& streams) {
  RawPeer peer(streams.active_socket);
  body.need(streams.create(body), "no SSP");
  if (!peer.send(RawPeer::frame(MpaFrameKind::request, {})))
    body.stop(Verdict::inconclusive, "the Request cannot be sent");
  const auto request = arrival(body, streams.requests);
  body.need(CALL(dat_cr_accept, request.cr_handle, DAT_HANDLE_NULL, 0, nullptr), "no accept");
  if (!peer.receive_frame(MpaFrameKind::reply) || !peer.open())
    body.stop(Verdict::inconclusive, "no connection with the peer by hand");
  const auto end = next_event(streams.passive.connection).event_number;
  if (end != DAT_CONNECTION_EVENT_ESTABLISHED)
    body.stop(Verdict::inconclusive, "no connection: " + event_text(end));
  return peer;
}

void need_option(DatBody& body, int result) {
  if (result != 0) body.stop(Verdict::inconclusive, "the host does not set an option of a socket");
}

std::vector<TerminateCause> registered_causes() {
  std::vector<TerminateCause> causes;
  for (unsigned layer = 0; layer < 3; ++layer)
    for (unsigned type = 0; type < 4; ++type)
      for (unsigned code = 0; code < 256; ++code) {
        const TerminateCause cause{static_cast<std::uint8_t>(layer),
                                   static_cast<std::uint8_t>(type),
                                   static_cast<std::uint8_t>(code)};
        if (rnic::wire::is_registered(cause)) causes.push_back(cause);
      }
  return causes;
}

}  // namespace

DAT_CASE(private_data_goes_into_the_mpa_request, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.request-frame")) {
  Streams streams(*this);
  const auto data = private_octets(61);
  need(streams.connect(data), "no connect");
  const auto frame = RawPeer(streams.passive_socket).receive_frame(MpaFrameKind::request);
  expect_that(frame.has_value(), "an MPA Request", "something else");
  const auto parsed = rnic::wire::parse_mpa_frame(MpaFrameKind::request, *frame);
  const auto got = parsed->frame.ulp_private_data();
  expect_that(std::ranges::equal(got, data), "the 61 octets of private data",
              fmt::format("{} octets", got.size()));
}

/// Each way has its own depth (RFC 6581 section 9), which no page of DAT maps to the attributes.
DAT_CASE(depths_of_the_endpoint_go_into_the_mpa_request, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.depths")) {
  Streams streams(*this);
  DAT_EP_PARAM asked{};
  asked.ep_attr.max_rdma_read_in = 2;
  asked.ep_attr.max_rdma_read_out = 3;
  need(CALL(dat_ep_modify, streams.active.ep.get(),
            DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, &asked),
       "not modified");
  need(streams.connect(), "no connect");
  const auto frame = RawPeer(streams.passive_socket).receive_frame(MpaFrameKind::request);
  if (!frame) stop(Verdict::inconclusive, "no MPA Request");
  const auto words = rnic::wire::parse_mpa_frame(MpaFrameKind::request, *frame)->frame.enhanced();
  if (!words) stop(Verdict::not_applicable, "the MPA Request states no depths");
  advise_that(words->ird == 2 && words->ord == 3, "IRD 2, ORD 3",
              fmt::format("IRD {}, ORD {}", words->ird, words->ord));
}

DAT_CASE(request_that_came_before_the_service_point_is_taken, calls(dat_iw_ssp_create),
         rules("dat.iw-ssp-create.success")) {
  Streams streams(*this);
  const auto data = private_octets(16);
  if (!RawPeer(streams.active_socket).send(RawPeer::frame(MpaFrameKind::request, data)))
    stop(Verdict::inconclusive, "the Request cannot be sent");
  expect(streams.create(*this), succeeds);
  const auto request = arrival(*this, streams.requests);
  DAT_CR_PARAM param{};
  need(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), "no query");
  expect_private_data(*this, data, param.private_data, param.private_data_size);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(answer_to_the_last_message_in_one_piece_with_the_request_is_taken,
         calls(dat_iw_ssp_create), rules("dat.iw-ssp-create.final-message")) {
  Streams streams(*this);
  const auto last = octets_of_text("go ahead");
  expect(streams.create(*this, "go ahead"), succeeds);
  const RawPeer peer(streams.active_socket);
  const auto got = peer.receive(last.size());
  expect_that(got == last, "the last message", "something else");
  // In pieces of one octet, as TCP may deliver it.
  for (const std::byte octet : RawPeer::frame(MpaFrameKind::request, private_octets(3)))
    if (!peer.send({&octet, 1})) stop(Verdict::inconclusive, "the Request cannot be sent");
  const auto request = arrival(*this, streams.requests);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

DAT_CASE(answer_that_is_no_reply_ends_the_connect, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.non-peer-rejected")) {
  struct Answer {
    const char* name;
    std::vector<std::byte> octets;
  };
  for (const Answer& answer :
       {Answer{"other octets", octets_of_text("HTTP/1.1 400 Bad Request\r\n\r\n")},
        Answer{"a Request", RawPeer::frame(MpaFrameKind::request, {})}, Answer{"nothing", {}}})
    row(answer.name, [&] {
      Streams streams(*this);
      need(streams.connect(), "no connect");
      const RawPeer peer(streams.passive_socket);
      if (!peer.receive_frame(MpaFrameKind::request) || !peer.send(answer.octets))
        stop(Verdict::inconclusive, "no Request to answer");
      if (answer.octets.empty()) ::shutdown(streams.passive_socket, SHUT_WR);
      expect_event(streams.active.connection, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
      expect_state(streams.active.ep, DAT_EP_STATE_DISCONNECTED);
    });
}

DAT_CASE(connect_whose_route_is_gone_is_unreachable, calls(dat_iw_socket_connect),
         rules("dat.iw-socket-connect.timeout"), deadline_of(20s)) {
  const OwnNetwork network(*this);
  std::optional<Streams> streams;
  network.inside([&] { streams.emplace(*this); });
  // Its TCP gives up after a while, with no time set by the consumer (docs/disputes.md D22).
  constexpr unsigned milliseconds = 300;
  need_option(*this, ::setsockopt(streams->active_socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
                                  &milliseconds, sizeof milliseconds));
  network.remove_routes();
  expect(streams->connect(), succeeds);
  const DAT_EVENT event = next_event(streams->active.connection);
  expect_that(event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE,
              event_text(DAT_CONNECTION_EVENT_UNREACHABLE), event_text(event.event_number));
  expect_endpoint(*this, event, streams->active.ep);
  expect_state(streams->active.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(reset_by_the_peer_breaks_the_endpoint, calls(dat_iw_ssp_create),
         rules("dat.ep-connect.error-event")) {
  Streams streams(*this);
  static_cast<void>(connect_by_hand(*this, streams));
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  need_option(*this,
              ::setsockopt(streams.active_socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  ::close(std::exchange(streams.active_socket, -1));
  const DAT_EVENT event = next_event(streams.passive.connection);
  expect_that(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                  event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
              event_text(DAT_CONNECTION_EVENT_BROKEN), event_text(event.event_number));
  // No document maps what TCP does to events (docs/disputes.md D47).
  advise_that(event.event_number == DAT_CONNECTION_EVENT_BROKEN,
              event_text(DAT_CONNECTION_EVENT_BROKEN), event_text(event.event_number));
  expect_endpoint(*this, event, streams.passive.ep);
  expect_state(streams.passive.ep, DAT_EP_STATE_DISCONNECTED);
  expect_no_event(streams.passive.connection);
}

DAT_CASE(private_data_that_is_cut_is_flagged, calls(dat_cr_query), rules("dat.cr-query.success")) {
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no attributes");
  Streams streams(*this);
  need(streams.create(*this), "no SSP");
  const auto data = private_octets(rnic::wire::mpa_max_private_data);
  if (!RawPeer(streams.active_socket).send(RawPeer::frame(MpaFrameKind::request, data)))
    stop(Verdict::inconclusive, "the Request cannot be sent");
  const auto request = arrival(*this, streams.requests);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, request.cr_handle, DAT_CR_FIELD_ALL, &param), succeeds);
  const bool cut = param.private_data_size < static_cast<DAT_COUNT>(data.size());
  expect_that(param.private_data != nullptr && param.private_data_size > 0 &&
                  std::memcmp(param.private_data, data.data(),
                              std::min(data.size(),
                                       static_cast<std::size_t>(param.private_data_size))) == 0,
              "the private data, or their beginning",
              octets_text(param.private_data, param.private_data_size));
  at_least(*this, "octets that the provider supports", param.private_data_size,
           std::min(attr.max_private_data_size, static_cast<DAT_COUNT>(data.size())));
  same(*this, "truncate flag", request.truncate_flag, cut ? DAT_TRUE : DAT_FALSE);
  (void)dat_cr_reject(request.cr_handle, 0, nullptr);
}

namespace {

/// The first segment of a Send, and not its last.
bool begin_send(const RawPeer& peer, std::size_t octets, std::byte fill) {
  UntaggedHeader header;
  header.ddp = rnic::wire::DdpControl::make(false, false);
  header.rdmap = RdmapControl::make(Opcode::send);
  header.message_sequence_number = 1;
  RawPeer::Octets segment(octets_of(header).begin(), octets_of(header).end());
  segment.resize(segment.size() + octets, fill);
  return peer.send_fpdu(segment);
}

/// Octets that the provider places while the process reads them.
bool placed_within(std::chrono::milliseconds time, const std::byte& octet, std::byte wanted) {
  const auto latest = std::chrono::steady_clock::now() + time;
  const volatile std::byte* const now = &octet;
  while (*now != wanted) {
    if (std::chrono::steady_clock::now() > latest) return false;
    std::this_thread::yield();
  }
  return true;
}

/// The first segment of a Send is placed, at `first`; the endpoint still holds all `buffers`.
void expect_begun_message_counted(DatBody& body, Streams& streams, const std::byte& first,
                                  DAT_COUNT buffers) {
  const RawPeer peer = connect_by_hand(body, streams);
  constexpr std::byte fill{0x5A};
  if (!begin_send(peer, 8, fill)) body.stop(Verdict::inconclusive, "the segment cannot be sent");
  if (!placed_within(std::chrono::seconds(1), first, fill))
    body.stop(Verdict::not_applicable, "nothing is placed before the whole message is there");
  DAT_COUNT held = -7, span = -7;
  body.expect(CALL(dat_ep_recv_query, streams.passive.ep.get(), &held, &span), succeeds);
  body.expect_that(held == DAT_VALUE_UNKNOWN || held == buffers,
                   fmt::format("{} of the buffers", buffers), fmt::format("{}", held));
}

/// A Read Request that has come to the peer.
std::optional<ReadRequestHeader> read_request_to(const RawPeer& peer) {
  const auto ulpdu = peer.receive_fpdu();
  if (!ulpdu || ulpdu->size() != sizeof(UntaggedHeader) + sizeof(ReadRequestHeader))
    return std::nullopt;
  Reader reader(*ulpdu);
  static_cast<void>(reader.read<UntaggedHeader>());
  return reader.read<ReadRequestHeader>();
}

/// All octets that a Read Request asks for, in one segment: its Response, or a Write.
bool fill_sink(const RawPeer& peer, Opcode opcode, const ReadRequestHeader& asked, std::byte fill) {
  TaggedHeader header;
  header.rdmap = RdmapControl::make(opcode);
  header.stag = asked.sink_stag;
  header.tagged_offset = asked.sink_offset;
  RawPeer::Octets segment(octets_of(header).begin(), octets_of(header).end());
  segment.resize(segment.size() + asked.length.value(), fill);
  return peer.send_fpdu(segment);
}

constexpr auto local_rights =
    static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);

/// A Read into two segments of memory that is not open to the peer, of which `answered` Requests are
/// answered, and the next one, if there is one, by a Terminate.
struct ReadOfTwo {
  ReadOfTwo(DatBody& body, Streams& of, std::size_t answered)
      : peer(connect_by_hand(body, of)), sink(body.ia(), of.pz.get(), 2 * part, local_rights) {
    DAT_RMR_TRIPLET from{};
    from.virtual_address = 0x1000;
    from.segment_length = 2 * part;
    from.rmr_context = 0x1234;
    body.need(
        post_read(of.passive.ep.get(), {sink.triplet(0, part), sink.triplet(part, part)}, from, 9),
        "no RDMA Read");
    for (std::size_t octets = 0; octets < 2 * part;) {
      const auto request = read_request_to(peer);
      if (!request) body.stop(Verdict::inconclusive, "no Read Request to answer");
      asked.push_back(*request);
      octets += request->length.value();
      if (asked.size() <= answered) {
        if (!fill_sink(peer, Opcode::read_response, *request, std::byte{0x5A}))
          body.stop(Verdict::inconclusive, "the Response cannot be sent");
        continue;
      }
      if (!peer.terminate(rnic::wire::cause::rdmap_base_or_bounds))
        body.stop(Verdict::inconclusive, "the Terminate cannot be sent");
      return;
    }
  }
  /// What a peer writes to each sink has no effect, whatever becomes of its connection. The first octets
  /// have come with a Response.
  void expect_closed(DatBody& body, const RawPeer& writer, const Streams& streams,
                     std::size_t filled) const {
    for (const ReadRequestHeader& request : asked)
      if (!fill_sink(writer, Opcode::rdma_write, request, std::byte{0x77})) break;
    ::shutdown(streams.active_socket, SHUT_WR);
    (void)next_event(streams.passive.connection);  // the connection ends: all has been received
    for (std::size_t i = 0; i < 2 * part; ++i) {
      const std::byte wanted{static_cast<unsigned char>(i < filled ? 0x5A : 0xA5)};
      if (sink.octets()[i] != wanted)
        body.expect_that(false, "the octets read", fmt::format("octet {} written later", i));
    }
    body.expect_that(true, "the octets read", "the octets read");
  }

  static constexpr std::size_t part = 16;
  RawPeer peer;
  Lmr sink;
  std::vector<ReadRequestHeader> asked;
};

}  // namespace

DAT_CASE(sinks_of_a_read_of_two_segments_are_closed_after_it, calls(dat_ep_post_rdma_read),
         rules("dat.lmr-create.no-remote-write")) {
  constexpr std::size_t part = ReadOfTwo::part;
  for (const bool first_part : {true, false}) {
    row(first_part ? "that has completed, the first" : "that has completed, the second", [&] {
      Streams streams(*this);
      ReadOfTwo read(*this, streams, 2);
      expect_completion(streams.passive.requests, 9, DAT_DTO_SUCCESS);
      if (read.asked.size() > 1) read.asked.erase(read.asked.begin() + (first_part ? 1 : 0));
      read.expect_closed(*this, read.peer, streams, 2 * part);
    });
  }
}

DAT_CASE(sinks_of_a_read_that_fails_half_way_are_closed, calls(dat_ep_post_rdma_read),
         rules("dat.lmr-create.no-remote-write")) {
  // A Write that is refused ends its connection: there is one connection for each sink.
  for (const std::size_t tried : {0U, 1U}) {
    row(tried == 0 ? "the one that was filled" : "the other", [&] {
      Streams streams(*this);
      ReadOfTwo read(*this, streams, 1);
      if (read.asked.size() == 1)
        stop(Verdict::not_applicable, "the provider asks for both segments at once");
      ::shutdown(streams.active_socket, SHUT_WR);
      (void)next_event(streams.passive.connection);
      (void)next_event(streams.passive.requests);
      // The sinks are of a protection zone, which another connection uses as well.
      Streams others(*this);
      others.passive = make_side(ia(), streams.pz);
      const RawPeer writer = connect_by_hand(*this, others);
      read.asked = {read.asked[tried]};
      read.expect_closed(*this, writer, others, ReadOfTwo::part);
    });
  }
}

DAT_CASE(sink_of_a_read_is_closed_once_it_has_completed, calls(dat_ep_post_rdma_read),
         rules("dat.lmr-create.no-remote-write")) {
  Streams streams(*this);
  const RawPeer peer = connect_by_hand(*this, streams);
  const Lmr sink(ia(), streams.pz.get(), 16, local_rights);
  DAT_RMR_TRIPLET from{};
  from.virtual_address = 0x1000;
  from.segment_length = 16;
  from.rmr_context = 0x1234;
  need(post_read(streams.passive.ep.get(), {sink.triplet()}, from, 9), "no RDMA Read");
  const auto asked = read_request_to(peer);
  if (!asked) stop(Verdict::inconclusive, "no Read Request to answer");
  if (!fill_sink(peer, Opcode::read_response, *asked, std::byte{0x5A}))
    stop(Verdict::inconclusive, "the Response cannot be sent");
  expect_completion(streams.passive.requests, 9, DAT_DTO_SUCCESS);
  if (!fill_sink(peer, Opcode::rdma_write, *asked, std::byte{0x77}))
    stop(Verdict::inconclusive, "the Write cannot be sent");
  ::shutdown(streams.active_socket, SHUT_WR);
  (void)next_event(streams.passive.connection);  // the connection ends: all has been received
  expect_that(sink.octets()[0] == std::byte{0x5A}, "the octets read", "the octets written later");
}

DAT_CASE(each_cause_of_a_terminate_ends_the_connection,
         calls(dat_iw_ssp_create, dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.remote", "dat.ep-connect.error-event")) {
  for (const TerminateCause& cause : registered_causes())
    row(rnic::wire::describe(cause), [&] {
      Streams streams(*this);
      const RawPeer peer = connect_by_hand(*this, streams);
      const Lmr sink(ia(), streams.pz.get(), 16);
      DAT_LMR_TRIPLET to = sink.triplet();
      DAT_RMR_TRIPLET from{};
      from.virtual_address = 0x1000;
      from.segment_length = 16;
      from.rmr_context = 0x1234;
      DAT_DTO_COOKIE cookie{};
      cookie.as_64 = 9;
      need(CALL(dat_ep_post_rdma_read, streams.passive.ep.get(), 1, &to, cookie, &from,
                DAT_COMPLETION_DEFAULT_FLAG),
           "no RDMA Read");
      if (!peer.receive_fpdu() || !peer.terminate(cause))
        stop(Verdict::inconclusive, "no Read Request to answer");
      ::shutdown(streams.active_socket, SHUT_WR);
      const DAT_DTO_COMPLETION_EVENT_DATA done =
          expect_event(streams.passive.requests, DAT_DTO_COMPLETION_EVENT)
              .event_data.dto_completion_event_data;
      same(*this, "cookie", done.user_cookie.as_64, 9);
      expect_that(done.status != DAT_DTO_SUCCESS, "a failure", status_text(done.status));
      const DAT_EVENT end = next_event(streams.passive.connection);
      expect_that(end.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                      end.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
                  event_text(DAT_CONNECTION_EVENT_BROKEN), event_text(end.event_number),
                  "dat.ep-connect.error-event");
      expect_state(streams.passive.ep, DAT_EP_STATE_DISCONNECTED, "dat.ep-connect.error-event");
    });
}

DAT_CASE(buffer_of_a_message_that_has_begun_is_counted, calls(dat_ep_recv_query),
         rules("dat.ep-recv-query.success")) {
  row("a receive of the endpoint", [&] {
    Streams streams(*this);
    const Lmr memory(ia(), streams.pz.get(), 32);
    for (const DAT_UINT64 id : {1U, 2U})
      need(post_recv(streams.passive.ep.get(), {memory.triplet((id - 1) * 16, 16)}, id),
           "no receive");
    expect_begun_message_counted(*this, streams, memory.octets().front(), 2);
  });
  row("a receive of a shared queue", [&] {
    Queue queue(*this);
    need(queue.post(0), "no receive");
    Streams streams(*this);
    streams.passive = std::move(Users(*this, queue).receiver);
    expect_begun_message_counted(*this, streams, queue.memory.octets().front(), 1);
  });
}

DAT_CASES_OF_FILE(iwarp_wire)

}  // namespace suite::cases::dat
