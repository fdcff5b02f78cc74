// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The wire between two streams, without any LLP.
#include "reference_rnic/verbs/tests/two_rnics.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

namespace rnic::verbs::test {

void Loop::run() {
  while (!deferred.empty()) {
    const auto callback = std::move(deferred.front());
    deferred.pop_front();
    callback();
  }
}

std::unique_ptr<Rnic> make_rnic(Loop& loop, RnicDecisions decisions, std::uint64_t seed) {
  Host host{.now = [] { return stream::TimePoint{}; },
            .defer =
                [&loop](std::function<void()> callback) {
                  loop.deferred.push_back(std::move(callback));
                }};
  const SoftRnicOptions options{.stag_seed = seed};
  return std::make_unique<SoftRnic>(std::move(host), options, std::move(decisions));
}

Side::Side(Loop& loop, RnicDecisions decisions, std::uint64_t seed)
    : rnic(make_rnic(loop, std::move(decisions), seed)) {
  rnic->set_async_handler([this](const AsyncEvent& event) { async.push_back(event); });
  domain = *rnic->create_domain();
  queue = *rnic->create_completion_queue(256, {});
  pair = *rnic->create_queue_pair(
      {.domain = domain, .send_completions = queue, .receive_completions = queue});
  region =
      *rnic->register_memory(domain, {.memory = memory, .access = all_access, .base = 0x10000});
}

RegionInfo Side::expose(std::size_t offset, std::size_t length, const Access& access) {
  return *rnic->register_memory(domain,
                                {.memory = wire::MutableBytes(memory).subspan(offset, length),
                                 .access = access,
                                 .base = 0x5000});
}

std::vector<Completion> Side::completions() {
  std::vector<Completion> all;
  std::array<Completion, 8> some;
  for (auto count = rnic->poll(queue, some); count && *count > 0; count = rnic->poll(queue, some))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*count));
  return all;
}

void Side::send(SendRequest request) {
  const auto posted = rnic->post_send(pair, std::span(&request, 1));
  BOOST_REQUIRE_MESSAGE(posted, "post_send: " << (posted ? "" : name(posted.error().error)));
}

void Side::receive(std::uint64_t id, Pieces pieces) {
  const ReceiveRequest request{.id = id, .pieces = std::move(pieces)};
  const auto posted = rnic->post_receive(pair, std::span(&request, 1));
  BOOST_REQUIRE_MESSAGE(posted, "post_receive: " << (posted ? "" : name(posted.error().error)));
}

void Side::number(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) memory[i] = static_cast<std::byte>(i + 1);
}

bool Side::saw(AsyncKind kind) const {
  return std::ranges::find(async, kind, &AsyncEvent::kind) != async.end();
}

void TwoRnics::connect(stream::Config base) {
  stream::Config initiator = base, responder = base;
  initiator.role = stream::Role::initiator;
  responder.role = stream::Role::responder;
  b.stream = b.rnic->streams()->open_stream(responder);
  a.stream = a.rnic->streams()->open_stream(initiator);
  BOOST_REQUIRE(a.rnic->streams()->attach(a.pair, *a.stream).has_value());
  settle();
  BOOST_REQUIRE(b.stream->machine().state() == stream::State::awaiting_decision);
  BOOST_REQUIRE(b.rnic->streams()->attach(b.pair, *b.stream).has_value());
  b.stream->call(&stream::Stream::accept, std::uint16_t{16}, std::uint16_t{16}, wire::Bytes(),
                 stream::TimePoint{});
  settle();
  BOOST_REQUIRE(a.state() == QueuePairState::rts);
  // Without the peer-to-peer model the responder may only send once the initiator has.
  BOOST_REQUIRE(b.state() == QueuePairState::rts);
}

bool TwoRnics::carry(Side& from, Side& to, std::size_t limit) {
  std::vector<wire::Bytes> list;
  from.stream->machine().gather(list, limit, nullptr);
  std::vector<std::byte> octets;
  for (const wire::Bytes& piece : list) octets.insert(octets.end(), piece.begin(), piece.end());
  if (octets.empty()) return false;
  from.stream->call(&stream::Stream::transmitted, octets.size(), stream::TimePoint{});
  for (std::size_t used = 0; used < octets.size();) {
    std::size_t count = 0;
    for (const wire::MutableBytes& target : to.stream->machine().receive_targets()) {
      const std::size_t part = std::min(target.size(), octets.size() - used - count);
      std::memcpy(target.data(), octets.data() + used + count, part);
      count += part;
    }
    if (count == 0) break;
    to.stream->call(&stream::Stream::received, count, stream::TimePoint{});
    used += count;
  }
  return true;
}

bool TwoRnics::close(Side& from, Side& to) {
  const stream::Closing closing = from.stream->machine().closing();
  bool& fin_sent = fin_sent_[&from == &a ? 0 : 1];
  if (closing == stream::Closing::none || fin_sent) return false;
  fin_sent = true;
  from.stream->call(&stream::Stream::close_done, stream::TimePoint{});
  if (closing == stream::Closing::reset) {
    to.stream->call(&stream::Stream::lost, stream::TimePoint{});
  } else {
    to.stream->call(&stream::Stream::peer_closed, stream::TimePoint{});
  }
  return true;
}

void TwoRnics::take_events(Side& side) {
  while (auto event = side.stream->next_event())
    if (std::holds_alternative<stream::PeerClosed>(*event)) side.stream->disconnect();
}

void TwoRnics::settle() {
  for (bool busy = true; busy;) {
    busy = carry(a, b);
    busy = carry(b, a) || busy;
    take_events(a);
    take_events(b);
    busy = close(a, b) || busy;
    busy = close(b, a) || busy;
  }
  loop.run();
}

bool TwoRnics::deliver_to(Side& side, std::size_t limit) {
  return carry(&side == &a ? b : a, side, limit);
}

void TwoRnics::lose() {
  a.stream->call(&stream::Stream::lost, stream::TimePoint{});
  b.stream->call(&stream::Stream::lost, stream::TimePoint{});
  settle();
}

}  // namespace rnic::verbs::test
