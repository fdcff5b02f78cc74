// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// MPA framing of one connection: octets of both directions in, startup frames and FPDUs out, with
// the rules of their form checked. Finds FPDUs again where the beginning or the middle was not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dissectors/analyzer/fpdu_shape.hpp"
#include "dissectors/analyzer/framing_rules.hpp"
#include "dissectors/analyzer/tcp_reassembly.hpp"

namespace dissectors::analyzer {

/// Takes what the framing finds. Calls come in stream order within a direction.
class FramingListener {
 public:
  virtual ~FramingListener() = default;
  virtual void mpa_frame(const MpaFrameSeen& frame) = 0;
  virtual void fpdu(const FpduSeen& fpdu) = 0;
  /// Octets of this direction will not be seen as FPDUs.
  virtual void hole(Direction direction, const Place& place) = 0;
  virtual void finding(const Finding& finding) = 0;
  virtual void note(const Note& note) = 0;
};

/// Room for one FPDU freed of its Markers: one serves all connections of a thread.
struct FramingScratch {
  std::vector<std::byte> octets = std::vector<std::byte>(rnic::wire::fpdu_size(65535) + 4);
  std::vector<MarkerSeen> markers;
  FpduSeen seen;  ///< of the FPDU that is read now
};

/// Why nothing more comes in a direction.
enum class Rest : std::uint8_t {
  unknown,     ///< the capture is over: what is missing may have come later
  ended,       ///< the connection is
  all_seen,    ///< its end closed it, and a participant has received everything before
  none_comes,  ///< a participant has waited, and nothing came
};

/// Held at most, per direction: 192 KiB while searching or waiting for the peer's startup frame,
/// one FPDU (about 66 KiB) while its segments come in.
class MpaFraming final : private RuleReporter {
 public:
  /// `pick_up`: take a connection for iWARP whose startup was not seen, where its octets fit.
  MpaFraming(FramingListener& listener, FramingScratch& scratch, JudgedChecks& judged,
             bool pick_up);

  /// Decode As: never give the connection up.
  void force_iwarp() { forced_ = true; }
  /// Whatever the end that sends in this direction sends first is judged as this frame, and what the
  /// other end sends is known as it happens.
  void expects(Direction from, rnic::wire::MpaFrameKind kind) { half(from).owed = kind; }
  /// A direction that is not read: the startup frame that its end, the tester, means to have sent.
  void sent_startup(const MpaFrameSeen& frame);
  /// The EMSS, now, of the end that sends in this direction.
  void emss(Direction from, std::size_t octets) { half(from).rules.emss(octets); }
  /// The end that sends in this direction announced its MSS, for the other one to keep to.
  void announced_mss(Direction from, std::uint16_t mss);
  /// A segment of this direction, for the window that it advertises and what its SYN offers.
  void advertised(Direction from, const capture::Segment& segment);
  /// How far after the last octet received this direction's octets can be.
  [[nodiscard]] std::uint64_t reach(Direction from) { return half(from).rules.window().reach(); }
  /// The stream begins here: `from_syn` if the connection's first octets are to come.
  void begins(Direction direction, bool from_syn, std::uint32_t origin_sequence);
  void octets(Direction direction, const Chunk& chunk);
  void hole(Direction direction, std::uint64_t offset, std::uint64_t length,
            const SegmentFacts& by);
  /// Nothing more comes in this direction: judges the rest as far as possible.
  void finish(Direction direction, Rest rest);
  /// Part of an FPDU has come, and the rest has not.
  [[nodiscard]] bool within_fpdu(Direction direction) const {
    const Half& at = halves_[static_cast<std::size_t>(direction)];
    return at.phase == Phase::operation && at.assembly.active;
  }

  /// Some octets were taken for MPA.
  [[nodiscard]] bool is_iwarp() const { return is_iwarp_; }
  /// It was reported that the connection is not iWARP.
  [[nodiscard]] bool given_up() const { return given_up_; }
  /// Octets in buffers.
  [[nodiscard]] std::size_t memory() const;

