// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds the frame in the pcap for each line of a case's evidence, from what the lower tester
// recorded of its connections.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissectors/capture/stream_index.hpp"
#include "dissectors/capture/synthesizer.hpp"
#include "suite/cases/framework/outcome.hpp"

namespace suite::runner {

/// The flow of a connection in the tester's own direction.
[[nodiscard]] dissectors::capture::Flow flow_to_iut(const cases::ConnectionRecord& connection);

/// Frames made from the tester's own record, in order of time; `start` is the wall time of the
/// attempt's start in nanoseconds since 1970.
[[nodiscard]] std::vector<dissectors::capture::Frame> synthesize(
    std::span<const cases::ConnectionRecord> connections, std::uint64_t start);

class FrameFinder {
 public:
  FrameFinder(std::span<const cases::ConnectionRecord> connections,
              dissectors::capture::StreamIndex index);

  /// The frame where the octets `hex` begin, sent in this direction at about `at`: our own octets
  /// are noted before they are sent, the IUT's after they have arrived. Without octets, or if the
  /// stream does not contain them in this form, the frame of the last event by then: SYN, data, FIN
  /// or RST.
  [[nodiscard]] std::optional<std::uint32_t> find(cases::Direction direction, cases::Offset at,
                                                  const std::string& hex) const;

 private:
  struct Event {
    cases::Offset at;
    cases::ConnectionRecord::Mark::Kind kind;
    std::uint64_t end;  ///< octets of the stream up to and including it
  };
  struct Stream {
    dissectors::capture::Flow flow;
    cases::Direction direction;
    std::string octets;
    std::vector<Event> events;
  };
  struct Place {
    const Stream* stream = nullptr;
    std::uint64_t offset = 0;
    cases::Offset at{};
  };
  void add(const cases::ConnectionRecord& connection, cases::Direction direction);
  [[nodiscard]] std::optional<Place> find_octets(cases::Direction direction, cases::Offset at,
                                                 std::string_view octets) const;
  using Events = std::vector<Event>::const_iterator;
  static std::optional<Place> sent_since(const Stream& stream, cases::Offset at,
                                         std::string_view octets);
  static std::optional<Place> arrived_by(const Stream& stream, cases::Offset at,
                                         std::string_view octets);
  /// The first place whose last octet belongs to one of these events.
  static std::optional<Place> first_in(const Stream& stream, Events begin, Events end,
                                       std::string_view octets);
  /// Of the latest event before `end` to which the last octet of a place belongs, the first such.
  static std::optional<Place> last_before(const Stream& stream, Events end,
                                          std::string_view octets);
  [[nodiscard]] std::optional<std::uint32_t> frame_of(const Stream& stream,
                                                      const Event& event) const;

  std::vector<Stream> streams_;
  dissectors::capture::StreamIndex index_;
};

}  // namespace suite::runner
