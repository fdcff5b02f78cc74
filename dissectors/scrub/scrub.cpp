// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/scrub/scrub.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "dissectors/scrub/kept_octets.hpp"
#include "dissectors/scrub/neutral_frame.hpp"

namespace dissectors::scrub {

namespace {

using analyzer::Connection;
using analyzer::Direction;
using capture::CaptureReader;
using capture::FrameView;
using capture::Segment;

/// A finding without the addresses and the texts, which may show payload.
struct FoundHere {
  std::string rule;
  std::uint64_t connection = 0, offset = 0;
  std::uint32_t frame = 0;
  Direction direction = Direction::from_first;
  auto operator<=>(const FoundHere&) const = default;
};

/// Judges, and remembers what may be kept of each stream.
class Reading final : public analyzer::Sink {
 public:
  explicit Reading(const std::vector<std::uint16_t>& ports)
      : analyzer_(analyzer::Options(), *this) {
    for (const std::uint16_t port : ports) analyzer_.treat_as_iwarp(port);
  }

  void segment(const Segment& segment, std::uint32_t frame, std::uint64_t time) {
    frame_ = frame;
    analyzer_.segment(segment, frame, time);
  }
  void finish() { analyzer_.finish(); }

  void opened(const Connection& connection) override {
    const capture::Flow flow{connection.first, connection.second};
    opened_[flow.canonical()][frame_] = connection.number;
    first_[connection.number] = connection.first;
    ++connections_;
  }
  void mpa_frame(const Connection& connection, const analyzer::MpaFrameSeen& seen) override {
    of(connection.number, seen.place.direction).keep(seen.place.offset, without_private_data(seen));
  }
  void fpdu(const Connection& connection, const analyzer::FpduSeen& seen) override {
    of(connection.number, seen.place.direction).keep(seen.place.offset, without_payload(seen));
  }
  void finding(const Connection& connection, const analyzer::Finding& found) override {
    findings_.push_back({.rule = std::string(found.rule.id),
                         .connection = connection.number,
                         .offset = found.place.offset,
                         .frame = found.place.first_frame,
                         .direction = found.place.direction});
  }

  /// The connection of a segment: the last that was opened between these ends by then.
  [[nodiscard]] std::optional<std::uint64_t> connection(const Segment& segment,
                                                        std::uint32_t frame) const {
    const auto flow = opened_.find(segment.flow.canonical());
    if (flow == opened_.end()) return std::nullopt;
    auto later = flow->second.upper_bound(frame);
    if (later == flow->second.begin()) return std::nullopt;
    return std::prev(later)->second;
  }
  [[nodiscard]] Direction direction(const Segment& segment, std::uint64_t connection) const {
    return segment.flow.from == first_.at(connection) ? Direction::from_first
                                                      : Direction::from_second;
  }
  KeptOctets& of(std::uint64_t connection, Direction direction) {
    return kept_[connection][static_cast<std::size_t>(direction)];
  }
  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  [[nodiscard]] std::vector<FoundHere> findings() const {
    auto sorted = findings_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  std::uint32_t frame_ = 0;
  std::uint64_t connections_ = 0;
  std::map<capture::Flow, std::map<std::uint32_t, std::uint64_t>> opened_;
  std::map<std::uint64_t, capture::Endpoint> first_;
  std::map<std::uint64_t, std::array<KeptOctets, 2>> kept_;
  std::vector<FoundHere> findings_;
  analyzer::Analyzer analyzer_;
};

/// Calls `take(frame number, frame, segment or null)` for each frame of the file.
template <class Take>
std::expected<void, std::string> each_frame(CaptureReader& reader, const Take& take) {
  while (const auto frame = reader.next()) {
    const auto segment = capture::parse_segment(reader.link(), frame->octets);
    take(static_cast<std::uint32_t>(reader.frames()), *frame, segment ? &*segment : nullptr);
  }
  if (const auto& tear = reader.tear())
    return std::unexpected(
        fmt::format("the capture is torn after {} frames ({}); cut off the torn end first",
                    tear->frames, tear->reason));
  return {};
}

/// Where the streams begin, as TCP reassembly counts: after the SYN, or at the first octet seen.
class Origins {
 public:
  /// The offset of the segment's payload in its stream; nothing if it is before its beginning.
  std::optional<std::uint64_t> offset(std::uint64_t connection, Direction direction,
                                      const Segment& segment) {
    const std::uint32_t number = segment.sequence + (segment.syn ? 1 : 0);
    const auto [found, fresh] =
        streams_.try_emplace({connection, direction}, Stream{number, std::uint64_t{0}});
    Stream& stream = found->second;
    // Sequence numbers wrap: the offset that is nearest to the furthest one so far is meant.
    const auto expected = static_cast<std::uint32_t>(stream.origin + stream.furthest);
    const std::int64_t offset =
        static_cast<std::int64_t>(stream.furthest) + static_cast<std::int32_t>(number - expected);
    if (offset < 0) return std::nullopt;
    stream.furthest = std::max(stream.furthest, static_cast<std::uint64_t>(offset));
    return static_cast<std::uint64_t>(offset);
  }