 private:
  /// Wrong CRCs of one direction that are looked into: a stream of nothing else must cost no more.
  static constexpr int most_diagnoses = 256;
  enum class Phase : std::uint8_t {
    startup,        ///< a Request or Reply Frame may come
    awaiting_peer,  ///< own frame seen; what follows cannot be read before the peer's is known
    operation,      ///< FPDUs, and where they begin is known
    searching,      ///< FPDUs, and where they begin is not known
    given_up,       ///< nothing of ours, as long as no startup frame turns up
  };
  /// An FPDU or startup frame whose octets come in several segments.
  struct Assembly {
    std::vector<std::byte> octets;  ///< captured of it, up to the first octet that was not
    std::uint64_t begin = 0;
    std::uint64_t length = 0;   ///< octets of the stream so far
    std::uint64_t awaited = 0;  ///< octets that another reading than the presumed one needs
    SegmentFacts first, last;
    bool active = false;
    [[nodiscard]] bool cut() const { return octets.size() < length; }
  };
  /// Octets set aside, with the segments they came in.
  struct Store {
    std::vector<std::byte> octets;
    std::uint64_t begin = 0;
    std::vector<Chunk> pieces;  ///< what came, without the octets
    [[nodiscard]] std::uint64_t end() const { return begin + octets.size(); }
  };
  struct Startup {
    rnic::wire::MpaFrameKind kind;
    rnic::wire::MpaFlags flags;
    std::array<std::byte, 4> checksum;  ///< CRC32c of the frame: a mistake to look for
  };
  struct Half {
    Direction direction = Direction::from_first;
    Phase phase = Phase::startup;
    bool from_syn = false;
    bool startup_lost = false;  ///< its startup frame will not be seen
    /// What begins here has a key but was no startup frame: it is not looked at as one again.
    std::optional<std::uint64_t> refused_startup;
    bool capture_over = false;  ///< what is missing may have come later
    /// The frame that has to come first, where the roles of the ends are known.
    std::optional<rnic::wire::MpaFrameKind> owed;
    std::uint64_t unread = 0;  ///< octets of a startup frame too long to be one: passed over
    std::uint32_t origin_sequence = 0;
    std::optional<Startup> startup;
    Known known;
    std::uint64_t origin = 0;       ///< offset of position 0 of Full Operation, or of a Marker
    std::uint64_t crcs = 0;         ///< octets of CRC fields since then
    bool crcs_not_counted = false;  ///< its Markers stand as if CRC fields took no room
    Certainty certainty = Certainty::certain;
    bool any_fpdu = false, follows_hole = false, length_swapped = false;
    bool no_crc_field = false;          ///< its sender leaves the field out
    int doubtful = 0;                   ///< implausible FPDUs in a row
    bool unrequested_reported = false;  ///< Markers came though the peer wants none
    int diagnoses = 0, relayouts = 0;
    std::uint64_t without_marker = 0;  ///< octets followed since found again, no Marker in them
    Assembly assembly;
    Store store;
    std::size_t scanned = 0;     ///< octets of the store when it was last searched throughout
    std::uint64_t searched = 0;  ///< octets searched without success since it began
    int aligned_cuts = 0;        ///< cut segments in a row that were one plausible FPDU each
    FramingRules rules;
    /// A right FPDU without Markers is what is expected here, and changes nothing of all this but what
    /// is counted.
    [[nodiscard]] bool settled() const {
      return any_fpdu && known.markers == false && known.crc == true && !length_swapped &&
             !no_crc_field && !crcs_not_counted && !assembly.active;
    }
    [[nodiscard]] MarkerMistakes marker_mistakes() const {
      return {.origin_sequence = static_cast<std::uint32_t>(origin_sequence + origin),
              .crcs = crcs};
    }
  };
  /// Octets of one piece: what there is of an FPDU and after it.
  struct Piece {
    Bytes octets;          ///< captured
    std::uint64_t offset;  ///< of the stream
    std::uint64_t length;  ///< on the wire
    const SegmentFacts &first, &last;
  };

  Half& half(Direction direction) { return halves_[static_cast<std::size_t>(direction)]; }
  /// What was evaluated on this direction.
  CheckSet& judged(Direction direction) { return (*judged_)[static_cast<std::size_t>(direction)]; }
  void judged_by_crc(Half& at, const Shape& shape);
  Half& peer(const Half& of) { return half(opposite(of.direction)); }

