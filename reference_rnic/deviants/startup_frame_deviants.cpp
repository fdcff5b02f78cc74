// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of MPA Request and Reply Frames, sent and received (RFC 5044 section 7.1.1, RFC 6581
// sections 6 and 9).
#include <algorithm>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/wire/crc32c.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates
using wire::MpaFlags;
using wire::MpaFrameError;
using wire::MpaFrameKind;

constexpr std::size_t flags_at = 16, revision_at = 17, pd_length_at = 18, enhanced_at = 20;

std::vector<std::byte> copy(wire::Bytes octets) { return {octets.begin(), octets.end()}; }

// ---- frames that are sent ----

template <MpaFrameKind wrong>
struct KeyWrong : Decisions {
  void startup_octets_leave(const StartupFrame& frame, std::vector<std::byte>& octets) override {
    if (frame.kind == wrong) octets[wire::mpa_key_size - 1] ^= std::byte{0x20};
  }
};

/// S is a reserved bit in revision 1.
std::uint8_t reserved_bits(std::uint8_t revision) {
  return revision >= 2 ? MpaFlags::reserved_mask : MpaFlags::reserved_mask | MpaFlags::s;
}

struct StartupReservedBitsSet : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    frame.flags.octet |= reserved_bits(frame.revision);
  }
};

struct RequestRBitSet : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    if (frame.kind == MpaFrameKind::request) frame.flags.octet |= MpaFlags::r;
  }
};

struct AcceptsByR : Decisions {
  void accepting(const AcceptedRequest&, Acceptance& answer) override {
    answer.reply.flags.octet |= MpaFlags::r;
  }
};

struct RejectsWithRClear : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    if (frame.kind == MpaFrameKind::reply)
      frame.flags.octet &= static_cast<std::uint8_t>(~MpaFlags::r);
  }
};

struct CrcNotRequestedByDefault : Decisions {
  void startup_flags(const Config&, MpaFlags& flags) override {
    flags.octet &= static_cast<std::uint8_t>(~MpaFlags::c);
  }
};

struct RevisionZeroSent : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override { frame.revision = 0; }
};

struct PdLengthOneTooMany : Decisions {
  void startup_octets_leave(const StartupFrame&, std::vector<std::byte>& octets) override {
    octets[pd_length_at + 1] ^= std::byte{1};
  }
};

struct PdLengthLittleEndian : Decisions {
  void startup_octets_leave(const StartupFrame&, std::vector<std::byte>& octets) override {
    std::swap(octets[pd_length_at], octets[pd_length_at + 1]);
  }
};

struct StartupFrameWithCrc : Decisions {
  void startup_octets_leave(const StartupFrame&, std::vector<std::byte>& octets) override {
    const auto crc = wire::crc32c_trailer(octets);
    octets.insert(octets.end(), crc.begin(), crc.end());
  }
};

struct OctetsBeforeTheFirstFpdu : Decisions {
  void startup_octets_leave(const StartupFrame&, std::vector<std::byte>& octets) override {
    // As an FPDU they would have a ULPDU of two octets, which holds no header.
    for (const int octet : {0x00, 0x02, 0x5A, 0x5A})
      octets.push_back(static_cast<std::byte>(octet));
  }
};

// ---- the enhanced words that are sent ----

struct RevisionOneWithEnhancedData : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    if (frame.enhanced) frame.revision = 1;
  }
};

struct EnhancedDataMissing : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override { frame.enhanced.reset(); }
};

struct PdLengthWithoutEnhancedData : Decisions {
  void startup_octets_leave(const StartupFrame& frame, std::vector<std::byte>& octets) override {
    if (!frame.enhanced) return;
    wire::Writer(wire::MutableBytes(octets).subspan(pd_length_at))
        .write(wire::be16(static_cast<std::uint16_t>(frame.private_data.size())));
  }
};

struct EnhancedWordsLittleEndian : Decisions {
  void startup_octets_leave(const StartupFrame& frame, std::vector<std::byte>& octets) override {
    if (!frame.enhanced) return;
    std::swap(octets[enhanced_at], octets[enhanced_at + 1]);
    std::swap(octets[enhanced_at + 2], octets[enhanced_at + 3]);
  }
};

struct IrdAndOrdExchanged : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    if (frame.enhanced) std::swap(frame.enhanced->ird, frame.enhanced->ord);
  }
};

struct RtrFlagsWithoutFlagA : Decisions {
  void startup_frame_leaves(StartupFrame& frame) override {
    if (!frame.enhanced || frame.enhanced->peer_to_peer) return;
    frame.enhanced->rtr_send = frame.enhanced->rtr_write = frame.enhanced->rtr_read = true;
  }
};

// ---- frames that are received ----

