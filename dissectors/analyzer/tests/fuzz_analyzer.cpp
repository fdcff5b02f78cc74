// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets as the traffic between two ends of a connection: startup, FPDUs, holes,
// retransmissions, cut frames, ends.
#include <algorithm>
#include <array>
#include <cstdint>

#include "dissectors/analyzer/analyzer.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace dissectors;
using namespace dissectors::analyzer;
using rnic::wire::test::require;

namespace {

class Judge final : public Sink {
 public:
  explicit Judge(bool describes) : describes_(describes) {}

  void opened(const Connection& connection) override {
    require(connection.number == ++opened_, "connections are numbered in order");
  }
  void closed(const Connection&) override {
    require(++closed_ <= opened_, "only what was opened is closed");
  }
  void mpa_frame(const Connection&, const MpaFrameSeen& seen) override { within(seen.place); }
  void fpdu(const Connection&, const FpduSeen& seen) override {
    within(seen.place);
    require(seen.ulpdu.size() <= seen.ulpdu_length, "no more octets than the length says");
    require(seen.pad.size() <= 3, "a pad has 0 to 3 octets");
    ++fpdus_;
  }
  void message(const Connection&, const MessageSeen& seen) override {
    require(seen.fpdu != nullptr, "a message has its FPDU");
    require(!describes_ || !describe_ulpdu(seen.fpdu->ulpdu, seen.fpdu->ulpdu_length).empty(),
            "every ULPDU has a description");
    require(seen.request_frame <= frame, "a request comes before its response");
  }
  void finding(const Connection&, const Finding& found) override {
    within(found.place);
    require(!found.actual.empty() && !found.admissible.empty(), "a finding says what and why");
    ++findings_;
  }
  void note(const Connection&, const Note& said) override {
    within(said.place);
    require(!said.text.empty(), "a note says something");
  }

  void agrees_with(const Counts& counts) const {
    require(counts.connections == opened_ && closed_ == opened_, "all that opened is closed");
    require(counts.iwarp_connections <= counts.connections, "of connections some are iWARP");
    require(counts.fpdus == fpdus_ && counts.findings == findings_, "what is told is counted");
  }
  std::uint32_t frame = 0;

 private:
  void within(const Place& place) const {
    // If segments come out of order, the last octet may have come first.
    require(std::max(place.first_frame, place.last_frame) <= frame, "frames are those seen so far");
  }

  bool describes_;
  std::uint64_t opened_ = 0, closed_ = 0, fpdus_ = 0, findings_ = 0;
};

// One step: two octets, then the payload's.
//   bit 0 which end; bits 1 and 2 what: 0 the next octets, 1 octets that the capture does not have,
//   2 the next octets over the last ones, 3 a flag by bits 3 and 4: SYN, FIN, RST, acknowledgement;
//   bit 5 the length counts eights; bit 6 the frame is cut in half; bit 7 the connection
//   was idle for long.
class Script {
 public:
  Script(Analyzer& analyzer, Judge& judge) : analyzer_(analyzer), judge_(judge) {
    first_.port = 40000;
    second_.port = 5445;
    second_.address[0] = std::byte{10};
  }
  void play(rnic::wire::Bytes input) {
    while (input.size() >= 2) {
      const auto control = std::to_integer<unsigned>(input[0]);
      std::size_t length = std::to_integer<std::size_t>(input[1]);
      if ((control & 32U) != 0) length *= 8;
      input = input.subspan(2);
      const bool carries = (control & 6U) == 0 || (control & 6U) == 4;
      const auto payload = input.first(carries ? std::min(length, input.size()) : 0);
      step(control, length, payload);
      input = input.subspan(payload.size());
    }
  }

 private:
  void step(unsigned control, std::size_t length, rnic::wire::Bytes payload) {
    const std::size_t end = control & 1U;
    std::uint32_t& next = next_[end];
    capture::Segment segment;
    segment.flow = {first_, second_};
    if (end == 1) segment.flow = segment.flow.reversed();
    segment.sequence = next;
    segment.payload_length = payload.size();
    segment.payload = (control & 64U) != 0 ? payload.first(payload.size() / 2) : payload;
    switch ((control >> 1) & 3U) {
      case 0:
        next += static_cast<std::uint32_t>(payload.size());
        break;
      case 1:
        next += static_cast<std::uint32_t>(length);
        return;
      case 2:
        segment.sequence -= static_cast<std::uint32_t>(payload.size() / 2);
        break;
      default:
        flag(segment, (control >> 3) & 3U, next);
    }
    if ((control & 128U) != 0) time_ += std::uint64_t{700} * 1'000'000'000;
    analyzer_.segment(segment, ++judge_.frame, ++time_);
  }
  void flag(capture::Segment& segment, unsigned which, std::uint32_t& next) const {
    segment.syn = which == 0;
    segment.fin = which == 1;
    segment.rst = which == 2;
    segment.ack = which == 3;
    segment.acknowledgement = next_[segment.flow.from == first_ ? 1 : 0];
    segment.mss = segment.syn ? 1460 : 0;
    segment.window = 200;
    if (segment.syn) segment.window_scale = 1;
    if (segment.syn || segment.fin) ++next;
  }

  Analyzer& analyzer_;
  Judge& judge_;
  capture::Endpoint first_, second_;
  std::array<std::uint32_t, 2> next_{1000, 0xFFFFFF00U};
  std::uint64_t time_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rnic::wire::test::fuzz_input(data, size);
  if (input.empty()) return 0;
  const auto mode = std::to_integer<unsigned>(input[0]);
  Judge judge((mode & 1U) != 0);
  Options options;
  options.reorder_octets = 4096;
  options.pick_up = (mode & 2U) == 0;
  Analyzer analyzer(options, judge);
  if ((mode & 4U) != 0) analyzer.treat_as_iwarp(5445);
  Script(analyzer, judge).play(input.subspan(1));
  analyzer.finish();
  judge.agrees_with(analyzer.counts());
  return 0;
}
