// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/arriving.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "suite/model/observed.hpp"

using namespace suite;
using namespace suite::model;

namespace {

constexpr iut::Handle domain = 1, sink = 2, queue = 3;
constexpr std::uint32_t stag = 0x1234;

/// A stream of the domain, and a region of it that the peer may use.
State running() {
  Region region;
  region.handle = sink;
  region.domain = domain;
  region.stag = stag;
  region.access.remote_read = region.access.remote_write = region.access.remote_atomic = true;
  region.contents = Contents(Octets(64));
  Stream stream;
  stream.terms.domain = domain;
  State state;
  state.memory.regions.push_back(std::move(region));
  state.streams.push_back(std::move(stream));
  return state;
}

State owing(Use use) {
  State state = running();
  Response response;
  response.source = Source{stag, 0, 8, use};
  state.streams[0].responses.push_back(std::move(response));
  return state;
}

States refusing(const State& state) {
  Coverage coverage;
  States after;
  refuse_closed_sources(state, coverage, after);
  return after;
}

SentSegment segment_of(const auto& header, std::size_t payload) {
  const wire::Bytes octets = wire::octets_of(header);
  SentSegment sent;
  sent.ulpdu.assign(octets.begin(), octets.end());
  sent.ulpdu.resize(octets.size() + payload, std::byte{0x5A});
  return sent;
}

SentSegment send_segment() {
  wire::UntaggedHeader header;
  header.rdmap = wire::RdmapControl::make(wire::Opcode::send);
  header.message_sequence_number = 1;
  return segment_of(header, 4);
}

SentSegment write_segment() {
  wire::TaggedHeader header;
  header.rdmap = wire::RdmapControl::make(wire::Opcode::rdma_write);
  header.stag = stag;
  return segment_of(header, 8);
}

States after(const State& before, const SentSegment& sent) {
  Coverage coverage;
  States states;
  arrive(before, 0, sent, coverage, states);
  return states;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_request_is_not_refused_while_its_source_is_open) {
  BOOST_TEST(refusing(owing(Use::read)).empty());
  BOOST_TEST(refusing(owing(Use::atomic)).empty());
}

BOOST_AUTO_TEST_CASE(a_request_whose_source_is_closed_before_the_response_may_be_refused) {
  for (const Use use : {Use::read, Use::atomic}) {
    State state = owing(use);
    state.memory.revoke(stag);
    const States states = refusing(state);
    BOOST_REQUIRE(states.size() == 1U);
    BOOST_TEST((states[0].streams[0].phase == Phase::refusing));
    BOOST_TEST(admits(states[0].streams[0].fault, wire::cause::rdmap_invalid_stag));
  }
}

BOOST_AUTO_TEST_CASE(a_stream_that_has_ended_refuses_nothing_more) {
  State state = owing(Use::read);
  state.memory.revoke(stag);
  state.streams[0].phase = Phase::terminated;
  BOOST_TEST(refusing(state).empty());
}

BOOST_AUTO_TEST_CASE(a_message_of_an_open_ended_stream_may_take_a_shared_receive) {
  State state = running();
  state.streams[0].phase = Phase::open_ended;
  state.streams[0].terms.shared_queue = queue;
  state.shared_queues.push_back({queue, {Receive{}}, 1, false});
  const States states = after(state, send_segment());
  BOOST_REQUIRE(states.size() == 2U);
  BOOST_TEST(!states[0].shared_queues[0].is_low);
  BOOST_TEST(states[1].shared_queues[0].is_low);
  BOOST_TEST(after(state, write_segment()).size() == 1U);
}

BOOST_AUTO_TEST_CASE(work_whose_source_an_open_ended_stream_may_write_to_is_undetermined) {
  State state = running();
  state.streams.push_back(state.streams[0]);
  state.streams[0].phase = Phase::open_ended;
  Work send;
  send.command.pieces = {{sink, 0, 8}};
  state.streams[1].work.push_back(send);
  BOOST_TEST(after(state, write_segment()).front().streams[1].work[0].indeterminate);
}

BOOST_AUTO_TEST_CASE(a_response_may_be_for_a_read_that_has_not_been_seen_yet) {
  State state = running();
  state.streams[0].may_send = true;
  state.streams[0].terms.depths.ord = 1;
  SentSegment response = write_segment();
  response.ulpdu[1] = std::byte{wire::RdmapControl::make(wire::Opcode::read_response).octet};
  BOOST_REQUIRE(after(state, response).size() == 1U);
  Work read;
  read.command.operation = iut::operation::read;
  state.streams[0].work.push_back(read);
  const States states = after(state, response);
  BOOST_REQUIRE(states.size() == 2U);
  BOOST_TEST((states[0].streams[0].phase == Phase::refusing));
  BOOST_TEST((states[1].streams[0].phase == Phase::open_ended));
}

BOOST_AUTO_TEST_CASE(a_write_into_the_sink_of_an_open_read_leaves_it_undetermined) {
  State state = running();
  BOOST_TEST(!after(state, write_segment()).front().memory.regions[0].indeterminate);
  Work read;
  read.command.operation = iut::operation::read;
  read.command.pieces = {{sink, 0, 8}};
  state.streams[0].work.push_back(read);
  BOOST_TEST(!after(state, write_segment()).front().memory.regions[0].indeterminate);
  state.streams[0].work[0].sent = true;
  BOOST_TEST(after(state, write_segment()).front().memory.regions[0].indeterminate);
}

BOOST_AUTO_TEST_CASE(what_two_streams_write_to_one_place_at_a_time_is_undetermined) {
  State state = running();
  state.streams.push_back(state.streams[0]);
  for (const std::uint64_t offset : {0U, 7U, 8U}) {
    SentSegment second = write_segment();
    wire::TaggedHeader header = wire::Reader(second.ulpdu).read<wire::TaggedHeader>();
    header.tagged_offset = offset;
    std::ranges::copy(wire::octets_of(header), second.ulpdu.begin());
    Coverage coverage;
    States states;
    arrive(after(state, write_segment()).front(), 1, second, coverage, states);
    BOOST_TEST(states.front().memory.regions[0].indeterminate == (offset < 8));
  }
  const State twice = after(after(state, write_segment()).front(), write_segment()).front();
  BOOST_TEST(!twice.memory.regions[0].indeterminate);
}

BOOST_AUTO_TEST_CASE(part_of_a_message_without_octets_may_take_a_shared_receive) {
  State state = running();
  Stream& stream = state.streams[0];
  stream.terms.shared_queue = queue;
  stream.terms.crc = false;
  state.shared_queues.push_back({queue, {Receive{}}, 1, false});
  wire::UntaggedHeader header;
  header.rdmap = wire::RdmapControl::make(wire::Opcode::send);
  header.message_sequence_number = 1;
  Coverage coverage;
  States states;
  arrive(state, 0, SentPart{segment_of(header, 0).ulpdu}, coverage, states);
  BOOST_TEST(
      std::ranges::any_of(states, [](const State& each) { return each.shared_queues[0].is_low; }));
}

BOOST_AUTO_TEST_CASE(an_atomic_of_a_stream_that_ends_openly_may_not_be_carried_out) {
  State state = running();
  Response response;
  response.atomic = AtomicAnswer{sink, 1, 0};
  state.streams[0].responses.push_back(std::move(response));
  state.end_openly(0);
  BOOST_TEST(!state.is_known(state.memory.regions.front()));
}

BOOST_AUTO_TEST_CASE(an_atomic_may_be_carried_out_after_part_of_an_fpdu_was_placed) {
  State state = running();
  state.streams[0].terms.crc = false;
  Coverage coverage;
  States states;
  arrive(state, 0, SentPart{write_segment().ulpdu}, coverage, states);
  for (State& each : states) each.streams[0].unfinished.clear();
  BOOST_TEST(std::ranges::all_of(
      states, [](const State& each) { return each.is_known(each.memory.regions.front()); }));
  Response response;
  response.atomic = AtomicAnswer{sink, 1, 0};
  state.streams[0].responses.push_back(std::move(response));
  states.clear();
  arrive(state, 0, SentPart{write_segment().ulpdu}, coverage, states);
  for (State& each : states) each.streams[0].unfinished.clear();
  BOOST_TEST(std::ranges::any_of(
      states, [](const State& each) { return !each.is_known(each.memory.regions.front()); }));
}

BOOST_AUTO_TEST_CASE(octets_of_an_fpdu_that_is_not_there_as_a_whole_are_not_in_memory) {
  const auto rule_of_other_octets = [](bool part) {
    State state = running();
    state.streams[0].terms.crc = true;
    Coverage coverage;
    States states;
    if (part) arrive(state, 0, SentPart{write_segment().ulpdu}, coverage, states);
    const auto explained = explain(part ? states.front() : state, sink, Octets(64, std::byte{1}));
    return std::string(explained.error().rules.front().id);
  };
  BOOST_TEST(rule_of_other_octets(true) == "mpa.receive.entire-fpdu-before-ddp");
  BOOST_TEST(rule_of_other_octets(false) == "ddp.tagged.placed-at-to");
}

BOOST_AUTO_TEST_CASE(what_is_written_over_part_of_an_fpdu_is_undetermined) {
  State state = running();
  Region& region = state.memory.regions.front();
  state.write(region, 0, Octets(8), 1);
  BOOST_TEST(state.is_known(region));
  state.streams[0].unfinished = {sink};
  state.write(region, 0, Octets(8), 1);
  state.streams[0].unfinished.clear();
  BOOST_TEST(!state.is_known(region));
}

namespace {

Work posted(const char* operation) {
  Work work;
  work.command.operation = operation;
  return work;
}

States after_fin(const State& before) {
  Coverage coverage;
  States states;
  arrive(before, 0, SentFin{}, coverage, states);
  return states;
}

}  // namespace

BOOST_AUTO_TEST_CASE(local_work_that_waits_for_a_response_may_be_done_when_the_peer_closes) {
  State state = running();
  Work read = posted(iut::operation::read), invalidation = posted(iut::operation::local_invalidate);
  read.sent = true;
  invalidation.command.fence = true;
  invalidation.command.invalidate_stag = stag;
  state.streams[0].work = {read, invalidation};
  const States states = after_fin(state);
  BOOST_REQUIRE(states.size() == 2U);
  BOOST_TEST(states[0].memory.is_open(stag) != states[1].memory.is_open(stag));
  state.streams[0].work = {read};
  BOOST_TEST(after_fin(state).size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_atomic_response_before_that_of_a_read_may_be_placed) {
  State state = running();
  Work read = posted(iut::operation::read), atomic = posted(iut::operation::fetch_add);
  read.sent = atomic.sent = true;
  atomic.request_id = 7;
  atomic.command.pieces = {{sink, 0, 8}};
  state.streams[0].work = {read, atomic};
  wire::UntaggedHeader ddp;
  ddp.rdmap = wire::RdmapControl::make(wire::Opcode::atomic_response);
  ddp.queue_number = static_cast<std::uint32_t>(wire::Queue::atomic_response);
  ddp.message_sequence_number = 1;
  SentSegment sent = segment_of(ddp, 0);
  wire::AtomicResponseHeader response;
  response.original_request_id = 7;
  const wire::Bytes octets = wire::octets_of(response);
  sent.ulpdu.insert(sent.ulpdu.end(), octets.begin(), octets.end());
  const States states = after(state, sent);
  const auto found = std::ranges::find_if(
      states, [](const State& each) { return each.streams[0].phase == Phase::open_ended; });
  BOOST_REQUIRE((found != states.end()));
  BOOST_TEST(!found->is_known(found->memory.regions.front()));
}

BOOST_AUTO_TEST_CASE(local_work_that_completes_while_the_consumer_closes_was_done) {
  State state = running();
  Stream& stream = state.streams[0];
  stream.may_send = stream.closing = true;
  Work invalidation = posted(iut::operation::local_invalidate);
  invalidation.command.work = 1;
  invalidation.command.invalidate_stag = stag;
  stream.work = {invalidation};
  iut::CompletionEvent done;
  done.work = 1;
  done.operation = iut::operation::local_invalidate;
  done.status = "success";
  Coverage coverage;
  std::vector<Finding> advisories;
  BOOST_TEST(explain(state, 0, done, Watch{coverage, advisories}).has_value());
  BOOST_TEST(!state.memory.is_open(stag));
}

BOOST_AUTO_TEST_CASE(an_atomic_without_response_when_the_iut_closes_may_not_be_carried_out) {
  State state = running();
  state.streams[0].peer_closed = true;
  Response response;
  response.atomic = AtomicAnswer{sink, 1, 0};
  state.streams[0].responses.push_back(std::move(response));
  Coverage coverage;
  std::vector<Finding> advisories;
  BOOST_TEST(explain(state, 0, SeenClose{}, Watch{coverage, advisories}).has_value());
  BOOST_TEST(!state.is_known(state.memory.regions.front()));
}
