// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what is done with the FPDUs that arrive: their Markers and boundaries (RFC 5044
// sections 4 to 6 and 8).
#include <optional>
#include <utility>

#include "reference_rnic/deviants/arrived_fpdu.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/deframer.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates
using wire::FpduError;

std::uint16_t ulpdu_length(wire::Bytes fpdu) {
  return wire::Reader(fpdu).read<wire::be16>().value();
}

// ---- FPDUs that are right ----

/// Refuses an FPDU that is right.
struct RefusesGoodFpdu : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) final {
    if (!arrived.parsed) return;
    if (const auto error = fault_of(arrived)) refuse(outcome, framing_fault(*error));
  }
  virtual std::optional<FpduError> fault_of(const ArrivedFpdu& arrived) = 0;
};

struct CrcCheckLeavesMarkersOut : RefusesGoodFpdu {
  std::optional<FpduError> fault_of(const ArrivedFpdu& arrived) override {
    const bool has_markers =
        arrived.parsed->consumed != wire::fpdu_size(arrived.parsed->ulpdu.size());
    if (has_markers && arrived.options.crc) return FpduError::bad_crc;
    return std::nullopt;
  }
};

struct ZeroFpduptrRefused : RefusesGoodFpdu {
  std::optional<FpduError> fault_of(const ArrivedFpdu& arrived) override {
    const wire::FpduOptions& options = arrived.options;
    if (options.markers && wire::marker_at(options.position) && options.position != 0)
      return FpduError::bad_marker;
    return std::nullopt;
  }
};

/// Refuses one of the Markers of an FPDU.
struct RefusesMarker : RefusesGoodFpdu {
  std::optional<FpduError> fault_of(const ArrivedFpdu& arrived) override {
    if (!arrived.options.markers) return std::nullopt;
    for (std::size_t at = wire::octets_to_marker(arrived.options.position);
         at + sizeof(wire::Marker) <= arrived.wire_size; at += wire::marker_interval)
      if (refused(wire::Reader(arrived.octets.subspan(at)).read<wire::Marker>()))
        return FpduError::bad_marker;
    return std::nullopt;
  }
  [[nodiscard]] virtual bool refused(const wire::Marker& marker) const = 0;
};

struct RefusesMarkerReservedBits : RefusesMarker {
  [[nodiscard]] bool refused(const wire::Marker& marker) const override {
    return marker.reserved.value() != 0;
  }
};

struct RefusesMarkerLowBits : RefusesMarker {
  [[nodiscard]] bool refused(const wire::Marker& marker) const override {
    return marker.fpdu_pointer.value() % 4 != 0;
  }
};

struct RefusesNonzeroPad : RefusesGoodFpdu {
  std::optional<FpduError> fault_of(const ArrivedFpdu& arrived) override {
    if (arrived.parsed->pad_is_zero) return std::nullopt;
    return FpduError::bad_crc;
  }
};

struct PadTakenForPayload : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (!arrived.parsed || !arrived.verified() || arrived.options.markers) return;
    const std::size_t length = arrived.parsed->ulpdu.size();
    outcome.ulpdus.assign(
        1, arrived.octets.subspan(wire::fpdu_length_size, length + wire::pad_length(length)));
  }
};

struct NextFpduSoughtTooEarly : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (outcome.consumed != 0 && arrived.parsed &&
        wire::pad_length(arrived.parsed->ulpdu.size()) == 2)
      outcome.consumed -= 2;
  }
};

struct FpdusOfOneReadSwapped : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (!arrived.parsed || arrived.options.markers || outcome.consumed == 0) return;
    const wire::FpduOptions options{.crc = arrived.options.crc};
    const auto next =
        wire::parse_fpdu(arrived.octets.subspan(arrived.parsed->consumed), options, {});
    if (!next) return;
    outcome.ulpdus.insert(outcome.ulpdus.begin(), next->ulpdu);
    outcome.consumed += next->consumed;
  }
};

// ---- Markers that are wrong ----

struct WrongMarkerTaken : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (!failed_with(arrived, FpduError::bad_marker) || !overlooked(arrived)) return;
    stripped_.resize(arrived.wire_size);
    const wire::Bytes octets = octets_of(arrived);
    const auto left = wire::strip_markers(stripped_, arrived.options.position, octets);
    const wire::Bytes fpdu = wire::Bytes(stripped_).first(left.length);
    take(outcome, fpdu.subspan(wire::fpdu_length_size, ulpdu_length(fpdu)), octets.size());
  }
  [[nodiscard]] virtual bool overlooked(const ArrivedFpdu&) const { return true; }

 private:
  std::vector<std::byte> stripped_;
};

