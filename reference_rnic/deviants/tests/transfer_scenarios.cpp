// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs of two streams that carry everything they can to each other.
#include <numeric>
#include <string>

#include "reference_rnic/deviants/tests/operational.hpp"
#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"

namespace rnic::deviants::test {

using namespace stream;        // NOLINT(google-build-using-namespace): the subject's words
using namespace stream::test;  // NOLINT(google-build-using-namespace)

namespace {

void furnish_for_transfer(TestMemory& memory) {
  furnish(memory);
  memory.add_region(0x1001, 0x10000, 4096, every_access);
  memory.add_region(0x1002, 0x20000, 4096, every_access);
  auto& source = memory.region(0x1002).octets;
  std::iota(reinterpret_cast<unsigned char*>(source.data()),  // NOLINT: octets to be counted up
            reinterpret_cast<unsigned char*>(source.data()) + source.size(), 0);  // NOLINT
  for (std::uint64_t id = 1; id <= 12; ++id) memory.post_receive(id, id <= 2 ? 4000 : 16);
}

/// One work of every kind and shape.
template <typename Stream>
void post_everything(Stream& stream, const std::vector<std::byte>& message) {
  const auto post = [&](Work work) { stream.post(std::move(work), TimePoint{}); };
  std::uint64_t id = 100;
  Work send = work_of(id++, WorkKind::send);
  send.gather = {wire::Bytes(message).first(1500), wire::Bytes(message).subspan(1500, 1501)};
  post(send);
  send = work_of(id++, WorkKind::send);
  send.gather = {wire::Bytes(message).first(5)};
  send.solicited = true;
  post(send);
  send.id = id++;
  send.invalidate = 0x101;
  post(send);
  post(work_of(id++, WorkKind::send));
  Work write = work_of(id++, WorkKind::write);
  write.gather = {wire::Bytes(message).first(3003)};
  write.remote_offset += 9;
  post(write);
  for (const std::uint32_t length : {2000U, 0U, 7U, 100U}) {
    Work read = work_of(id++, WorkKind::read);
    read.remote_stag = 0x1002;
    read.remote_offset = 0x20000 + length % 100;
    read.sink_stag = 0x1001;
    read.sink_offset = 0x10000 + length;
    read.length = length;
    post(read);
  }
  for (int i = 0; i < 4; ++i) {
    Work atomic = work_of(id++, WorkKind::atomic);
    atomic.remote_stag = 0x1002;
    atomic.remote_offset = 0x20000 + 8U * static_cast<unsigned>(i);
    atomic.operation =
        i < 2 ? wire::AtomicOperation::fetch_add : wire::AtomicOperation::compare_swap;
    atomic.add_or_swap = 0x80FF80FF80FF80FF;
    atomic.add_or_swap_mask = i % 2 == 0 ? 0x00FF0000FF000080 : i == 1 ? 0 : ~std::uint64_t{0};
    atomic.compare = i == 2 ? 0x1716151413121110 : 0;  // the present value, or another one
    atomic.compare_mask = i == 2 ? 0x00000000FFFFFFFF : ~std::uint64_t{0};
    if (i == 2) atomic.compare |= 0xAAAA000000000000;
    post(atomic);
  }
  Work immediate = work_of(id++, WorkKind::immediate);
  std::ranges::copy(text_octets("12345678"), immediate.immediate.begin());
  post(immediate);
  immediate.id = id++;
  immediate.solicited = true;
  post(immediate);
}

struct PairOptions {
  Config initiator, responder;
  bool initiator_is_subject = true;
  bool accepted = true;
};

std::string run_pair(const PairOptions& options, const Decide& decide) {
  Pair pair(options.initiator, options.responder,
            options.initiator_is_subject ? decide() : StreamDecisions(),
            options.initiator_is_subject ? StreamDecisions() : decide());
  pair.accepting = options.accepted;
  pair.accept_ird = options.responder.ird;
  pair.accept_ord = options.responder.ord;
  pair.reply_private_data = text_octets("welcome");
  furnish_for_transfer(pair.initiator.memory);
  furnish_for_transfer(pair.responder.memory);
  const auto message = pattern(4000);
  const Work early = work_of(99, WorkKind::send);
  pair.initiator.stream.post(early, pair.now);
  pair.responder.stream.post(early, pair.now);
  pair.run();
  if (pair.initiator.stream.state() == State::operational) {
    post_everything(pair.initiator.stream, message);
    pair.run();
    pair.initiator.stream.set_emss(600);
    pair.responder.stream.set_emss(600);
    post_everything(pair.responder.stream, message);
    pair.run();
    pair.initiator.stream.set_emss(60);
    pair.responder.stream.set_emss(60);
    pair.responder.stream.post(early, pair.now);
    Work write = work_of(98, WorkKind::write);
    write.gather = {wire::Bytes(message).first(300)};
    pair.initiator.stream.post(write, pair.now);
    pair.responder.stream.post(write, pair.now);
    pair.run();
  }
  pair.initiator.stream.disconnect(pair.now);
  pair.initiator.stream.post(early, pair.now);
  pair.run();
  pair.responder.stream.disconnect(pair.now);
  pair.run();
  return "initiator\n" + transcript(pair.initiator) + "responder\n" + transcript(pair.responder);
}

PairOptions options_of(bool markers, bool crc, std::optional<RtrKind> rtr,
                       bool initiator_is_subject) {
  PairOptions options;
  for (Config* config : {&options.initiator, &options.responder}) {
    config->markers = markers;
    config->crc = crc;
    config->ird = 3;
    config->ord = 3;
    config->emss = 1001;
  }
  options.initiator.private_data = text_octets("hello");
  options.initiator.peer_to_peer = rtr.has_value();
  if (rtr)
    options.initiator.rtr = {*rtr == RtrKind::send, *rtr == RtrKind::write, *rtr == RtrKind::read};
  options.initiator_is_subject = initiator_is_subject;
  return options;
}

}  // namespace

void add_pairs(std::vector<Scenario>& list) {
  for (const bool initiator : {true, false}) {
    const std::string side = initiator ? "initiator" : "responder";
    const auto add = [&](const std::string& what, const PairOptions& options) {
      list.push_back({"pair, " + side + ", " + what,
                      [=](const Decide& decide) { return run_pair(options, decide); }});
    };
    add("CRC", options_of(false, true, std::nullopt, initiator));
    add("nothing", options_of(false, false, std::nullopt, initiator));
    add("Markers", options_of(true, true, std::nullopt, initiator));
    add("RTR Send", options_of(false, true, RtrKind::send, initiator));
    add("RTR Write", options_of(false, true, RtrKind::write, initiator));
    add("RTR Read", options_of(true, false, RtrKind::read, initiator));
    PairOptions options = options_of(false, true, std::nullopt, initiator);
    options.accepted = false;
    add("rejected", options);
    options = options_of(false, true, std::nullopt, initiator);
    (initiator ? options.responder : options.initiator).crc = false;
    add("CRC wanted by the subject", options);
    options = options_of(false, true, std::nullopt, initiator);
    options.initiator.revision = options.responder.revision = 1;
    add("revision 1", options);
    options = options_of(false, true, std::nullopt, initiator);
    options.initiator.ird = 1;
    options.initiator.ord = 9;
    options.responder.ird = 2;
    options.responder.ord = 9;
    add("unequal depths", options);
    options = options_of(false, true, std::nullopt, initiator);
    options.initiator.first_sent =
        options.initiator.first_expected = {0xFFFFFFFE, 0xFFFFFFFE, 1, 0xFFFFFFFE};
    options.responder.first_sent = options.responder.first_expected = options.initiator.first_sent;
    add("wrap", options);
    options.initiator.first_sent = options.initiator.first_expected = {255, 255, 1, 255};
    options.responder.first_sent = options.responder.first_expected = options.initiator.first_sent;
    add("count beyond eight bits", options);
  }
}

}  // namespace rnic::deviants::test
