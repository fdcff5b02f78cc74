// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes traffic by hand for the analyzer's tests, and records what the analyzer reports about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/octets.hpp"
#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/analyzer/framing_rules.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace dissectors::analyzer::tests {

namespace wire = rnic::wire;
using base::Octets;

[[nodiscard]] inline bool is_of_framing(rules::RuleId rule) {
  static constexpr rules::RuleId all[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/framing_rules.def"
#undef ANALYZER_CHECK
  };
  return std::ranges::find(all, rule.id, &rules::RuleId::id) != std::end(all);
}

/// What one end sends from its first octet on.
class Sender {
 public:
  explicit Sender(bool markers = false, bool crc = true) : markers_(markers), crc_(crc) {}

  void startup(wire::MpaFrameKind kind, std::uint8_t flags, std::size_t private_data = 0) {
    Octets frame(wire::mpa_frame_header_size + private_data);
    wire::Writer out(frame);
    wire::format_mpa_frame(out, kind, {flags}, 1, std::nullopt, Octets(private_data));
    octets.insert(octets.end(), frame.begin(), frame.end());
    origin = octets.size();
  }
  /// A Send of so many octets of payload, in one FPDU. Returns where it begins in `octets`.
  std::size_t send(std::size_t payload, bool last = true) {
    Octets ulpdu(wire::untagged_header_size + payload);
    wire::Writer out(ulpdu);
    wire::UntaggedHeader header;
    header.ddp = wire::DdpControl::make(false, last);
    header.rdmap = wire::RdmapControl::make(wire::Opcode::send);
    header.message_sequence_number = ++messages_;
    out.write(header);
    for (std::size_t at = wire::untagged_header_size; at < ulpdu.size(); ++at)
      ulpdu[at] = static_cast<std::byte>(at * 7 + messages_);
    ulpdus.push_back(ulpdu);
    return fpdu(ulpdu);
  }
  /// An FPDU as it should be around any ULPDU.
  std::size_t fpdu(const Octets& ulpdu) {
    Octets bare(wire::fpdu_size(ulpdu.size()));
    wire::Writer out(bare);
    out.write(wire::be16(static_cast<std::uint16_t>(ulpdu.size())));
    out.write(wire::Bytes(ulpdu));
    std::uint64_t position = octets.size() - origin;
    if (!counts_crcs) position -= wire::fpdu_crc_size * fpdus_;
    ++fpdus_;
    Octets framed = bare;
    if (markers_) {
      framed.resize(wire::length_with_markers(position, bare.size()));
      wire::Writer marked(framed);
      wire::insert_markers(marked, position, bare);
      for (std::size_t at = wire::octets_to_marker(position);
           swaps_pointers && at + wire::marker_size <= framed.size(); at += wire::marker_interval)
        std::swap(framed[at + 2], framed[at + 3]);
    }
    if (crc_) seal(framed);
    octets.insert(octets.end(), framed.begin(), framed.end());
    return octets.size() - framed.size();
  }
  /// Puts the right CRC into the last four octets of an FPDU.
  static void seal(wire::MutableBytes fpdu) {
    std::ranges::copy(wire::crc32c_trailer(fpdu.first(fpdu.size() - 4)), fpdu.end() - 4);
  }
  /// Recomputes the CRC of the FPDU at [begin, end) of the sent octets after a test has changed it.
  void reseal(std::size_t begin, std::size_t end) {
    seal(wire::MutableBytes(octets).subspan(begin, end - begin));
  }

  Octets octets;
  std::size_t origin = 0;       ///< octets before Full Operation
  std::vector<Octets> ulpdus;   ///< all that should be found
  bool swaps_pointers = false;  ///< writes FPDUPTR in the byte order of a little-endian host
  bool counts_crcs = true;      ///< among the 512 octets from Marker to Marker

 private:
  bool markers_, crc_;
  std::uint32_t messages_ = 0;
  std::size_t fpdus_ = 0;
};

/// A sink that remembers.
struct Record final : Sink {
  struct Fpdu {
    Direction direction;
    Octets ulpdu;
    FpduSeen seen;  ///< its views are no longer valid
    std::size_t markers;
  };
  void opened(const Connection&) override { ++connections; }
  void closed(const Connection&) override { ++closings; }
  void mpa_frame(const Connection&, const MpaFrameSeen& frame) override {
    frames.push_back(frame.frame.kind);
    frame_octets.emplace_back(frame.octets.begin(), frame.octets.end());
  }
  void fpdu(const Connection& connection, const FpduSeen& fpdu) override {
    fpdus.push_back(
        {fpdu.place.direction, {fpdu.ulpdu.begin(), fpdu.ulpdu.end()}, fpdu, fpdu.markers.size()});
    last_role = connection.role(fpdu.place.direction);
  }
  /// Of the FPDUs' form only: what these tests put into them is no conversation.
  void finding(const Connection&, const Finding& finding) override {
    if (!is_of_framing(finding.rule)) return;
    findings.push_back(finding);
    texts += std::string(finding.rule.id) + ": " + finding.actual + "\n";
  }
  void note(const Connection&, const Note& note) override { notes.push_back(note); }
  void ended(const Connection&, Direction, Ending, const Place&) override { ++endings; }