/// The frame as if its key were right; only lengths and spans of `octets` leave this function.
ParsedStartup parse_with_any_key(MpaFrameKind kind, wire::Bytes octets) {
  if (octets.size() < wire::mpa_key_size) return std::unexpected(MpaFrameError::incomplete);
  std::vector<std::byte> patched = copy(octets);
  std::ranges::copy(wire::mpa_key(kind), patched.begin());
  auto parsed = wire::parse_mpa_frame(kind, patched);
  if (parsed)
    parsed->frame.private_data =
        octets.subspan(wire::mpa_frame_header_size, parsed->frame.private_data.size());
  return parsed;
}

/// The frame with everything after its header as Private Data.
ParsedStartup parse_with_any_length(MpaFrameKind kind, wire::Bytes octets) {
  return wire::ParsedMpaFrame{{kind,
                               {std::to_integer<std::uint8_t>(octets[flags_at])},
                               std::to_integer<std::uint8_t>(octets[revision_at]),
                               octets.subspan(wire::mpa_frame_header_size)},
                              octets.size()};
}

bool failed_with(const ParsedStartup& parsed, MpaFrameError error) {
  return !parsed && parsed.error() == error;
}

template <MpaFrameKind taken>
struct AcceptsWrongKey : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes octets, ParsedStartup& parsed) override {
    if (kind == taken && failed_with(parsed, MpaFrameError::wrong_key))
      parsed = parse_with_any_key(kind, octets);
  }
};

struct RequestTakenForReply : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes octets, ParsedStartup& parsed) override {
    if (kind == MpaFrameKind::reply && failed_with(parsed, MpaFrameError::wrong_key))
      parsed = wire::parse_mpa_frame(MpaFrameKind::request, octets);
  }
};

struct AcceptsOversizePrivateData : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes octets, ParsedStartup& parsed) override {
    if (failed_with(parsed, MpaFrameError::private_data_too_long))
      parsed = parse_with_any_length(kind, octets);
  }
};

struct RequestCutShortTaken : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes octets, ParsedStartup& parsed) override {
    if (kind == MpaFrameKind::request && failed_with(parsed, MpaFrameError::incomplete) &&
        octets.size() >= wire::mpa_frame_header_size)
      parsed = parse_with_any_length(kind, octets);
  }
};

struct RefusesPrivateDataOver256 : Decisions {
  void startup_parsed(MpaFrameKind, wire::Bytes, ParsedStartup& parsed) override {
    if (parsed && parsed->frame.private_data.size() > 256)
      parsed = std::unexpected(MpaFrameError::private_data_too_long);
  }
};

struct StartupFrameInPiecesRefused : Decisions {
  void startup_parsed(MpaFrameKind, wire::Bytes, ParsedStartup& parsed) override {
    if (failed_with(parsed, MpaFrameError::incomplete))
      parsed = std::unexpected(MpaFrameError::wrong_key);
  }
};

struct OctetsBehindStartupFrameLost : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes octets, ParsedStartup& parsed) override {
    if (kind == MpaFrameKind::reply && parsed) parsed->consumed = octets.size();
  }
};

struct InitiatorIgnoresRejection : Decisions {
  void startup_parsed(MpaFrameKind kind, wire::Bytes, ParsedStartup& parsed) override {
    if (kind == MpaFrameKind::reply && parsed)
      parsed->frame.flags.octet &= static_cast<std::uint8_t>(~MpaFlags::r);
  }
};

struct RefusesStartupReservedBits : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if ((check.frame.flags.octet & reserved_bits(check.frame.revision)) != 0) acceptable = false;
  }
};

struct RefusesReplyWithoutCrc : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.frame.kind == MpaFrameKind::reply && check.config.crc && !check.frame.flags.crc())
      acceptable = false;
  }
};

struct HeedsRBitOfRequest : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.frame.kind == MpaFrameKind::request && check.frame.flags.reject()) acceptable = false;
  }
};

struct RefusesRevisionOne : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.frame.kind == MpaFrameKind::request && check.frame.revision == 1) acceptable = false;
  }
};

struct AcceptsAnyRevision : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.startup.revision-checked") acceptable = true;
  }
};

struct RevisionOneTakesEnhancedRequest : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.startup.revision-checked" &&
        check.frame.kind == MpaFrameKind::request && check.frame.revision == 2)
      acceptable = true;
  }
};

struct AcceptsShortEnhancedData : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.enhanced.short-private-data-is-bad-frame") acceptable = true;
  }
};

struct PrivateDataTruncated : Decisions {
  void private_data_passed_up(const wire::MpaFrame&, std::vector<std::byte>& data) override {
    if (!data.empty()) data.pop_back();
  }
};

struct EnhancedDataShownToUlp : Decisions {
  void private_data_passed_up(const wire::MpaFrame& frame, std::vector<std::byte>& data) override {
    data = copy(frame.private_data);
  }
};