 private:
  struct Stream {
    std::uint32_t origin = 0;
    std::uint64_t furthest = 0;
  };
  std::map<std::pair<std::uint64_t, Direction>, Stream> streams_;
};

class Writing {
 public:
  explicit Writing(Reading& reading) : reading_(reading) {
    scrubbed_.file = capture::pcap_header(capture::LinkType::ethernet);
  }

  void frame(std::uint32_t number, const FrameView& frame, const Segment* segment) {
    ++scrubbed_.frames;
    const capture::Frame made =
        segment == nullptr ? empty_frame(frame.time) : of_segment(number, frame, *segment);
    capture::append_pcap_frame(
        scrubbed_.file,
        {.time = made.time, .original_length = made.original_length, .octets = made.octets});
  }
  Scrubbed finish() {
    scrubbed_.connections = reading_.connections();
    scrubbed_.addresses = names_.size();
    return std::move(scrubbed_);
  }

 private:
  capture::Frame of_segment(std::uint32_t number, const FrameView& frame, const Segment& segment) {
    ++scrubbed_.segments;
    std::vector<std::byte> payload(segment.payload.size());
    const auto connection = reading_.connection(segment, number);
    const bool counts = segment.syn || segment.payload_length > 0;
    if (connection && counts) {
      const Direction direction = reading_.direction(segment, *connection);
      const auto offset = origins_.offset(*connection, direction, segment);
      if (offset) reading_.of(*connection, direction).copy_to(*offset, payload);
    }
    return neutral_frame(segment, names_, payload, frame.time);
  }

  Reading& reading_;
  Origins origins_;
  Pseudonyms names_;
  Scrubbed scrubbed_;
};

std::expected<void, std::string> judge(CaptureReader& reader, Reading& reading) {
  const auto read =
      each_frame(reader, [&](std::uint32_t number, const FrameView& frame, const Segment* segment) {
        if (segment != nullptr) reading.segment(*segment, number, frame.time);
      });
  if (read) reading.finish();
  return read;
}

/// Why the result is not to be given away; nothing if the judge finds the same in it.
std::optional<std::string> difference(const Reading& before, const Reading& after) {
  const auto was = before.findings(), is = after.findings();
  if (was == is) return std::nullopt;
  const auto [left, right] = std::ranges::mismatch(was, is);
  const FoundHere& one = left != was.end() ? *left : *right;
  return fmt::format(
      "the judge finds something else without the payload (first {} in frame {} of connection {}), "
      "so nothing is written; `rnic-lint --split` helps to share a part",
      one.rule, one.frame, one.connection);
}

}  // namespace

std::expected<Scrubbed, std::string> scrub(const std::string& capture,
                                           const std::vector<std::uint16_t>& ports) {
  auto reader = CaptureReader::open(capture);
  if (!reader) return std::unexpected(reader.error());
  Reading before(ports);
  if (auto read = judge(*reader, before); !read) return std::unexpected(read.error());

  reader = CaptureReader::open(capture);
  if (!reader) return std::unexpected(reader.error());
  Writing writing(before);
  const auto written =
      each_frame(*reader, [&](std::uint32_t number, const FrameView& frame,
                              const Segment* segment) { writing.frame(number, frame, segment); });
  if (!written) return std::unexpected(written.error());
  Scrubbed scrubbed = writing.finish();

  auto again = CaptureReader::read_from(capture::octets_in_memory(scrubbed.file), "the result");
  if (!again) return std::unexpected(again.error());
  Reading after(ports);
  if (auto read = judge(*again, after); !read) return std::unexpected(read.error());
  if (const auto fault = difference(before, after)) return std::unexpected(*fault);
  scrubbed.findings = before.findings().size();
  return scrubbed;
}

}  // namespace dissectors::scrub