struct FirstMarkerCheckedOnly : WrongMarkerTaken {
  [[nodiscard]] bool overlooked(const ArrivedFpdu& arrived) const override {
    const std::size_t at = wire::octets_to_marker(arrived.options.position);
    const auto marker = wire::Reader(arrived.octets.subspan(at)).read<wire::Marker>();
    return (marker.fpdu_pointer.value() & ~3U) == at;
  }
};

/// A receiver that compares Markers as TCP segments arrive, and not when a gap has closed.
struct MarkerAfterAGapUnchecked : WrongMarkerTaken {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    waited_ = left_ == arrived.octets.size();
    WrongMarkerTaken::fpdu_arrived(arrived, outcome);
    left_.reset();
    if (outcome.consumed != 0) left_ = arrived.octets.size() - outcome.consumed;
  }
  [[nodiscard]] bool overlooked(const ArrivedFpdu&) const override { return waited_; }

 private:
  /// Octets after the FPDU that was accepted last.
  std::optional<std::size_t> left_;
  /// The first FPDU arrived together with the one before it.
  bool waited_ = false;
};

// ---- FPDUs of which a part has arrived ----

/// Refuses the beginning of an FPDU.
struct RefusesPiece : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) final {
    if (!failed_with(arrived, FpduError::incomplete) || arrived.octets.empty()) return;
    if (auto fault = fault_of(arrived)) refuse(outcome, std::move(*fault));
  }
  virtual std::optional<Fault> fault_of(const ArrivedFpdu& arrived) = 0;
};

struct FirstFpduNeedsOneRead : RefusesPiece {
  std::optional<Fault> fault_of(const ArrivedFpdu& arrived) override {
    if (!arrived.verified() || arrived.options.position != 0) return std::nullopt;
    return framing_fault(FpduError::bad_crc);
  }
};

struct FpduCutInHeaderRefused : RefusesPiece {
  std::optional<Fault> fault_of(const ArrivedFpdu& arrived) override {
    if (!arrived.verified() || arrived.octets.size() >= wire::tagged_header_size)
      return std::nullopt;
    return framing_fault(FpduError::bad_crc);
  }
};

struct HeaderInPiecesRefused : RefusesPiece {
  std::optional<Fault> fault_of(const ArrivedFpdu& arrived) override {
    if (arrived.octets.size() >= wire::fpdu_length_size + wire::tagged_header_size)
      return std::nullopt;
    return truncation_fault();
  }
};

struct FpduBeyondEmssRefused : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (arrived.verified() && arrived.wire_size > arrived.config.emss)
      refuse(outcome, truncation_fault());
  }
};

/// Treats a good FPDU that has arrived in pieces in another way.
class MistakesPieces : public Decisions {
 public:
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) final {
    if (failed_with(arrived, FpduError::incomplete))
      in_pieces_ = !arrived.octets.empty();
    else if (arrived.parsed && std::exchange(in_pieces_, false))
      whole(arrived, outcome);
  }
  virtual void whole(const ArrivedFpdu& arrived, FpduOutcome& outcome) = 0;

 private:
  bool in_pieces_ = false;
};

struct CrcRestartsAtEachRead : MistakesPieces {
  void whole(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (arrived.options.crc) refuse(outcome, framing_fault(FpduError::bad_crc));
  }
};

struct SegmentOfSeveralReadsTakenTwice : MistakesPieces {
  void whole(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (arrived.verified()) outcome.ulpdus.push_back(outcome.ulpdus.front());
  }
};

/// Half an FPDU counts as the Initiator's first one.
struct HalfAnFpduLetsItSend : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome&) override {
    begun_ = begun_ || !arrived.octets.empty();
  }
  void may_send_fpdus(State, bool& permitted) override { permitted = permitted || begun_; }

 private:
  bool begun_ = false;
};

/// A receiver that expects TCP segments to begin with FPDUs: if the octets of the last read are a
/// whole FPDU, it drops what waits before them.
struct FpduSoughtAtSegmentStart : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    const std::size_t before = std::exchange(waiting_, 0);
    if (failed_with(arrived, FpduError::incomplete)) waiting_ = arrived.octets.size();
    if (!arrived.verified() || before == 0 || arrived.octets.size() <= before) return;
    const wire::FpduOptions options{.crc = arrived.options.crc};
    if (!wire::parse_fpdu(arrived.octets.subspan(before), options, {})) return;
    drop(outcome, before);
    waiting_ = 0;
  }

 private:
  std::size_t waiting_ = 0;
};

