// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets into a stream of either role: it must neither crash nor lose work, and end exactly
// once.
//
// The first octet chooses the set-up, the second the size of the cuts. After them come either raw
// octets of the LLP, or (bit framed) ULPDUs, each after an octet with its length, which arrive in
// good FPDUs on an established stream.
#include <map>

#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace rnic;
using namespace rnic::stream;
using wire::test::require;

namespace {

struct Settings {
  explicit Settings(std::uint8_t bits) : bits_(bits) {}
  [[nodiscard]] bool initiator() const { return bits_ & 1; }
  [[nodiscard]] bool crc() const { return bits_ & 2; }
  [[nodiscard]] bool markers() const { return bits_ & 4; }
  [[nodiscard]] bool peer_to_peer() const { return bits_ & 8; }
  [[nodiscard]] bool established() const { return bits_ & 16; }
  [[nodiscard]] bool framed() const { return bits_ & 32; }
  [[nodiscard]] bool works() const { return bits_ & 64; }

 private:
  std::uint8_t bits_;
};

Config config_of(const Settings& choice) {
  Config config;
  config.role = choice.initiator() ? Role::initiator : Role::responder;
  config.crc = choice.crc();
  config.markers = choice.markers();
  config.peer_to_peer = choice.peer_to_peer();
  config.ird = config.ord = 3;
  return config;
}

class Run {
 public:
  explicit Run(const Settings& choice) : choice_(choice), subject_(config_of(choice)) {
    test::furnish(subject_.memory);
    for (std::uint64_t id = 1; id <= 6; ++id) subject_.memory.post_receive(id, 40 * (id - 1), 7);
  }

  /// Good startup frames from the peer.
  void establish() {
    (void)subject_.output();
    std::string words = choice_.peer_to_peer() ? "c003 c003" : "0003 0003";
    const std::string rest = "10 02 0004" + words;
    feed(test::octets(choice_.initiator() ? test::reply(rest) : test::request(rest)));
  }
  void feed(wire::Bytes octets) {
    while (!octets.empty()) {
      const std::size_t here = cut_ == 0 ? octets.size() : std::min(cut_, octets.size());
      subject_.feed(octets.first(here));
      octets = octets.subspan(here);
      after_input();
    }
  }
  void feed_framed(wire::Bytes input) {
    wire::Reader reader(input);
    while (!reader.rest().empty()) {
      const std::size_t length = std::min<std::size_t>(
          std::to_integer<std::size_t>(reader.read<std::byte>()), reader.rest().size());
      const wire::Bytes ulpdu = reader.take(length);
      std::vector<std::byte> framed(wire::length_with_markers(position_, wire::fpdu_size(length)));
      wire::Writer writer(framed);
      wire::test::format_fpdu(writer, std::span(&ulpdu, 1),
                              {choice_.crc(), choice_.markers(), position_});
      position_ += framed.size();
      feed(framed);
    }
  }
  void post_work() {
    static const std::vector<std::byte> payload(300);
    for (const WorkKind kind : {WorkKind::send, WorkKind::read, WorkKind::write, WorkKind::atomic,
                                WorkKind::immediate, WorkKind::local, WorkKind::read}) {
      Work work;
      work.id = ++posted_;
      work.kind = kind;
      if (kind == WorkKind::send || kind == WorkKind::write) work.gather = {payload};
      work.sink_stag = 0x101;
      work.sink_offset = 0x1000;
      work.length = 8;
      work.fence = kind == WorkKind::local;
      subject_.stream.post(work, subject_.now);
    }
  }
  void end() {
    subject_.stream.peer_closed(subject_.now);
    (void)subject_.output();
    subject_.stream.lost(subject_.now);
    subject_.collect();
    require(subject_.stream.state() == State::closed, "a lost stream is closed");
    require(subject_.all<Closed>().size() == 1, "a stream ends once");
    std::map<std::uint64_t, int> done;
    for (const WorkDone& event : subject_.all<WorkDone>()) ++done[event.id];
    require(done.size() == posted_, "all work is completed");
    for (const auto& [id, times] : done) require(times == 1, "work is completed once");
    require(subject_.all<Failed>().size() <= 1, "a stream fails once");
  }
  void set_cut(std::size_t cut) { cut_ = cut; }

 private:
  void after_input() {
    if (subject_.stream.state() == State::awaiting_decision)
      subject_.stream.accept(3, 3, {}, subject_.now);
    (void)subject_.output();
    require(!subject_.stream.receive_targets().empty(), "there is always a place for octets");
  }

  Settings choice_;
  test::Subject subject_;
  std::size_t cut_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t posted_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::Bytes input = std::as_bytes(std::span(data, size));
  if (input.size() < 2) return 0;
  const Settings choice(std::to_integer<std::uint8_t>(input[0]));
  Run run(choice);
  if (choice.established()) run.establish();
  if (choice.works()) run.post_work();
  run.set_cut(std::to_integer<std::size_t>(input[1]) % 64);
  if (choice.established() && choice.framed())
    run.feed_framed(input.subspan(2));
  else
    run.feed(input.subspan(2));
  run.end();
  return 0;
}