struct PlainDataOfRevisionTwoCut : Decisions {
  void private_data_passed_up(const wire::MpaFrame& frame, std::vector<std::byte>& data) override {
    if (frame.revision >= 2 && !frame.flags.enhanced() &&
        frame.private_data.size() >= sizeof(wire::EnhancedWords))
      data = copy(frame.private_data.subspan(sizeof(wire::EnhancedWords)));
  }
};

// ---- Markers and CRC, as both frames ask for them ----

template <bool sent>
struct Markers : Decisions {
  void framing_agreed(wire::MpaFlags, wire::MpaFlags, Negotiated& negotiated) override {
    negotiated.send_markers = sent;
  }
};

struct CrcOnlyIfBothAsk : Decisions {
  void framing_agreed(wire::MpaFlags ours, wire::MpaFlags peers, Negotiated& negotiated) override {
    negotiated.crc = ours.crc() && peers.crc();
  }
};

constexpr StreamRow rows[] = {
    stream_row<OctetsBeforeTheFirstFpdu>(Deviation::octets_before_the_first_fpdu),
    stream_row<KeyWrong<MpaFrameKind::request>>(Deviation::request_key_wrong),
    stream_row<KeyWrong<MpaFrameKind::reply>>(Deviation::reply_key_wrong),
    stream_row<StartupReservedBitsSet>(Deviation::startup_reserved_bits_set),
    stream_row<RequestRBitSet>(Deviation::request_r_bit_set),
    stream_row<AcceptsByR>(Deviation::accepts_by_r),
    stream_row<RejectsWithRClear>(Deviation::rejects_with_r_clear),
    stream_row<CrcNotRequestedByDefault>(Deviation::crc_not_requested_by_default),
    stream_row<RevisionZeroSent>(Deviation::revision_zero_sent),
    stream_row<PdLengthOneTooMany>(Deviation::pd_length_one_too_many),
    stream_row<PdLengthLittleEndian>(Deviation::pd_length_little_endian),
    stream_row<StartupFrameWithCrc>(Deviation::startup_frame_with_crc),
    stream_row<RevisionOneWithEnhancedData>(Deviation::revision_one_with_enhanced_data),
    stream_row<EnhancedDataMissing>(Deviation::enhanced_data_missing),
    stream_row<PdLengthWithoutEnhancedData>(Deviation::pd_length_without_enhanced_data),
    stream_row<EnhancedWordsLittleEndian>(Deviation::enhanced_words_little_endian),
    stream_row<IrdAndOrdExchanged>(Deviation::ird_and_ord_exchanged),
    stream_row<RtrFlagsWithoutFlagA>(Deviation::rtr_flags_without_flag_a),
    stream_row<AcceptsWrongKey<MpaFrameKind::request>>(Deviation::accepts_wrong_request_key),
    stream_row<AcceptsWrongKey<MpaFrameKind::reply>>(Deviation::accepts_wrong_reply_key),
    stream_row<RequestTakenForReply>(Deviation::request_taken_for_reply),
    stream_row<AcceptsOversizePrivateData>(Deviation::accepts_oversize_private_data),
    stream_row<RequestCutShortTaken>(Deviation::request_cut_short_taken),
    stream_row<RefusesPrivateDataOver256>(Deviation::refuses_private_data_over_256),
    stream_row<StartupFrameInPiecesRefused>(Deviation::startup_frame_in_pieces_refused),
    stream_row<OctetsBehindStartupFrameLost>(Deviation::octets_behind_startup_frame_lost),
    stream_row<InitiatorIgnoresRejection>(Deviation::initiator_ignores_rejection),
    stream_row<RefusesStartupReservedBits>(Deviation::refuses_startup_reserved_bits),
    stream_row<RefusesReplyWithoutCrc>(Deviation::refuses_reply_without_crc),
    stream_row<HeedsRBitOfRequest>(Deviation::heeds_r_bit_of_request),
    stream_row<RefusesRevisionOne>(Deviation::refuses_revision_one),
    stream_row<AcceptsAnyRevision>(Deviation::accepts_any_revision),
    stream_row<RevisionOneTakesEnhancedRequest>(Deviation::revision_one_takes_enhanced_request),
    stream_row<AcceptsShortEnhancedData>(Deviation::accepts_short_enhanced_data),
    stream_row<PrivateDataTruncated>(Deviation::private_data_truncated),
    stream_row<EnhancedDataShownToUlp>(Deviation::enhanced_data_shown_to_ulp),
    stream_row<PlainDataOfRevisionTwoCut>(Deviation::plain_data_of_revision_two_cut),
    stream_row<CrcOnlyIfBothAsk>(Deviation::crc_only_if_both_ask),
    stream_row<Markers<false>>(Deviation::markers_not_sent),
    stream_row<Markers<true>>(Deviation::markers_sent_unasked),
};

}  // namespace

std::span<const StreamRow> startup_frame_deviants() { return rows; }

}  // namespace rnic::deviants