/// Passes on FPDUs of which only the CRC has not arrived.
class DeliversBeforeCrcField : public Decisions {
 public:
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) final {
    if (arrived.parsed && std::exchange(delivered_, false)) outcome.ulpdus.clear();
    if (!failed_with(arrived, FpduError::incomplete) || !arrived.verified()) return;
    if (delivered_ || arrived.options.markers || arrived.wire_size == 0 ||
        arrived.octets.size() + wire::fpdu_crc_size < arrived.wire_size)
      return;
    const wire::Bytes ulpdu =
        arrived.octets.subspan(wire::fpdu_length_size, ulpdu_length(arrived.octets));
    const auto segment = wire::parse_segment(ulpdu);
    if (!segment || !early(*segment)) return;
    delivered_ = true;
    outcome.ulpdus.assign(1, ulpdu);
  }

 protected:
  [[nodiscard]] virtual bool early(const wire::Segment&) const { return true; }

 private:
  bool delivered_ = false;  ///< the FPDU at the front
};

template <bool empty>
struct RequestServedEarly : DeliversBeforeCrcField {
  [[nodiscard]] bool early(const wire::Segment& segment) const override {
    return segment.rdmap().opcode() == wire::Opcode::read_request &&
           (wire::Reader(segment.payload).read<wire::ReadRequestHeader>().length == 0) == empty;
  }
};

template <wire::Opcode opcode>
struct MessageTakenEarly : DeliversBeforeCrcField {
  [[nodiscard]] bool early(const wire::Segment& segment) const override {
    return segment.rdmap().opcode() == opcode;
  }
};

// ---- what is checked, and what is not ----

class OneFpduPerRead : public Decisions {
 public:
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (arrived.octets.size() == left_) return drop(outcome, 0);
    left_ = arrived.octets.size() - outcome.consumed;
  }

 private:
  std::size_t left_ = 0;  ///< octets that came with the FPDU taken last, or wait for its rest
};

struct TruncatedSegmentIgnored : Decisions {
  void truncated_segment(std::optional<Fault>& fault) override { fault.reset(); }
};

constexpr StreamRow rows[] = {
    stream_row<CrcCheckLeavesMarkersOut>(Deviation::crc_check_leaves_markers_out),
    stream_row<ZeroFpduptrRefused>(Deviation::zero_fpduptr_refused),
    stream_row<RefusesMarkerReservedBits>(Deviation::refuses_marker_reserved_bits),
    stream_row<RefusesMarkerLowBits>(Deviation::refuses_marker_low_bits),
    stream_row<RefusesNonzeroPad>(Deviation::refuses_nonzero_pad),
    stream_row<PadTakenForPayload>(Deviation::pad_taken_for_payload),
    stream_row<NextFpduSoughtTooEarly>(Deviation::next_fpdu_sought_too_early),
    stream_row<FpdusOfOneReadSwapped>(Deviation::fpdus_of_one_read_swapped),
    stream_row<WrongMarkerTaken>(Deviation::wrong_marker_taken),
    stream_row<FirstMarkerCheckedOnly>(Deviation::first_marker_checked_only),
    stream_row<MarkerAfterAGapUnchecked>(Deviation::marker_after_a_gap_unchecked),
    stream_row<FirstFpduNeedsOneRead>(Deviation::first_fpdu_needs_one_read),
    stream_row<FpduCutInHeaderRefused>(Deviation::fpdu_cut_in_header_refused),
    stream_row<HeaderInPiecesRefused>(Deviation::header_in_pieces_refused),
    stream_row<FpduBeyondEmssRefused>(Deviation::fpdu_beyond_emss_refused),
    stream_row<CrcRestartsAtEachRead>(Deviation::crc_restarts_at_each_read),
    stream_row<SegmentOfSeveralReadsTakenTwice>(Deviation::segment_of_several_reads_taken_twice),
    stream_row<HalfAnFpduLetsItSend>(Deviation::half_an_fpdu_lets_it_send),
    stream_row<FpduSoughtAtSegmentStart>(Deviation::fpdu_sought_at_segment_start),
    stream_row<DeliversBeforeCrcField>(Deviation::delivers_before_crc_field),
    stream_row<RequestServedEarly<false>>(Deviation::request_served_before_it_is_whole),
    stream_row<RequestServedEarly<true>>(Deviation::empty_request_served_before_it_is_whole),
    stream_row<MessageTakenEarly<wire::Opcode::read_response>>(
        Deviation::response_taken_before_it_is_whole),
    stream_row<MessageTakenEarly<wire::Opcode::send>>(Deviation::send_delivered_before_it_is_whole),
    stream_row<OneFpduPerRead>(Deviation::one_fpdu_per_read),
    stream_row<TruncatedSegmentIgnored>(Deviation::truncated_segment_ignored),
};

}  // namespace

std::span<const StreamRow> received_fpdu_deviants() { return rows; }

}  // namespace rnic::deviants