  [[nodiscard]] bool broken(std::string_view rule) const {
    return std::ranges::any_of(findings, [&](const Finding& it) { return it.breaks(rule); });
  }
  [[nodiscard]] std::size_t noted(NoteKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(notes, kind, &Note::kind));
  }
  [[nodiscard]] std::vector<Octets> ulpdus(Direction direction) const {
    std::vector<Octets> found;
    for (const Fpdu& fpdu : fpdus)
      if (fpdu.direction == direction) found.push_back(fpdu.ulpdu);
    return found;
  }

  std::vector<Fpdu> fpdus;
  std::vector<Finding> findings;
  std::vector<Note> notes;
  std::vector<wire::MpaFrameKind> frames;
  std::vector<Octets> frame_octets;
  std::string texts;
  Role last_role = Role::unknown;
  int connections = 0, closings = 0, endings = 0;
};

/// One connection, given to an analyzer segment by segment.
class Link {
 public:
  explicit Link(const Options& options = {}, std::uint32_t first_sequence = 1000)
      : analyzer(options, record) {
    client.address[3] = std::byte{1};
    client.port = 40000;
    server.address[3] = std::byte{2};
    server.port = 5445;
    sequence_[0] = first_sequence;
    sequence_[1] = first_sequence + 12345;
  }
  /// SYN and SYN-ACK, as they are announcing this MSS.
  void open(std::uint16_t mss = 0) {
    for (const Direction from : {Direction::from_first, Direction::from_second}) {
      capture::Segment segment = blank(from);
      segment.sequence = sequence_[index(from)] - 1;
      segment.syn = true;
      segment.mss = mss;
      pass(segment);
    }
  }
  /// The octets [begin, begin + length) of what this end sends, in one segment, of which the capture
  /// kept so many.
  void carry(Direction from, const Octets& octets, std::size_t begin, std::size_t length,
             std::size_t kept = ~std::size_t{0}) {
    capture::Segment segment = blank(from);
    segment.sequence = sequence_[index(from)] + static_cast<std::uint32_t>(begin);
    segment.payload = wire::Bytes(octets).subspan(begin, std::min(length, kept));
    segment.payload_length = length;
    pass(segment);
  }
  /// All from `begin` on, in segments of `size` octets.
  void carry_all(Direction from, const Octets& octets, std::size_t begin = 0,
                 std::size_t size = 1448) {
    for (; begin < octets.size(); begin += size)
      carry(from, octets, begin, std::min(size, octets.size() - begin));
  }
  void acknowledge(Direction from, std::size_t octets, std::uint16_t window = 0) {
    capture::Segment segment = blank(from);
    segment.ack = true;
    segment.window = window;
    segment.acknowledgement = sequence_[index(opposite(from))] + static_cast<std::uint32_t>(octets);
    pass(segment);
  }
  /// Octets that never come.
  void acknowledge_in_vain(Direction from, std::size_t octets) {
    acknowledge(from, octets);
    time += 10'000'000;
    acknowledge(from, octets);
  }
  void close(Direction from, std::size_t sent) {
    capture::Segment segment = blank(from);
    segment.sequence = sequence_[index(from)] + static_cast<std::uint32_t>(sent);
    segment.fin = true;
    pass(segment);
  }
  void pass(const capture::Segment& segment) { analyzer.segment(segment, ++frame, time += 1000); }
  [[nodiscard]] capture::Segment blank(Direction from) const {
    capture::Segment segment;
    segment.flow = {client, server};
    if (from == Direction::from_second) segment.flow = segment.flow.reversed();
    segment.sequence = sequence_[index(from)];
    return segment;
  }

  Record record;
  Analyzer analyzer;
  capture::Endpoint client, server;
  std::uint32_t frame = 0;
  std::uint64_t time = 1;

 private:
  static std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }
  std::array<std::uint32_t, 2> sequence_{};
};

constexpr Direction to_server = Direction::from_first, to_client = Direction::from_second;
constexpr std::uint8_t flag_m = wire::MpaFlags::m, flag_c = wire::MpaFlags::c;

/// Two ends that have settled Markers and CRCs; the client is the Initiator.
struct Pair {
  Pair(bool client_markers, bool server_markers, bool crc = true)
      : client(client_markers, crc), server(server_markers, crc) {
    const std::uint8_t c = crc ? flag_c : 0;
    // M asks the other end for Markers.
    client.startup(wire::MpaFrameKind::request,
                   static_cast<std::uint8_t>(c | (server_markers ? flag_m : 0)), 3);
    server.startup(wire::MpaFrameKind::reply,
                   static_cast<std::uint8_t>(c | (client_markers ? flag_m : 0)), 7);
  }
  /// Startup only, each frame in a segment of its own.
  void start(Link& link, std::uint16_t mss = 0) const {
    link.open(mss);
    link.carry(to_server, client.octets, 0, client.origin);
    link.carry(to_client, server.octets, 0, server.origin);
  }
  Sender client, server;
};

}  // namespace dissectors::analyzer::tests