  // Startup.
  void startup_octets(Half& at, const Chunk& chunk);
  void take_startup_frame(Half& at, std::size_t size);
  void settle(Half& at);
  void settle_without_peer(Half& at);
  [[nodiscard]] std::optional<Certainty> sent_early(Half& at);
  void judge_early_octets(Half& at, Certainty certainty);
  void set_aside(Half& at, const Chunk& chunk);
  void no_startup(Half& at);
  void wrong_key(Half& at);

  // Full Operation.
  void operate(Half& at, const Chunk& chunk);
  std::uint64_t take_right_fpdus(Half& at, const Chunk& chunk, std::uint64_t done);
  std::uint64_t assemble(Half& at, const Chunk& chunk);
  void begin_assembly(Half& at, const Chunk& chunk);
  [[nodiscard]] std::optional<Shape> presumed(const Half& at, Bytes octets,
                                              std::uint64_t offset) const;
  std::uint64_t take_fpdu(Half& at, const Piece& piece, const Shape& shape);
  std::uint64_t take_unconfirmed(Half& at, const Piece& piece, const Shape& shape, FpduSeen& seen);
  std::uint64_t unfitting(Half& at, const Piece& piece, const Shape& shape, FpduSeen& seen);
  std::uint64_t await(Half& at, const Piece& piece, std::size_t octets);
  std::uint64_t explained(Half& at, const Piece& piece, const Diagnosis& diagnosis, FpduSeen& seen);
  std::uint64_t unexplained(Half& at, const Piece& piece, const Shape& shape, FpduSeen& seen);
  void emit(Half& at, const Piece& piece, const Shape& shape, FpduSeen& seen);
  void pass_on(Half& at, const FramedFpdu& fpdu);
  void split(Bytes octets, const Shape& shape, std::uint64_t offset, FpduSeen& seen);
  void finish_assembly(Half& at, Rest rest);
  void check_key(const MpaFrameSeen& frame);
  void check_turn(const MpaFrameSeen& frame, const SegmentFacts& by);
  void check_private_data(const MpaFrameSeen& frame, std::uint16_t pd_length);
  bool skip_startup_crc(Half& at, const Chunk& chunk);
  void markers_begin(Half& at, const Place& place, std::string actual);
  void still_swapped(const Half& at, const Piece& piece, const Shape& shape);
  Shape without_trailer(Half& at, const Piece& piece, const Shape& shape);
  Shape still_without_trailer(Half& at, const Piece& piece, const Shape& shape);
  void crc_field_missing(const Place& place, std::string actual, Certainty certainty);
  void lose(Half& at, const Place& place, std::string why);
  void after_fpdu(Half& at, const Shape& shape);

  // Searching.
  void search(Half& at, const Chunk& chunk);
  void append(Half& at, const Chunk& chunk);
  bool search_aligned_cut(Half& at, const Chunk& chunk);
  bool find(Half& at, bool throughout);
  [[nodiscard]] static bool fits(const Half& at, std::size_t index);
  [[nodiscard]] static std::optional<std::size_t> first_fit(const Half& at, std::size_t until);
  [[nodiscard]] static std::optional<std::size_t> by_segments(const Half& at);
  [[nodiscard]] static std::optional<std::size_t> by_markers(const Half& at);
  void found_at(Half& at, std::size_t index, const Fit& fit);
  void feed_store(Half& at, std::size_t index);
  void trim(Half& at);
  void give_up(Half& at, const Place& place);
  void look_for_startup(Half& at, const Chunk& chunk);

  void broken(const Statement& statement, const Place& place, std::string actual,
              std::string admissible, Certainty certainty) override;
  void not_judged(const Place& place, std::string why) override;
  void note(NoteKind kind, const Place& place, std::string text);

  FramingListener* listener_;
  FramingScratch* scratch_;
  JudgedChecks* judged_;
  bool pick_up_;
  bool forced_ = false, is_iwarp_ = false, given_up_ = false;
  int nested_ = 0;  ///< stores being fed
  std::array<Half, 2> halves_;
};

}  // namespace dissectors::analyzer
