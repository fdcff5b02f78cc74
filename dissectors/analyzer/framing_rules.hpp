// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of RFC 5044 that the form of FPDUs shows kept or broken: length, pad, CRC, Markers,
// sizes, and how FPDUs lie in TCP segments.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "dissectors/analyzer/checks.hpp"
#include "dissectors/analyzer/fpdu_shape.hpp"
#include "dissectors/analyzer/receive_window.hpp"
#include "dissectors/analyzer/tcp_reassembly.hpp"

namespace dissectors::analyzer {

/// The checks of framing.
namespace framing {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(framing, name, __VA_ARGS__)
#include "dissectors/analyzer/framing_rules.def"
#undef ANALYZER_CHECK
}  // namespace framing

/// Why a CRC does not fit, as far as the octets show: with one other reading it does.
struct Diagnosis {
  Statement broken;
  std::string actual, admissible;
  Shape shape;  ///< as the sender means it
  /// The FPDU's octets are right except for what `broken` names: `shape` is the right one.
  bool layout_differs = false;
  /// The whole direction has Markers, or has none, contrary to the negotiation.
  bool direction_differs = false;
  bool length_swapped = false;    ///< ULPDU_Length is little-endian in this direction
  bool crcs_not_counted = false;  ///< Markers in this direction stand as if CRC fields took no room
};

/// Places of Markers in a direction that a sender may have taken for the right ones.
struct MarkerMistakes {
  std::uint32_t origin_sequence = 0;  ///< the TCP sequence number at position 0
  std::uint64_t crcs = 0;             ///< octets of CRC fields since position 0
};

/// Explains an FPDU whose CRC does not fit its presumed shape; nothing if no reading tried makes it
/// fit. `octets` begin with it and may continue after it.
[[nodiscard]] std::optional<Diagnosis> diagnose(Bytes octets, const Shape& presumed,
                                                const MarkerMistakes& mistakes);
/// Explains an FPDU whose CRC fits, but which has no Marker where one is due: they are at other places.
[[nodiscard]] std::optional<Diagnosis> diagnose_places(Bytes octets, const Shape& presumed,
                                                       const MarkerMistakes& mistakes);
/// An FPDU whose CRC does not fit and which diagnose() cannot explain may continue after `octets`:
/// with Markers that were not presumed, or without those that were. Returns the octets that the
/// shortest such reading needs that agrees with all octets so far; nothing if none does.
[[nodiscard]] std::optional<std::size_t> longer_reading(Bytes octets, const Shape& presumed,
                                                        const MarkerMistakes& mistakes);

/// The place of a judged FPDU, in addition to FpduSeen.
struct FramedFpdu {
  const FpduSeen& seen;
  Shape shape;
  const SegmentFacts &first, &last;
  bool first_of_direction = false;
  bool follows_hole = false;          ///< what stood before it in the direction was not seen
  CheckSet& judged;                   ///< takes what is evaluated
  std::uint32_t origin_sequence = 0;  ///< the TCP sequence number of offset 0
};

/// Says what is broken. The reader's sentences are made only then.
class RuleReporter {
 public:
  virtual ~RuleReporter() = default;
  virtual void broken(const Statement& statement, const Place& place, std::string actual,
                      std::string admissible, Certainty certainty) = 0;
  virtual void not_judged(const Place& place, std::string why) = 0;
};

/// The state of these rules for one direction.
class FramingRules {
 public:
  /// The other end announced its MSS in its SYN.
  void announced_mss(std::uint16_t mss) {
    mss_ = mss;
    set_limits();
  }
  /// The sender's present EMSS, which only an end of the connection can know. Segments that were
  /// cut before it shrank may still come, so the largest counts.
  void emss(std::size_t octets) {
    emss_ = octets;
    largest_emss_ = std::max(largest_emss_, octets);
    set_limits();
  }
  /// The receive window of the other end.
  [[nodiscard]] ReceiveWindow& window() { return window_; }
  /// To be called for each FPDU, in stream order.
  void fpdu(const FramedFpdu& fpdu, RuleReporter& reporter);
  /// The octets before the next FPDU are not known: alignment and Markers are judged from it on.
  void hole() { first_behind_marker_.reset(); }

 private:
  /// The MULPDU of the largest segment that may come, and of one that is sent now; 0 where neither
  /// the MSS nor the EMSS is known.
  struct Limits {
    std::size_t most = 0, now = 0;
  };

  void set_limits();
  void remember_start(const FramedFpdu& fpdu);
  void check_pad(const FramedFpdu& fpdu, RuleReporter& reporter) const;
  void check_sizes(const FramedFpdu& fpdu, RuleReporter& reporter);
  void check_markers(const FramedFpdu& fpdu, RuleReporter& reporter) const;
  void check_pointer(const FramedFpdu& fpdu, const MarkerSeen& marker,
                     RuleReporter& reporter) const;
  void check_alignment(const FramedFpdu& fpdu, RuleReporter& reporter);
  void check_fullness(const FramedFpdu& fpdu, RuleReporter& reporter);
  [[nodiscard]] bool segments_are_real(const FramedFpdu& fpdu, RuleReporter& reporter);
  [[nodiscard]] bool cut_by_window(const FramedFpdu& fpdu) const;

  std::uint16_t mss_ = 0;
  std::size_t emss_ = 0, largest_emss_ = 0;
  std::array<Limits, 2> limits_;  ///< without and with Markers
  ReceiveWindow window_;
  bool offloaded_ = false;       ///< segments longer than the MSS: merged before the capture
  bool alignment_lost_ = false;  ///< said already; until alignment is regained
  bool half_full_ = false;       ///< said already
  /// Where the first FPDU after the last Marker began: the target of a common mistake.
  std::optional<std::uint64_t> first_behind_marker_;
};

}  // namespace dissectors::analyzer
