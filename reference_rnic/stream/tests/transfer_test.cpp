// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two conforming streams back to back: every operation under every combination of startup options
// and cuts.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "reference_rnic/stream/tests/stream_pair.hpp"

namespace rnic::stream::test {
namespace {

struct Variant {
  std::uint8_t revision = 2;
  bool crc = true, initiator_markers = false, responder_markers = false, peer_to_peer = false;
  RtrKinds rtr;
  std::size_t cut = 0;
};

Config config_of(const Variant& variant, bool markers) {
  Config config;
  config.revision = variant.revision;
  config.crc = variant.crc;
  config.markers = markers;
  config.peer_to_peer = variant.peer_to_peer;
  config.rtr = variant.rtr;
  return config;
}

Work send_work(std::uint64_t id, wire::Bytes octets) {
  Work work;
  work.id = id;
  work.gather = {octets};
  return work;
}

void prepare(TestMemory& memory) {
  memory.add_region(0x101, 0x10000, 8192, every_access);
  memory.add_region(0x202, 7, 8192, every_access);
  memory.post_receive(1, 6000, 1000);
  memory.post_receive(2, 16);
  memory.post_receive(3, 0);
}

/// A pair with memory to work on, and the octets that are to travel.
struct Transfer {
  explicit Transfer(const Variant& variant)
      : pair(config_of(variant, variant.initiator_markers),
             config_of(variant, variant.responder_markers)) {
    pair.cut = variant.cut;
    prepare(pair.initiator.memory);
    prepare(pair.responder.memory);
    std::ranges::copy(source, pair.responder.memory.region(0x202).octets.begin() + 5);
  }

  void post_everything();
  void expect_everything_done() const;
  void transfer_back();
  void close();

  Pair pair;
  std::vector<std::byte> message = pattern(5000), written = pattern(4001, 2),
                         source = pattern(3000, 3);
};

/// Works 10 to 15, one of each kind and an empty Send.
void Transfer::post_everything() {
  const auto post = [&](const Work& work) { pair.initiator.stream.post(work, pair.now); };
  post(send_work(10, message));
  Work write = send_work(11, written);
  write.kind = WorkKind::write;
  write.remote_stag = 0x101;
  write.remote_offset = 0x10003;
  post(write);
  Work read;
  read.id = 12;
  read.kind = WorkKind::read;
  read.remote_stag = 0x202;
  read.remote_offset = 12;
  read.sink_stag = 0x101;
  read.sink_offset = 0x10000 + 100;
  read.length = 3000;
  post(read);
  Work atomic;
  atomic.id = 13;
  atomic.kind = WorkKind::atomic;
  atomic.remote_stag = 0x101;
  atomic.remote_offset = 0x10000 + 8000;
  atomic.add_or_swap = 41;
  atomic.add_or_swap_mask = 0;
  post(atomic);
  Work immediate;
  immediate.id = 14;
  immediate.kind = WorkKind::immediate;
  immediate.solicited = true;
  std::ranges::copy(text_octets("IMMEDIAT"), immediate.immediate.begin());
  post(immediate);
  Work empty;
  empty.id = 15;
  post(empty);
}

void Transfer::expect_everything_done() const {
  const auto done = pair.initiator.all<WorkDone>();
  constexpr std::array<std::size_t, 6> lengths{5000, 4001, 3000, 8, 8, 0};
  BOOST_REQUIRE_EQUAL(done.size(), lengths.size());
  for (std::size_t i = 0; i < done.size(); ++i) {
    BOOST_TEST(done[i].id == 10 + i);
    BOOST_TEST(name(done[i].status) == std::string("success"));
    BOOST_TEST(done[i].length == lengths[i]);
  }
  const auto received = pair.responder.all<MessageReceived>();
  BOOST_REQUIRE_EQUAL(received.size(), 3U);
  BOOST_TEST(received[0].length == message.size());
  const auto& landed = pair.responder.memory.received(1);
  BOOST_TEST(std::equal(message.begin(), message.end(), landed.begin()));
  BOOST_TEST((landed[message.size()] == std::byte{0xEE}));
  BOOST_TEST((received[1].opcode == wire::Opcode::immediate_solicited));
  BOOST_REQUIRE(received[1].immediate);
  BOOST_TEST(hex(*received[1].immediate) == hex(text_octets("IMMEDIAT")));
  BOOST_TEST(received[1].length == 0U);  // nothing of it is in the buffer
  BOOST_TEST(received[2].length == 0U);
  const auto& target = pair.responder.memory.region(0x101).octets;
  BOOST_TEST(std::equal(written.begin(), written.end(), target.begin() + 3));
  std::uint64_t sum = 0;
  std::memcpy(&sum, target.data() + 8000, sizeof sum);
  BOOST_TEST(sum == 41U);
  const auto& sink = pair.initiator.memory.region(0x101).octets;
  BOOST_TEST(std::equal(source.begin(), source.end(), sink.begin() + 100));
}

void Transfer::transfer_back() {
  pair.responder.stream.post(send_work(20, message), pair.now);
  pair.run();
  BOOST_REQUIRE(pair.initiator.find<MessageReceived>() != nullptr);
  const auto& back = pair.initiator.memory.received(1);
  BOOST_TEST(std::equal(message.begin(), message.end(), back.begin()));
}

void Transfer::close() {
  pair.initiator.stream.disconnect(pair.now);
  pair.run();
  BOOST_TEST(pair.responder.find<PeerClosed>() != nullptr);
  pair.responder.stream.disconnect(pair.now);
  pair.run();
  BOOST_TEST(pair.initiator.find<Closed>() != nullptr);
  BOOST_TEST(pair.responder.find<Closed>() != nullptr);
  BOOST_TEST(pair.initiator.find<Failed>() == nullptr);
  BOOST_TEST(pair.responder.find<Failed>() == nullptr);
}

void transfer_everything(const Variant& variant) {
  Transfer transfer(variant);
  transfer.pair.run();
  BOOST_REQUIRE(transfer.pair.initiator.find<Established>() != nullptr);
  BOOST_REQUIRE(transfer.pair.responder.find<Established>() != nullptr);
  transfer.post_everything();
  transfer.pair.run();
  transfer.expect_everything_done();
  transfer.transfer_back();
  transfer.close();
}

BOOST_AUTO_TEST_CASE(every_operation_under_every_option) {
  for (const std::uint8_t revision : {std::uint8_t{1}, std::uint8_t{2}})
    for (const bool crc : {false, true})
      for (const int markers : {0, 1, 2, 3})
        for (const std::size_t cut : {0U, 1U, 2U, 3U, 7U, 61U, 1448U, 4096U})
          for (int rtr = 0; rtr < (revision == 2 ? 4 : 1); ++rtr) {
            Variant variant{revision, crc, (markers & 1) != 0, (markers & 2) != 0, rtr != 0,
                            {},       cut};
            if (rtr != 0) variant.rtr = {rtr == 1, rtr == 2, rtr == 3};
            BOOST_TEST_CONTEXT("revision " << int(revision) << " crc " << crc << " markers "
                                           << markers << " cut " << cut << " rtr " << rtr)
            transfer_everything(variant);
          }
}

/// A responder that is sent, in parts, what another one got.
struct Listener {
  Listener(const Transfer& transfer, Config config, std::shared_ptr<Scratch> scratch)
      : was(transfer),
        end(std::move(config), {}, std::move(scratch)),
        rest(was.pair.initiator.sent) {
    prepare(end.memory);
    std::ranges::copy(was.source, end.memory.region(0x202).octets.begin() + 5);
  }
  void receive(std::size_t most) {
    const std::size_t here = std::min(most, rest.size());
    end.stream.receive(rest.first(here), {});
    rest = rest.subspan(here);
    end.collect();
    if (end.stream.state() == State::awaiting_decision) end.stream.accept(16, 16, {}, {});
    static_cast<void>(end.stream.take_output({}));
  }
  void expect_the_same() {
    BOOST_TEST(end.find<Failed>() == nullptr);
    BOOST_TEST((end.memory.received(1) == was.pair.responder.memory.received(1)));
    for (const std::uint32_t region : {0x101U, 0x202U})
      BOOST_TEST(
          (end.memory.region(region).octets == was.pair.responder.memory.region(region).octets));
  }

  const Transfer& was;
  End end;
  wire::Bytes rest;
};

BOOST_AUTO_TEST_CASE(streams_that_share_a_scratch_do_not_disturb_each_other) {
  for (const bool crc : {false, true})
    for (const bool markers : {false, true}) {
      Variant variant;
      variant.crc = crc;
      variant.responder_markers = markers;
      Transfer one(variant), other(variant);
      other.message = pattern(5000, 9);
      other.written = pattern(4001, 11);
      std::size_t request = 0;
      for (Transfer* transfer : {&one, &other}) {
        transfer->pair.run();
        request = transfer->pair.initiator.sent.size();
        transfer->post_everything();
        transfer->pair.run();
      }
      Config config = config_of(variant, markers);
      config.role = Role::responder;
      const auto scratch = std::make_shared<Scratch>();
      Listener first(one, config, scratch), second(other, config, scratch);
      first.receive(request);
      second.receive(request);
      while (!first.rest.empty()) {
        first.receive(97);
        second.receive(97);
      }
      first.expect_the_same();
      second.expect_the_same();
    }
}

}  // namespace
}  // namespace rnic::stream::test
